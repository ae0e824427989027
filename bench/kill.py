"""100 kills: `citewell ingest` is killed at random moments; after each, the index answers as before or as after.

    python bench/kill.py [--kills 100] [--seed 1]

Two editions of a small book are ingested in turn, each into what the kill before it left behind. After every kill
the questions are asked of the index: every answer must come from one edition, and the index must be sound. Runs that
end before they are killed do not count.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import OUT, REPO, tell

from citewell.embedding import BuiltinEmbedder
from citewell.index.edge import EdgeIndex, EdgeWriter
from citewell.retrieval import Retriever

PAGES = 12
QUESTIONS = ("How far does the arm of robot 3 reach?", "What does robot 7 weigh?", "Which battery has robot 11?")
EMBEDDER = BuiltinEmbedder()


def write_edition(folder: Path, edition: int) -> None:
    folder.mkdir(parents=True)
    for page in range(PAGES):
        (folder / f"robot-{page}.md").write_text(
            f"# Robot {page}\n\n## Arm\n\nThe arm of robot {page} reaches {edition * 100 + page} millimetres.\n\n"
            f"## Weight\n\nRobot {page} weighs {edition * 10 + page} kilograms in edition {edition}.\n\n"
            f"## Battery\n\nRobot {page} has battery number {edition}{page:03d}.\n",
            "utf-8",
        )


def ingest(folder: Path, data: Path) -> subprocess.Popen[bytes]:
    environment = os.environ | {"CITEWELL_DATA_DIR": str(data), "PYTHONPATH": str(REPO / "src")}
    command = [sys.executable, "-m", "citewell", "ingest", str(folder), "--base-url", "https://book.example.com"]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def whole(folder: Path, data: Path) -> float:
    start = time.perf_counter()
    process = ingest(folder, data)
    if process.wait():
        sys.exit(f"A whole ingest of {folder.name} failed with status {process.returncode}.")
    return time.perf_counter() - start


def killed(folder: Path, data: Path, after: float) -> bool:
    """Whether it was still running by then."""
    process = ingest(folder, data)
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=after)
    alive = process.poll() is None
    process.kill()
    process.wait()
    return alive


def answers(data: Path) -> str:
    """What the index says: every passage in order, what the questions find, and whether the index is sound."""

    async def run() -> str:
        index = EdgeIndex(data / "index")
        retriever = Retriever(index, EMBEDDER)
        found = [[s.passage.text for s in (await retriever.search(q)).passages] for q in QUESTIONS]
        texts = [p.text for entry in await index.pages() for p in await index.passages_of(entry.url)]
        integrity = await EdgeWriter(data / "index").integrity()
        await index.aclose()
        return json.dumps([found, texts, integrity.sound])

    return asyncio.run(run())


def main(kills: int, seed: int) -> dict[str, float]:
    chance = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        root, data = Path(name), Path(name) / "data"
        for edition in (1, 2):
            write_edition(root / f"edition-{edition}", edition)
        whole(root / "edition-1", data)
        states = {1: answers(data)}
        took = whole(root / "edition-2", data)
        states[2] = answers(data)
        counts = {"killed": 0, "finished": 0, "before": 0, "after": 0, "left_a_draft": 0}
        current = 2
        while counts["killed"] < kills:
            number = counts["killed"] + counts["finished"]
            other = 3 - current
            alive = killed(root / f"edition-{other}", data, chance.uniform(took * 0.2, took * 1.05))
            counts["killed" if alive else "finished"] += 1
            took *= 1.05 if alive else 0.8  # the load of the machine changes: follow it
            counts["left_a_draft"] += any((data / "index" / "drafts").glob("*"))
            seen = answers(data)
            if seen == states[current]:
                counts["before"] += 1
            elif seen == states[other]:
                counts["after"] += 1
                current = other
            else:
                shutil.copytree(data, OUT / f"broken-{number}", dirs_exist_ok=True)
                sys.exit(f"Run {number}: the index is neither as before nor as after.")
            if number % 10 == 9:
                tell(f"{number + 1} runs: {counts}")
        whole(root / "edition-1", data)
        return counts | {"in_between": 0, "serves_after_all": float(answers(data) == states[1])}


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--kills", type=int, default=100)
    arguments.add_argument("--seed", type=int, default=1)
    given = arguments.parse_args()
    print(json.dumps(main(given.kills, given.seed)))
