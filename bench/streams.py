"""A thousand streams with different questions, opened at once and answered at the pace that the machine allows.

python bench/streams.py DATA_DIR [STREAMS] [WORKERS]

Whoever is told that all slots are taken comes back as told. Each worker watches its own event loop: how long it did
not come round by the clock, which on a busy machine is mostly waiting for a core, and how much CPU it spent meanwhile,
which is what held it up itself. The load of the machine is told beside the figures.
"""

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
from api import LIMITS, free_port, wait_for
from http_client import Connection
from measuring import REPO, questions

if TYPE_CHECKING:
    from fastapi import FastAPI

    from citewell.settings import Settings

SLOTS = os.environ.get("SLOTS", "10")
TICK = 0.005


def watched_app(settings: "Settings", workers: int, folder: str) -> "FastAPI":
    """The app that `citewell serve` serves, with its loop watched."""
    from citewell.api.main import app_of

    app = app_of(settings, workers)
    opened = app.router.lifespan_context

    @contextlib.asynccontextmanager
    async def lifespan(of: Any) -> AsyncIterator[Mapping[str, Any] | None]:
        async with opened(of) as state:
            watching = asyncio.create_task(_watch(Path(folder) / str(os.getpid())))
            yield state
            watching.cancel()

    app.router.lifespan_context = lifespan
    return app


async def _watch(path: Path) -> None:
    while True:
        wall, cpu = time.perf_counter(), time.thread_time()
        await asyncio.sleep(TICK)
        _note(path, {"wall": time.perf_counter() - wall - TICK, "cpu": time.thread_time() - cpu})


def _note(path: Path, held: Mapping[str, float]) -> None:
    """Keep the worst; it begins afresh when the file is removed."""
    longest = json.loads(path.read_text("utf-8")) if path.exists() else {}
    if not longest or any(held[name] > longest[name] for name in held):
        path.write_text(json.dumps({name: max(value, longest.get(name, 0.0)) for name, value in held.items()}), "utf-8")


def serve(port: int, workers: int, folder: str) -> None:
    from citewell.api.server import serve as run
    from citewell.settings import Settings

    settings = Settings.from_environment()
    run(partial(watched_app, settings, workers, folder), host="127.0.0.1", port=port, workers=workers)


async def streamed(port: int, number: int, ends: Counter[str]) -> None:
    asked = questions()
    # Of each run other questions: an answer that was given before would be given again.
    told = f"{asked[number % len(asked)].rstrip('?')}, seen from part {number} of run {os.getpid()}?"
    body: dict[str, object] = {"query": told}
    while True:
        connection = await Connection.open(port)
        reply = await connection.post("/chat/stream", body)
        connection.close()
        if reply.status != 429:
            break
        await asyncio.sleep(1.0)
    ends["done" if b'"done"' in reply.body else f"error {reply.status} {reply.body[:60]!r}"] += 1


def family(process: "subprocess.Popen[bytes]") -> list[psutil.Process]:
    parent = psutil.Process(process.pid)
    return [parent, *parent.children(recursive=True)]


def memory_mb(process: "subprocess.Popen[bytes]") -> float:
    return sum(one.memory_info().rss for one in family(process)) / 2**20


def cpu_of(process: "subprocess.Popen[bytes]") -> float:
    return sum(sum(one.cpu_times()[:2]) for one in family(process))


@contextlib.contextmanager
def served(data: Path, workers: int, folder: str) -> "Iterator[tuple[int, subprocess.Popen[bytes]]]":
    port = free_port()
    variables = {"CITEWELL_DATA_DIR": str(data), "LOG_LEVEL": "error", "PYTHONPATH": str(REPO / "src")}
    environment = os.environ | LIMITS | variables | {"MAX_CONCURRENT_REQUESTS": SLOTS}
    command = [sys.executable, __file__, "serve", str(port), str(workers), folder]
    process = subprocess.Popen(command, env=environment)
    try:
        wait_for(port, process, 300)
        yield port, process
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


async def all_streamed(port: int, numbers: Iterable[int]) -> Counter[str]:
    ends: Counter[str] = Counter()
    async with asyncio.TaskGroup() as asking:
        for number in numbers:
            asking.create_task(streamed(port, number, ends))
    return ends


def measured(data: Path, streams: int, workers: int) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as folder, served(data, workers, folder) as (port, process):
        asyncio.run(all_streamed(port, range(-4 * workers, 0)))
        for path in Path(folder).iterdir():
            path.unlink()
        before, cpu, begun = memory_mb(process), cpu_of(process), time.perf_counter()
        ends = asyncio.run(all_streamed(port, range(streams)))
        took, spent = time.perf_counter() - begun, cpu_of(process) - cpu
        loops = [json.loads(path.read_text("utf-8")) for path in Path(folder).iterdir()]
        after = memory_mb(process)
    return {
        "workers": workers,
        "streams": streams,
        **ends,
        "seconds": round(took, 1),
        "answers_per_s": round(streams / took, 2),
        "cpu_ms_per_answer": round(spent / streams * 1000, 1),
        "loop_cpu_ms": round(max(loop["cpu"] for loop in loops) * 1000, 1),
        "loop_wall_ms": round(max(loop["wall"] for loop in loops) * 1000, 1),
        "memory_before_mb": round(before),
        "memory_after_mb": round(after),
        "load": round(os.getloadavg()[0], 1),
    }


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve(int(sys.argv[2]), int(sys.argv[3]), sys.argv[4])
    else:
        many = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
        for count in [int(sys.argv[3])] if len(sys.argv) > 3 else [1, 2]:
            print(json.dumps(measured(Path(sys.argv[1]), many, count)))
