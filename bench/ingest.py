"""Ingest of a folder in a process of its own: pages and passages per second, share not spent embedding, memory.

python bench/ingest.py FOLDER DATA_DIR [--stub | --remember] [--once]
"""

import argparse
import asyncio
import json
import time
from pathlib import Path

from measuring import BASE_URL, MODEL, OUT, RememberingEmbedder, StubEmbedder, TimedEmbedder, peak_memory_mb

from citewell.index.edge import EdgeWriter
from citewell.ingest import IngestOptions, Progress, ingest, source_of


async def measured(folder: Path, data: Path, kind: str, rounds: int) -> dict[str, float]:
    embedder = {"stub": StubEmbedder, "timed": TimedEmbedder}.get(
        kind, lambda: RememberingEmbedder(OUT / f"vectors-{MODEL}.npz")
    )()
    options = IngestOptions(base_url=BASE_URL, state_dir=data)
    writer = EdgeWriter(data / "index")
    embedder.count_tokens("load the tokenizer")
    if kind == "timed":
        await embedder.embed_query("load the model")

    def silent(_: Progress) -> None:
        pass

    runs = []
    for _ in range(rounds):
        start = time.perf_counter()
        report = await ingest(source_of(str(folder), options), writer, embedder, options, silent)
        runs.append(time.perf_counter() - start)
    if isinstance(embedder, RememberingEmbedder):
        embedder.keep()
    await writer.aclose()
    pages, passages, took = report.statistics.urls_successful, report.statistics.chunks_created, runs[0]
    found = {
        "pages": pages,
        "passages": passages,
        "failures": len(report.failures),
        "total_s": took,
        "pages_per_s": pages / took,
        "passages_per_s": passages / took,
        "peak_memory_mb": peak_memory_mb(),
    }
    if rounds > 1:
        found |= {"again_s": runs[-1], "again_share": runs[-1] / took}
    if isinstance(embedder, TimedEmbedder):
        found |= {"embedding_s": embedder.seconds, "share_not_embedding": 1 - embedder.seconds / took}
    return found


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("data", type=Path)
    arguments.add_argument("--stub", dest="kind", action="store_const", const="stub", default="timed")
    arguments.add_argument("--remember", dest="kind", action="store_const", const="remember")
    arguments.add_argument("--once", action="store_true", help="leave out the second run, which has nothing to do")
    given = arguments.parse_args()
    print(json.dumps(asyncio.run(measured(given.folder, given.data, given.kind, 1 if given.once else 2))))
