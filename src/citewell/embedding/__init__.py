"""Embedders: texts into vectors. The seam, and the query cache, a memory of queries that fits every implementation.

`builtin` runs in process; `hosted_embedders` speaks to providers over HTTP.
"""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from citewell.embedding.builtin import BuiltinEmbedder
from citewell.values import Vector

__all__ = ["BuiltinEmbedder", "Embedder", "RememberedQueries"]


class Embedder(Protocol):
    """Vectors are finite, of length one, and float32."""

    @property
    def name(self) -> str:
        """What the index remembers, for example `gte-small-int8`; another name means another vector space."""
        ...

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """The largest passage that is embedded whole."""
        ...

    def count_tokens(self, text: str) -> int: ...

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        """One row for each text. Raises EmbeddingError."""
        ...

    async def embed_query(self, text: str) -> Vector:
        """One row. Raises EmbeddingError."""
        ...

    async def ping(self) -> None:
        """Look whether the embedder answers, by a call that costs nothing. Raises EmbeddingError."""
        ...

    async def aclose(self) -> None: ...


class RememberedQueries:
    """An embedder that remembers the vectors of the queries asked last. Failures are not remembered."""

    def __init__(self, embedder: Embedder, *, size: int = 1024) -> None:
        self._embedder = embedder
        self._size = size
        self._vectors: OrderedDict[str, Vector] = OrderedDict()
        self.name = embedder.name
        self.dimensions = embedder.dimensions
        self.max_tokens = embedder.max_tokens

    def count_tokens(self, text: str) -> int:
        return self._embedder.count_tokens(text)

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        return await self._embedder.embed_passages(texts)

    async def embed_query(self, text: str) -> Vector:
        if (vector := self._vectors.get(text)) is not None:
            self._vectors.move_to_end(text)
            return vector
        vector = await self._embedder.embed_query(text)
        vector.setflags(write=False)  # it is handed out again
        self._vectors[text] = vector
        self._vectors.move_to_end(text)
        while len(self._vectors) > self._size:
            self._vectors.popitem(last=False)
        return vector

    async def ping(self) -> None:
        await self._embedder.ping()

    async def aclose(self) -> None:
        self._vectors.clear()
        await self._embedder.aclose()
