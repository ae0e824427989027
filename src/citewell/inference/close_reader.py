"""The close reader: a cross-encoder in which a question and a passage see each other in every layer.

It knows better than the reading model whether a passage answers, and where; it costs a run over the passage for each
question. One pair runs at a time: in 8 bits the scale of a batch would depend on everything in it.
"""

import asyncio
import os
import threading
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from citewell.errors import ModelError
from citewell.inference.model_files import ASSETS, checksum, open_session, open_tokenizer, verified
from citewell.inference.reading_model import Asked

if TYPE_CHECKING:
    import onnxruntime

    from citewell.wordpieces import WordPieces

_QUESTION, _END = 101, 102
_LONGEST_PASSAGE: Final = 256
_LONGEST_QUESTION: Final = 64
_UNREAD: Final = -20.0
"""Of a unit that lies behind the place where reading stopped."""


class CloseReader:
    """Loads when first used or by `warm`; safe to share. Runs off the event loop, a thread for each core."""

    def __init__(self, assets: Path = ASSETS / "close", *, threads: int | None = None) -> None:
        self._assets = assets
        self._threads = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="close")
        self._loading = threading.Lock()
        self._parts: tuple[onnxruntime.InferenceSession, WordPieces] | None = None
        self.name = f"close-{checksum(assets, 'model.onnx')[:12]}"
        """Which model this is: the same name gives the same scores on machines of one kind."""

    async def warm(self) -> None:
        await asyncio.get_running_loop().run_in_executor(self._threads, self._loaded)

    async def read(
        self, question: str, texts: Sequence[str], units: Sequence[Sequence[tuple[int, int]]] = ()
    ) -> list[Asked]:
        """Logits for each text and its units (`text[start:end]`)."""
        run = asyncio.get_running_loop().run_in_executor
        asked = zip(texts, units or [()] * len(texts), strict=True)
        return list(await asyncio.gather(*(run(self._threads, partial(self._read, question, *one)) for one in asked)))

    async def aclose(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)

    def _loaded(self) -> "tuple[onnxruntime.InferenceSession, WordPieces]":
        with self._loading:
            if self._parts is None:
                session = open_session(verified(self._assets, "model.onnx"))
                self._parts = session, open_tokenizer(ASSETS / "embedder")
            return self._parts

    def _read(self, question: str, text: str, units: Sequence[tuple[int, int]]) -> Asked:
        session, tokenizer = self._loaded()
        head = [_QUESTION, *tokenizer.ids(question)[:_LONGEST_QUESTION], _END]
        tokens = tokenizer.pieces(text)
        ids = [*head, *tokens.ids[:_LONGEST_PASSAGE], _END]
        starts = np.array([start for start, _ in tokens.spans[:_LONGEST_PASSAGE]], np.int64)
        shares = np.zeros((len(units), len(ids)), np.float32)
        for number, (start, end) in enumerate(units):
            shares[number, len(head) : len(ids) - 1] = (starts >= start) & (starts < end)
        sizes = shares.sum(1)
        shares /= np.maximum(sizes, 1)[:, None]
        kinds = np.array([[int(place >= len(head)) for place in range(len(ids))]], np.int64)
        try:
            answers, seen = session.run(None, {"ids": np.array([ids], np.int64), "kinds": kinds, "shares": shares})
        except RuntimeError as error:
            raise ModelError("The built-in close reader could not run.") from error
        return Asked(float(answers[0]), tuple(np.where(sizes > 0, seen, _UNREAD).tolist()))
