"""`citewell serve` as a process of its own, with files damaged before and while it serves."""

import os
import random
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support.toy_book import write_index

QUESTION = {"query": "What is inverse kinematics?"}


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def serve(data: Path, port: int, *, stderr: Path | None = None, **variables: str) -> subprocess.Popen[str]:
    env = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "PYTHONPATH")}
    command = [sys.executable, "-m", "citewell", "serve", "--port", str(port)]
    env |= {"CITEWELL_DATA_DIR": str(data), **variables}
    if stderr is None:
        return subprocess.Popen(command, env=env, stderr=subprocess.PIPE, text=True)
    with stderr.open("a") as log:
        return subprocess.Popen(command, env=env, stderr=log, text=True)


@contextmanager
def serving(data: Path) -> Iterator[httpx.Client]:
    port = free_port()
    process = serve(data, port, LOG_LEVEL="error")
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600) as client:
            while True:
                try:
                    client.get("/health/live")
                    break
                except httpx.TransportError:
                    assert process.poll() is None, "the server died"
                    time.sleep(0.05)
            yield client
    finally:
        process.kill()
        process.communicate()


def overwrite(path: Path) -> None:
    noise = random.Random(1).randbytes(min(path.stat().st_size, 200_000))
    with path.open("r+b") as file:
        file.write(noise)


def overwrite_payloads(data: Path) -> None:
    for path in data.glob("index/generations/*/shard/segments/*/payload_storage/tracker.dat"):
        overwrite(path)


@pytest.mark.fault("served index damaged", "503 and unhealthy")
@pytest.mark.slow
async def test_a_damaged_index_is_503_and_unhealthy(tmp_path: Path) -> None:
    await write_index(tmp_path / "index")
    with serving(tmp_path) as client:
        client.get("/book/pages").raise_for_status()
        overwrite_payloads(tmp_path)
        reply, health = client.post("/chat", json=QUESTION), client.get("/health")
    assert (reply.status_code, reply.json()["error_code"]) == (503, "retrieval_unavailable")
    assert (health.status_code, health.json()["status"]) == (503, "unhealthy")
    assert health.json()["services"]["qdrant"]["message"] == "index_damaged"


@pytest.mark.fault("database damaged", "unhealthy at the next look")
@pytest.mark.slow
async def test_a_damaged_database_is_unhealthy_at_the_next_look(tmp_path: Path) -> None:
    await write_index(tmp_path / "index")
    with serving(tmp_path) as client:
        client.post("/chat", json=QUESTION).raise_for_status()
        overwrite(tmp_path / "conversations.sqlite3")
        health = client.get("/health")
    assert (health.status_code, health.json()["status"]) == (503, "unhealthy")
    assert health.json()["services"]["database"]["message"] == "database_damaged"


def test_a_damaged_database_stops_the_start_in_one_line(tmp_path: Path) -> None:
    (tmp_path / "conversations.sqlite3").write_bytes(b"no database at all" * 1000)
    process = serve(tmp_path, free_port())
    _, said = process.communicate()
    assert process.returncode == 1
    assert said.startswith("citewell: The database")
    assert "is damaged" in said
    assert len(said.splitlines()) == 1
