"""The server's own cost, over loopback: CPU for each request beside a bare route, requests per second, streams at once.

python bench/api.py DATA_DIR

With DATABASE_URL set the conversations are on Postgres. `afresh` are questions that were not asked before.
"""

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import psutil
from http_client import Connection
from measuring import HERE, REPO, questions, spread

QUESTION = questions()[0]
NAMES, PATHS = ("chat", "stream"), ("/chat", "/chat/stream")
ROUNDS = 5
STREAMS = 500
LIMITS = {"API_RATE_LIMIT": "1000000", "SESSION_RATE_LIMIT": "1000000", "MAX_CONCURRENT_REQUESTS": "10000"}


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port: int = one.getsockname()[1]
        return port


def wait_for(port: int, process: subprocess.Popen[bytes], seconds: float = 60.0) -> float:
    """Seconds until the port takes connections."""
    start = time.perf_counter()
    while time.perf_counter() - start < seconds:
        if process.poll() is not None:
            sys.exit(f"The server ended with status {process.returncode} before it listened.")
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return time.perf_counter() - start
        time.sleep(0.005)
    sys.exit("The server does not listen.")


@contextlib.contextmanager
def citewell_server(data: Path, workers: int = 1, **variables: str) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    port = free_port()
    environment = (
        os.environ
        | LIMITS
        | {
            "CITEWELL_DATA_DIR": str(data),
            "LOG_LEVEL": "error",
            "PYTHONPATH": str(REPO / "src"),
        }
        | variables
    )
    command = [sys.executable, "-m", "citewell", "serve", "--port", str(port), "--workers", str(workers)]
    yield from _served(command, environment, port)


@contextlib.contextmanager
def bare_server(reply: bytes, stream: bytes) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        paths = {"BARE_REPLY": Path(folder) / "reply", "BARE_STREAM": Path(folder) / "stream"}
        paths["BARE_REPLY"].write_bytes(reply)
        paths["BARE_STREAM"].write_bytes(stream)
        command = [sys.executable, "-m", "uvicorn", "bare_app:app", "--app-dir", str(HERE), "--port", str(port)]
        command += ["--loop", "uvloop", "--http", "httptools", "--log-level", "error", "--no-access-log"]
        yield from _served(command, os.environ | {k: str(v) for k, v in paths.items()}, port)


def _served(
    command: list[str], environment: dict[str, str], port: int
) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, process)
        yield port, process
    finally:
        process.terminate()
        process.wait(30)


def cpu_seconds(process: subprocess.Popen[bytes]) -> float:
    """To the microsecond where the kernel tells (Linux); `psutil` counts in hundredths of a second."""
    if sys.platform == "linux":
        return time.clock_gettime(
            (~process.pid << 3) | 2
        )  # the clock of another process, as clock_getcpuclockid makes it
    times = psutil.Process(process.pid).cpu_times()
    return float(times.user + times.system)


@dataclass(slots=True)
class Served:
    """A path of a server, and the CPU that its requests have cost so far."""

    port: int
    process: subprocess.Popen[bytes]
    path: str
    seconds: float = 0.0
    requests: int = 0

    async def ask(self, questions: Sequence[str]) -> None:
        """One after another."""
        connection = await Connection.open(self.port)
        before = cpu_seconds(self.process)
        for question in questions:
            reply = await connection.post(self.path, {"query": question})
            if reply.status != 200:
                sys.exit(f"{self.path} answered {reply.status}: {reply.body[:300]!r}")
        self.seconds += cpu_seconds(self.process) - before
        self.requests += len(questions)
        connection.close()

    @property
    def cpu_ms(self) -> float:
        return self.seconds * 1000 / self.requests


async def costs(ours: tuple[int, subprocess.Popen[bytes]], count: int) -> dict[str, float]:
    """CPU milliseconds of the server for each request, ours and a bare one in turns: both meet the same load."""
    connection = await Connection.open(ours[0])
    for path in PATHS:
        await connection.post(path, {"query": QUESTION})
    replies = [(await connection.post(path, {"query": QUESTION})).body for path in PATHS]
    connection.close()
    with bare_server(*replies) as bare:
        places = {
            f"{kind}{name}": Served(*server, path)
            for kind, server in (("", ours), ("bare_", bare))
            for name, path in zip(NAMES, PATHS, strict=True)
        }
        for place in places.values():
            await place.ask([QUESTION] * 50)
            place.seconds = place.requests = 0
        for _ in range(ROUNDS):
            for name, place in places.items():
                await place.ask([QUESTION] * (count * (5 if name.startswith("bare") else 1) // ROUNDS))
        in_turns = await turns(ours, bare, count)
    afresh = Served(*ours, "/chat")
    await afresh.ask([f"{question} ({n})" for n in range(3) for question in questions()])
    found = {f"{name}_cpu_ms": place.cpu_ms for name, place in places.items()} | {"afresh_cpu_ms": afresh.cpu_ms}
    found["chat_over_bare_in_turns"] = in_turns
    return found | {f"{name}_over_bare": found[f"{name}_cpu_ms"] / found[f"bare_{name}_cpu_ms"] for name in NAMES}


async def turns(
    ours: tuple[int, subprocess.Popen[bytes]], bare: tuple[int, subprocess.Popen[bytes]], count: int
) -> float:
    """Times a bare route when the two take turns: ours waits for the disk, and who waits starts with cold caches."""
    connections = [await Connection.open(port) for port, _ in (ours, bare)]
    before = [cpu_seconds(process) for _, process in (ours, bare)]
    for _ in range(count):
        for connection in connections:
            await connection.post("/chat", {"query": QUESTION})
    spent = [cpu_seconds(process) - start for (_, process), start in zip((ours, bare), before, strict=True)]
    for connection in connections:
        connection.close()
    return spent[0] / spent[1]


async def load(port: int, clients: int, count: int) -> dict[str, float]:
    times: list[float] = []

    async def one() -> None:
        connection = await Connection.open(port)
        for _ in range(count // clients):
            reply = await connection.post("/chat/stream", {"query": QUESTION})
            times.append(reply.first_byte_ms)
        connection.close()

    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for _ in range(clients):
            group.create_task(one())
    took = time.perf_counter() - start
    return {f"requests_per_s_{clients}": len(times) / took} | spread(times, f"first_byte_{clients}_")


async def many_streams(port: int) -> dict[str, float]:
    async def one() -> bool:
        connection = await Connection.open(port)
        reply = await connection.post("/chat/stream", {"query": QUESTION})
        connection.close()
        return reply.status == 200 and b'"done"' in reply.body

    start = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(one()) for _ in range(STREAMS)]
    return {"streams_at_once": sum(t.result() for t in tasks), "streams_at_once_s": time.perf_counter() - start}


async def measured(data: Path, count: int) -> dict[str, float]:
    with citewell_server(data) as (port, process):
        found = await costs((port, process), count)
        for clients in (1, 10, 50):
            found |= await load(port, clients, count)
        found |= await many_streams(port)
        found["memory_mb"] = psutil.Process(process.pid).memory_info().rss / 2**20
    return {name: float(np.round(value, 4)) for name, value in found.items()}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measured(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 500))))
