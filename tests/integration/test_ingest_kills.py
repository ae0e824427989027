"""`citewell ingest` killed on its way, at moments spread over a whole run: the index is as before or as after."""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from citewell.index.edge import EdgeIndex, EdgeWriter
from citewell.values import Vector

pytestmark = pytest.mark.slow

QUERY: Vector = np.full(384, 384**-0.5, dtype=np.float32)
Answers = tuple[list[tuple[str, float]], list[str]]


def write_edition(folder: Path, edition: int) -> Path:
    folder.mkdir()
    for page in range(3):
        arm, mass = f"The arm reaches {edition}{page}0 mm.", f"It weighs {edition}{page} kg."
        text = f"# Robot {page}\n\n## Arm\n\n{arm}\n\n## Mass\n\n{mass}\n"
        (folder / f"robot-{page}.md").write_text(text, "utf-8")
    return folder


def start(book: Path, data: Path) -> "subprocess.Popen[bytes]":
    env = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "PYTHONPATH")} | {
        "CITEWELL_DATA_DIR": str(data)
    }
    command = [sys.executable, "-m", "citewell", "ingest", str(book), "--base-url", "https://book.example"]
    return subprocess.Popen(command, env=env, cwd=book.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def run_whole(book: Path, data: Path) -> float:
    began = time.monotonic()
    assert start(book, data).wait() == 0
    return time.monotonic() - began


def run_and_kill(book: Path, data: Path, after: float) -> None:
    run = start(book, data)
    with contextlib.suppress(subprocess.TimeoutExpired):
        run.wait(timeout=after)
    run.kill()
    run.wait()


async def answers(data: Path) -> Answers:
    index = EdgeIndex(data / "index")
    hits = await index.candidates("how far does the arm reach", QUERY, limit=10, filters={})
    passages = [p.text for page in await index.pages() for p in await index.passages_of(page.url)]
    assert (await EdgeWriter(data / "index").integrity()).sound
    await index.aclose()
    return sorted((hit.passage.text, hit.bm25) for hit in hits), passages


@pytest.mark.timeout(7200)
@pytest.mark.fault("ingest killed", "the index as before or as after")
@pytest.mark.parametrize("kills", [6, pytest.param(100, marks=pytest.mark.unbounded)])
async def test_an_ingest_killed_at_any_moment_leaves_the_index_as_before_or_as_after(
    kills: int, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    data = tmp_path / "data"
    books = [write_edition(tmp_path / f"edition-{edition}", edition) for edition in (1, 2)]
    run_whole(books[0], data)
    known = [await answers(data)]
    took = run_whole(books[1], data)
    known.append(await answers(data))
    assert known[0] != known[1]
    serving, whole = 1, 0
    for kill in range(kills):
        before = serving
        run_and_kill(books[1 - serving], data, took * (0.3 + 0.75 * kill / kills))
        now = await answers(data)
        assert now in known
        serving = known.index(now)
        whole += serving != before
    record_property("figure", f"{kills} kills: {kills - whole} as before, {whole} as after, none between")
    run_whole(books[1 - serving], data)
    assert await answers(data) == known[1 - serving]
