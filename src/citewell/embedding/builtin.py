"""The built-in embedder: gte-small in 8 bits. Its files are opened when first needed; naming it costs nothing."""

import asyncio
import os
import re
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np

from citewell.embedding.rows import in_slices, unit_rows
from citewell.errors import EmbeddingError
from citewell.inference.files import ASSETS as ALL_ASSETS
from citewell.inference.files import open_session, open_tokenizer, verified
from citewell.models import Vector

if TYPE_CHECKING:
    import onnxruntime
    from tokenizers import Tokenizer

ASSETS: Final = ALL_ASSETS / "embedder"
_POSITIONS: Final = 512
_CLS, _SEP = 101, 102
_ALPHANUMERIC: Final = re.compile(r"[A-Za-z0-9]+")
_SPECIAL: Final = re.compile(r"\[(?:PAD|UNK|CLS|SEP|MASK)\]")
"""One token each, whatever stands around it."""
_REMEMBERED: Final = 2**15
_KEPT_LENGTH: Final = 64
"""Longer runs are data, not words, and would fill the memory."""
_SLICE: Final = 8
"""Texts that a thread takes at a time: enough to make the hand-over cheap, few enough to stop soon."""


class _Remembered(dict[str, int]):
    """What `count` says of each word. Read as a dictionary, because ingestion looks up some hundred words a passage."""

    def __init__(self, count: Callable[[str], int]) -> None:
        super().__init__()
        self._count = count

    def __missing__(self, word: str) -> int:
        counted = self._count(word)
        if len(word) <= _KEPT_LENGTH:
            if len(self) >= _REMEMBERED:
                self.clear()
            self[word] = counted
        return counted


class BuiltinTokenizer:
    """Text into the numbers of word pieces. Loads when first used; safe to share between threads."""

    def __init__(self, assets: Path = ASSETS) -> None:
        self._assets = assets
        self._loading = threading.Lock()
        self._tokenizer: Tokenizer | None = None
        self._parts = _Remembered(lambda part: len(self.encode(part)))
        self._words = _Remembered(self._count_word)

    def count(self, text: str) -> int:
        """As many as `encode` gives. No word piece reaches over a blank, and most words were counted before."""
        # Not at every blank that Python knows: the tokenizer removes some of them, and what they part becomes one word.
        words = text.replace("\n", " ").replace("\t", " ").replace("\r", " ").split(" ")
        return sum(map(self._words.__getitem__, words))

    def _count_word(self, word: str) -> int:
        if not (word.isascii() and word.isprintable()) or _SPECIAL.search(word):
            return len(self.encode(word))
        # Each mark of ASCII is a token by itself, and parts the word.
        parts = _ALPHANUMERIC.findall(word)
        return sum(map(self._parts.__getitem__, parts)) + len(word) - sum(map(len, parts))

    def encode(self, text: str) -> list[int]:
        # A lone surrogate is no text for the tokenizer.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        ids: list[int] = self._loaded().encode(clean, add_special_tokens=False).ids
        return ids

    def _loaded(self) -> "Tokenizer":
        with self._loading:
            if self._tokenizer is None:
                self._tokenizer = open_tokenizer(self._assets)
            return self._tokenizer


class BuiltinEmbedder:
    """Runs each text by itself: a vector depends on its text alone, and nothing is spent on padding.

    A run takes one core; passages are spread over `threads`. onnxruntime leaves the interpreter free meanwhile.
    """

    name: Final = "gte-small-int8"
    dimensions: Final = 384
    max_tokens: Final = 256

    def __init__(self, assets: Path = ASSETS, *, threads: int | None = None) -> None:
        self._assets = assets
        self._threads = threads or os.cpu_count() or 1
        self._tokenizer = BuiltinTokenizer(assets)
        self._loading = threading.Lock()
        self._session: onnxruntime.InferenceSession | None = None

    def count_tokens(self, text: str) -> int:
        """Tokens of the text itself, without the two that frame it."""
        return self._tokenizer.count(text)

    async def embed_query(self, text: str) -> Vector:
        row: Vector = (await self._embed_in_thread([text]))[0]
        return row

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        return await in_slices(
            texts, self._embed_in_thread, dimensions=self.dimensions, size=_SLICE, at_once=self._threads
        )

    async def ping(self) -> None:
        """It is in process; a broken file shows when it is loaded."""

    async def aclose(self) -> None:
        self._session = None

    async def _embed_in_thread(self, texts: Sequence[str]) -> Vector:
        return await asyncio.to_thread(self._embed, texts)

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
