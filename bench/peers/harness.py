"""What is measured of each peer, in the same way. A peer's `run.py` gives two functions: ingest and load.

ingest  FOLDER STORE GOLDEN            reads, splits, embeds, saves; then asks the golden questions
        [--stub] [--kept FILE]         made-up vectors, or vectors kept from the run before
first   STORE QUESTION                 loads what was saved and answers one question: the caller times the process

Prints one JSON object. Heavy imports belong inside the peer's functions' module, where its quickstart has them.
"""

import argparse
import json
import re
import resource
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from shared_embedding import SharedEmbedding

BASE = "https://docusaurus.io/docs"
Search = Callable[[str], list[str]]
"""A question to the files, or addresses, of its five best passages."""
Ingest = Callable[[Path, Path, SharedEmbedding], tuple[Search, int]]
Load = Callable[[Path, SharedEmbedding], Search]


def main(ingest: Ingest, load: Load) -> None:
    arguments = argparse.ArgumentParser()
    commands = arguments.add_subparsers(dest="command", required=True)
    one = commands.add_parser("ingest")
    one.add_argument("folder", type=Path)
    one.add_argument("store", type=Path)
    one.add_argument("golden", type=Path)
    one.add_argument("--stub", action="store_true")
    one.add_argument("--kept", type=Path)
    two = commands.add_parser("first")
    two.add_argument("store", type=Path)
    two.add_argument("question")
    given = arguments.parse_args()
    if given.command == "first":
        found = load(given.store, SharedEmbedding())(given.question)
        print(json.dumps({"found": len(found)}))
        return
    embedding = SharedEmbedding(stub=given.stub, kept=given.kept)
    print(json.dumps(_measured(ingest, given.folder.resolve(), given.store, given.golden, embedding)))


def _measured(ingest: Ingest, folder: Path, store: Path, golden: Path, embedding: SharedEmbedding) -> dict[str, float]:
    embedding.tokens("load the tokenizer")
    start, worked = time.perf_counter(), time.process_time()
    search, passages = ingest(folder, store, embedding)
    ingest_s, cpu_s, embedding_s = time.perf_counter() - start, time.process_time() - worked, embedding.seconds
    embedding.keep()
    questions = [json.loads(line) for line in golden.read_text().splitlines()]
    search(questions[0]["question"])  # the first query of a process pays for what is made lazily
    times, shares, hits = [], [], 0
    for item in questions:
        embedding.seconds = 0.0
        start = time.perf_counter()
        found = search(item["question"])
        times.append((time.perf_counter() - start) * 1000)
        shares.append(embedding.seconds * 1000)
        hits += any(route(place, folder) in item["urls"] for place in found)
    return {
        "passages": passages,
        "ingest_s": ingest_s,
        "ingest_cpu_s": cpu_s,
        "embedding_s": embedding_s,
        "ingest_without_embedding_s": ingest_s - embedding_s,
        "query_p50_ms": statistics.median(times),
        "query_p95_ms": statistics.quantiles(times, n=20)[-1],
        "query_without_embedding_p50_ms": statistics.median(t - s for t, s in zip(times, shares, strict=True)),
        "hit_at_5": hits / len(questions),
        "peak_memory_mb": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }


def route(place: str, folder: Path) -> str:
    """The URL that Docusaurus gives the file; an address stays as it is."""
    if place.startswith(("http://", "https://")):
        return place
    path = Path(place)
    text = path.read_text(encoding="utf-8")
    front = text.split("---", 2)[1] if text.startswith("---") else ""
    if slug := re.search(r"^slug: *(\S+)", front, re.MULTILINE):
        return BASE + slug.group(1).rstrip("/")
    name = path.resolve().relative_to(folder).with_suffix("").as_posix()
    return f"{BASE}/{re.sub(r'/?(index|README)$', '', name)}"
