"""Hybrid queries in process at a number of passages, beside qdrant-client's local mode and a numpy scan.

python bench/retrieval.py build PASSAGES DATA_DIR      an index of the corpus's passages, varied, with made-up vectors
python bench/retrieval.py query DATA_DIR               the golden questions, embedding included; 50 at once; memory
python bench/retrieval.py local PASSAGES               the same passages in qdrant-client's local mode, and numpy
"""

import asyncio
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

import numpy as np
from measuring import BASE_URL, StubEmbedder, corpus, made_up, memory_now_mb, questions, spread

from citewell.embedding import BuiltinEmbedder
from citewell.index.edge import EdgeIndex
from citewell.models import Passage
from citewell.retrieval import Retriever

AT_ONCE = 50


async def _corpus_passages() -> list[Passage]:
    from citewell.ingest.folder import FolderSource
    from citewell.ingest.sources import PageRead
    from citewell.ingest.splitting import Limit, split

    limit = Limit(StubEmbedder().count_tokens, StubEmbedder.max_tokens)
    found: list[Passage] = []
    async for outcome in FolderSource(corpus(), BASE_URL).read({}):
        if isinstance(outcome, PageRead):
            found += split(outcome.page, limit)
    return found


def _passages(count: int) -> Iterator[Passage]:
    """The corpus over and over; each copy has words of its own."""
    base = asyncio.run(_corpus_passages())
    for number in range(count):
        copy, passage = number // len(base), base[number % len(base)]
        if copy:
            words = passage.text.split(" ")
            words[::7] = [f"{word}{copy}" for word in words[::7]]
            text = " ".join(words)
            name = str(uuid5(NAMESPACE_URL, f"{passage.id}-{copy}"))
            passage = replace(passage, id=name, text=text, url=f"{passage.url}-{copy}", content_hash=name)
        yield passage


async def _query(data: Path) -> dict[str, float]:
    index, embedder = EdgeIndex(data), BuiltinEmbedder()
    retriever = Retriever(index, embedder, remembered=0)
    asked = questions()
    await retriever.search(asked[0], score_threshold=0.0)
    times, embedding = [], []
    for question in asked * 3:
        start = time.perf_counter()
        found = await retriever.search(question, score_threshold=0.0)
        times.append((time.perf_counter() - start) * 1000)
        embedding.append(found.embedding_ms)
    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(AT_ONCE):
            group.create_task(retriever.search(asked[number % len(asked)], score_threshold=0.0))
    at_once = time.perf_counter() - start
    result = spread(times) | {
        "embedding_p50_ms": float(np.median(embedding)),
        "search_p50_ms": float(np.median(np.array(times) - embedding)),
        "at_once_50_s": at_once,
        "queries_per_s_at_50": AT_ONCE / at_once,
        "memory_mb": memory_now_mb(),
    }
    await index.aclose()
    return result


async def _local(count: int) -> dict[str, float]:
    from qdrant_client import QdrantClient, models

    from citewell.index.terms import Bm25Encoder, Terms

    passages = await asyncio.to_thread(lambda: list(_passages(count)))
    encoder = Bm25Encoder()
    vectors = np.stack([made_up(p.text) for p in passages])
    embedder = BuiltinEmbedder()
    asked = questions()
    rows = [await embedder.embed_query(question) for question in asked]
    scan = []
    for row in rows:
        start = time.perf_counter()
        scores = vectors @ row
        best = np.argpartition(-scores, 100)[:100]
        best[np.argsort(-scores[best])]
        scan.append((time.perf_counter() - start) * 1000)

    def sparse(terms: Terms) -> models.SparseVector:
        return models.SparseVector(indices=terms.ids, values=terms.weights)

    client = QdrantClient(":memory:")
    client.create_collection(
        "passages",
        vectors_config={"dense": models.VectorParams(size=384, distance=models.Distance.COSINE)},
        sparse_vectors_config={"bm25": models.SparseVectorParams(modifier=models.Modifier.IDF)},
    )
    start = time.perf_counter()
    for first in range(0, count, 1000):
        client.upsert(
            "passages",
            [
                models.PointStruct(
                    id=p.id,
                    vector={"dense": vectors[first + i].tolist(), "bm25": sparse(encoder.of_passage(p.embedded_text))},
                )
                for i, p in enumerate(passages[first : first + 1000])
            ],
        )
    loaded = time.perf_counter() - start
    local = []
    for question, row in list(zip(asked, rows, strict=True))[: 20 if count <= 10_000 else 5]:
        start = time.perf_counter()
        client.query_points(
            "passages",
            prefetch=[
                models.Prefetch(query=row.tolist(), using="dense", limit=100),
                models.Prefetch(query=sparse(encoder.of_query(question)), using="bm25", limit=100),
            ],
            query=models.FusionQuery(fusion=models.Fusion.RRF),
            limit=5,
        )
        local.append((time.perf_counter() - start) * 1000)
    return spread(local, "local_") | spread(scan, "numpy_") | {"local_load_s": loaded}


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["query", data]:
            print(json.dumps(asyncio.run(_query(Path(data)))))
        case ["local", count]:
            print(json.dumps(asyncio.run(_local(int(count)))))
        case _:
            sys.exit(__doc__)
