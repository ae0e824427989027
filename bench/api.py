"""The server's own cost, over loopback: CPU for each request beside a bare route, requests per second, streams at once.

python bench/api.py DATA_DIR
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
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import psutil
from http_client import Connection
from measuring import HERE, REPO, questions, spread

QUESTION = questions()[0]
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
def citewell_server(data: Path) -> Iterator[tuple[int, subprocess.Popen[bytes]]]:
    port = free_port()
    environment = (
        os.environ
        | LIMITS
        | {
            "CITEWELL_DATA_DIR": str(data),
            "LOG_LEVEL": "error",
            "PYTHONPATH": str(REPO / "src"),
        }
    )
    command = [sys.executable, "-m", "citewell", "serve", "--port", str(port)]
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
    whole = psutil.Process(process.pid)
    return sum(p.cpu_times().user + p.cpu_times().system for p in (whole, *whole.children(recursive=True)))


async def cost(port: int, process: subprocess.Popen[bytes], path: str, count: int) -> float:
    """CPU milliseconds of the server for each request, one after another."""
    connection = await Connection.open(port)
    body: dict[str, object] = {"query": QUESTION}
    for _ in range(50):
        await connection.post(path, body)
    before = cpu_seconds(process)
    for _ in range(count):
        reply = await connection.post(path, body)
        if reply.status != 200:
            sys.exit(f"{path} answered {reply.status}: {reply.body[:300]!r}")
    spent = cpu_seconds(process) - before
    connection.close()
    return spent * 1000 / count


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
    found: dict[str, float] = {}
    with citewell_server(data) as (port, process):
        connection = await Connection.open(port)
        await connection.post("/chat", {"query": QUESTION})
        reply = await connection.post("/chat", {"query": QUESTION})
        stream = await connection.post("/chat/stream", {"query": QUESTION})
        connection.close()
        if reply.status != 200:
            sys.exit(f"/chat answered {reply.status}: {reply.body[:300]!r}")
        found["chat_cpu_ms"] = await cost(port, process, "/chat", count)
        found["stream_cpu_ms"] = await cost(port, process, "/chat/stream", count)
        for clients in (1, 10, 50):
            found |= await load(port, clients, count)
        found |= await many_streams(port)
        found["memory_mb"] = psutil.Process(process.pid).memory_info().rss / 2**20
    with bare_server(reply.body, stream.body) as (port, process):
        found["bare_chat_cpu_ms"] = await cost(port, process, "/chat", count)
        found["bare_stream_cpu_ms"] = await cost(port, process, "/chat/stream", count)
    found["chat_over_bare"] = found["chat_cpu_ms"] / found["bare_chat_cpu_ms"]
    found["stream_over_bare"] = found["stream_cpu_ms"] / found["bare_stream_cpu_ms"]
    return {name: float(np.round(value, 4)) for name, value in found.items()}


if __name__ == "__main__":
    print(json.dumps(asyncio.run(measured(Path(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 500))))
