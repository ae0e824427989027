"""The built-in embedder: gte-small in 8 bits. Its files are opened when first needed; naming it costs nothing."""

import asyncio
import os
import threading
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from citewell.embedding.vectors import in_slices, unit_rows
from citewell.errors import EmbeddingError
from citewell.inference.model_files import ASSETS as ALL_ASSETS
from citewell.inference.model_files import open_session, open_tokenizer, verified
from citewell.values import Vector
from citewell.wordpieces import WordPieces

if TYPE_CHECKING:
    import onnxruntime

ASSETS: Final = ALL_ASSETS / "embedder"
_POSITIONS: Final = 512
_CLS, _SEP = 101, 102
_SLICE: Final = 8
"""Texts that a thread takes at a time: enough to make the hand-over cheap, few enough to stop soon."""


class BuiltinTokenizer:
    """Text into the numbers of word pieces. Loads when first used; safe to share between threads."""

    def __init__(self, assets: Path = ASSETS) -> None:
        self._assets = assets
        self._loading = threading.Lock()
        self._pieces: WordPieces | None = None

    def count(self, text: str) -> int:
        return self._loaded().count(text)

    def encode(self, text: str) -> list[int]:
        return self._loaded().ids(text)

    def _loaded(self) -> WordPieces:
        with self._loading:
            if self._pieces is None:
                self._pieces = open_tokenizer(self._assets)
            return self._pieces


class BuiltinEmbedder:
    """Runs each text by itself: a vector depends on its text alone, and nothing is spent on padding.

    A run takes one core; texts are spread over `threads`, and who asks for what is being made waits for that. A batch
    would take three quarters of the time and give other vectors: docs/decisions/0002-embedder.md.
    """

    name: Final = "gte-small-int8"
    dimensions: Final = 384
    max_tokens: Final = 256

    def __init__(self, assets: Path = ASSETS, *, threads: int | None = None) -> None:
        self._assets = assets
        self._threads = threads or os.cpu_count() or 1
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="embedding")
        self._asked: dict[str, Future[Vector]] = {}
        """Queries that are being embedded."""
        self._tokenizer = BuiltinTokenizer(assets)
        self._loading = threading.Lock()
        self._session: onnxruntime.InferenceSession | None = None

    def count_tokens(self, text: str) -> int:
        """Tokens of the text itself, without the two that frame it."""
        return self._tokenizer.count(text)

    async def embed_query(self, text: str) -> Vector:
        future = self._asked.get(text)
        if future is None:
            future = self._asked[text] = self._pool.submit(self._embed, [text])
            future.add_done_callback(lambda _: self._asked.pop(text, None))
        # Shielded: others may wait for the same text, and a reader who leaves must not take it from them.
        row: Vector = (await asyncio.shield(asyncio.wrap_future(future)))[0]
        return row

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        return await in_slices(
            texts, self._embed_in_thread, dimensions=self.dimensions, size=_SLICE, at_once=self._threads
        )

    async def ping(self) -> None:
        """It is in process; a broken file shows when it is loaded."""

    async def aclose(self) -> None:
        self._pool.shutdown(wait=False, cancel_futures=True)
        self._pool = ThreadPoolExecutor(self._threads, thread_name_prefix="embedding")
        self._session = None

    async def _embed_in_thread(self, texts: Sequence[str]) -> Vector:
        return await asyncio.get_running_loop().run_in_executor(self._pool, self._embed, texts)

    def _embed(self, texts: Sequence[str]) -> Vector:
        session = self._loaded()
        rows = [_run(session, self._tokenizer.encode(text)) for text in texts]
        return unit_rows(np.concatenate(rows), source=self.name)

    def _loaded(self) -> "onnxruntime.InferenceSession":
        with self._loading:
            if self._session is None:
                self._session = open_session(verified(self._assets, "model.onnx"))
            return self._session


def _run(session: "onnxruntime.InferenceSession", tokens: Sequence[int]) -> Vector:
    ids = np.array([[_CLS, *tokens[: _POSITIONS - 2], _SEP]], dtype=np.int64)
    try:
        (row,) = session.run(None, {"input_ids": ids})
    except RuntimeError as error:
        raise EmbeddingError("The built-in embedding model could not run.") from error
    made: Vector = row
    return made
