"""Ingest without embedding, before against after: the first version and this one over the same books, in one run.

    python bench/before.py FOLDER... [--commit 2e5bf3a] [--rounds 2]

The commit is checked out into a temporary worktree and run by the same interpreter. CPU seconds of the process and its
children, because a wall clock measures the neighbours too; of the rounds, which take turns, the least counts.
"""

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

FIRST = "2e5bf3a"
REPO = Path(__file__).resolve().parents[1]
Figures = dict[str, float]


def cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


async def measured(folder: str, data: Path) -> Figures:
    """In a process whose `citewell` and `measuring` are those of one of the two versions."""
    from measuring import StubEmbedder, peak_memory_mb

    from citewell.index.edge import EdgeWriter
    from citewell.ingest import IngestOptions, ingest, source_of

    embedder = StubEmbedder()
    embedder.count_tokens("load the tokenizer")
    options = IngestOptions(base_url="https://book.example", state_dir=data)
    writer = EdgeWriter(data / "index")
    start = cpu_seconds()
    report = await ingest(source_of(folder, options), writer, embedder, options, lambda _: None)
    took = cpu_seconds() - start
    await writer.aclose()
    return {"pages": report.statistics.urls_successful, "cpu_s": took, "mb": peak_memory_mb()}


def run(version: Path, folder: Path) -> Figures:
    code = (
        f"import sys; sys.path[:0] = [{str(version / 'src')!r}, {str(version / 'bench')!r}]; sys.argv[1:] = []\n"
        f"sys.path.append({str(REPO / 'bench')!r}); import asyncio, json, pathlib, before\n"
        f"print(json.dumps(asyncio.run(before.measured({str(folder)!r}, pathlib.Path.cwd()))))"
    )
    with tempfile.TemporaryDirectory() as data:
        ran = subprocess.run([sys.executable, "-W", "ignore", "-c", code], cwd=data, capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{version} over {folder} failed:\n{ran.stderr[-3000:]}")
    found: Figures = json.loads(ran.stdout.strip().splitlines()[-1])
    return found


@contextmanager
def worktree(commit: str) -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as parent:
        place = Path(parent) / "before"
        git = ["git", "-C", str(REPO), "worktree"]
        subprocess.run([*git, "add", "--detach", str(place), commit], check=True, capture_output=True)
        try:
            yield place
        finally:
            subprocess.run([*git, "remove", "--force", str(place)], check=True, capture_output=True)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("folders", type=Path, nargs="+")
    arguments.add_argument("--commit", default=FIRST)
    arguments.add_argument("--rounds", type=int, default=2)
    given = arguments.parse_args()
    print("| book | pages | CPU before, s | after, s | ratio | memory before, MB | after, MB | ratio |")
    print("|---|---:|---:|---:|---:|---:|---:|---:|")
    with worktree(given.commit) as before:
        for folder in given.folders:
            rounds = [(run(before, folder.resolve()), run(REPO, folder.resolve())) for _ in range(given.rounds)]
            old, new = ({key: min(one[i][key] for one in rounds) for key in rounds[0][i]} for i in (0, 1))
            cells = [folder.name, f"{new['pages']:.0f}"]
            for key, form in (("cpu_s", ".2f"), ("mb", ".0f")):
                cells += [format(old[key], form), format(new[key], form), f"{new[key] / old[key]:.2f}"]
            print("| " + " | ".join(cells) + " |", flush=True)


if __name__ == "__main__":
    main()
