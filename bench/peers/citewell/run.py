"""Citewell, measured by the same harness and with the same embedding class as the others."""

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

import numpy as np
from harness import BASE, Search, main
from shared_embedding import SharedEmbedding

from citewell.embedding import BuiltinEmbedder
from citewell.index.edge import EdgeIndex, EdgeWriter
from citewell.retrieval import Retriever
from citewell.values import Vector

OWN = BuiltinEmbedder()


class Embedding:
    """The shared vectors; sizes are measured in Citewell's own way, as each of the others measures in its own."""

    name, dimensions, max_tokens = OWN.name, OWN.dimensions, OWN.max_tokens

    def __init__(self, shared: SharedEmbedding) -> None:
        self._shared = shared
        self.count_tokens = OWN.count_tokens

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        return np.array(self._shared.passages(list(texts)), dtype=np.float32)

    async def embed_query(self, text: str) -> Vector:
        return np.array(self._shared.query(text), dtype=np.float32)

    async def ping(self) -> None: ...

    async def aclose(self) -> None: ...


def ingest(folder: Path, store: Path, shared: SharedEmbedding) -> tuple[Search, int]:
    from citewell.ingest import IngestOptions, source_of
    from citewell.ingest import ingest as run

    options = IngestOptions(base_url=BASE)
    writer = EdgeWriter(store)
    report = asyncio.run(run(source_of(str(folder), options), writer, Embedding(shared), options, lambda step: None))
    return load(store, shared), report.statistics.chunks_created


def load(store: Path, shared: SharedEmbedding) -> Search:
    retriever, runner = Retriever(EdgeIndex(store), Embedding(shared), remembered=0), asyncio.Runner()
    # Made-up vectors are near to nothing: the usual threshold would leave out all, and the rest of the work with it.
    threshold = 0.0 if shared.stub else None

    def search(question: str) -> list[str]:
        found = runner.run(retriever.search(question, top_k=5, score_threshold=threshold))
        return [hit.passage.url for hit in found.passages]

    return search


if __name__ == "__main__":
    if sys.argv[1:2] == ["ingest"]:
        # The others import all at the top. Here `first` starts as a server does, which reads no books.
        import citewell.ingest  # noqa: F401

        OWN.count_tokens("load the tokenizer")  # as the harness does with the shared one
    main(ingest, load)
