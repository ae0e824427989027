"""Hybrid queries in process at a number of passages, beside qdrant-client's local mode and a numpy scan.

python bench/retrieval.py query INDEX      the golden questions, embedding included; 50 at once; memory
python bench/retrieval.py local INDEX      the same passages and vectors in qdrant-client's local mode, and in numpy
"""

import asyncio
import json
import sys
import time
from pathlib import Path

import numpy as np
from measuring import memory_now_mb, questions, spread

from citewell.embedding import BuiltinEmbedder
from citewell.index.edge import EdgeIndex
from citewell.index.edge_folder import current_id
from citewell.index.edge_shard import OpenGeneration, dense_of
from citewell.index.payload import passage_of
from citewell.retrieval import Retriever

AT_ONCE = 50


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


async def _local(index: Path) -> dict[str, float]:
    from qdrant_client import QdrantClient, models

    from citewell.index.terms import Bm25Encoder, Terms

    opened = OpenGeneration.load(index / "generations" / current_id(index))
    records = [(str(r.id), passage_of(str(r.id), r.payload or {}), dense_of(r)) for r in opened.scroll(vectors=True)]
    count, encoder = len(records), Bm25Encoder()
    vectors = np.stack([vector for _, _, vector in records])
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
                    id=name,
                    vector={"dense": vector.tolist(), "bm25": sparse(encoder.of_passage(passage.embedded_text))},
                )
                for name, passage, vector in records[first : first + 1000]
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
        case ["local", data]:
            print(json.dumps(asyncio.run(_local(Path(data)))))
        case _:
            sys.exit(__doc__)
