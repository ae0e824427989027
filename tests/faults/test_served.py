"""`citewell serve` as a process of its own on its worst day: hostile questions, a full disk, an outage, kills."""

import json
import os
import resource
import signal
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpx
import pytest

from tests.integration.test_served_damage import free_port, serve
from tests.support.toy_book import write_index

QUESTION = {"query": "What is inverse kinematics?"}
HOSTILE = [
    "1," * 5000,
    "- a\n" * 2490,
    "a. " * 3300,
    "[" * 9900,
    "![" * 4900,
    "`" * 9900,
    "| a " * 2400,
    "1. " * 3300,
    "\u200b" * 9000 + "a",
    "| a | b |\n" * 999,
    "日本語。" * 2490,
    "What? " * 1660,
    "1. a\n" * 1990,
    "foo_1.bar() " * 830,
]
Figure = Callable[[str, object], None]


class Served:
    def __init__(self, data: Path, log: Path, **variables: str) -> None:
        port = free_port()
        self.log = log
        self.process = serve(data, port, stderr=log, LOG_LEVEL="warning", API_RATE_LIMIT="100000", **variables)
        self.client = httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=600)
        for _ in range(2400):
            with suppress(httpx.TransportError):
                if self.client.get("/health/ready").status_code == 200:
                    return
            assert self.process.poll() is None, "the server died"
            time.sleep(0.05)
        raise AssertionError("the server is not ready")

    def end(self) -> int:
        self.client.close()
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


@contextmanager
def served(data: Path, **variables: str) -> Iterator[Served]:
    server = Served(data, data / "log", **variables)
    try:
        yield server
    finally:
        server.client.close()
        server.process.kill()
        server.process.wait()


@pytest.fixture
async def data(tmp_path: Path) -> Path:
    await write_index(tmp_path / "index")
    return tmp_path


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.fault("hostile selections", "answered in some way, and others are served meanwhile")
@pytest.mark.parametrize("count", [2, pytest.param(len(HOSTILE), marks=pytest.mark.unbounded)])
def test_no_selection_stops_the_server(count: int, data: Path, record_property: Figure) -> None:
    with served(data) as server:
        longest, codes, over = 0.0, [], threading.Event()

        def ask() -> None:
            for text in HOSTILE[:count]:
                body = {**QUESTION, "mode": "selected_text", "selected_text": text}
                codes.append(server.client.post("/chat", json=body).status_code)
            over.set()

        asking = threading.Thread(target=ask)
        asking.start()
        with httpx.Client(base_url=server.client.base_url, timeout=600) as other:
            while not over.is_set():
                begun = time.perf_counter()
                assert other.get("/health/live").status_code == 200
                longest = max(longest, time.perf_counter() - begun)
        asking.join()
    record_property("figure", f"longest wait of another request {longest * 1000:.0f} ms")
    assert len(codes) == count
    assert set(codes) <= {200, 504}  # a slow machine may take longer than a question has; it says so


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.fault("disk full under SQLite", "questions 503, readiness 503, and well again when there is room")
def test_a_full_disk_is_not_ready(data: Path) -> None:
    with served(data) as server:
        server.client.post("/chat", json=QUESTION).raise_for_status()
        limit = resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE)
        resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, (1, limit[1]))
        try:
            asked = server.client.post("/chat", json={"query": "What is a topic?"})
            time.sleep(3.1)  # health is remembered for three seconds
            ready = server.client.get("/health/ready")
        finally:
            resource.prlimit(server.process.pid, resource.RLIMIT_FSIZE, limit)
        assert (asked.status_code, ready.status_code) == (503, 503)
        time.sleep(3.1)
        assert server.client.get("/health/ready").status_code == 200
        assert server.end() == 0


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.fault("disk read-only under SQLite", "readiness 503")
def test_a_read_only_database_is_not_ready(data: Path) -> None:
    with served(data) as server:
        server.client.post("/chat", json=QUESTION).raise_for_status()
        with sqlite3.connect(data / "conversations.sqlite3") as holder:
            holder.execute("PRAGMA journal_mode")
            for path in data.glob("conversations.sqlite3*"):
                path.chmod(0o444)
            if os.access(data / "conversations.sqlite3", os.W_OK):
                pytest.skip("who runs this may write to read-only files")
        time.sleep(3.1)
        assert server.client.get("/health/ready").status_code == 503


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.unbounded
@pytest.mark.fault("outage of the model", "one line and a count, no key in the log")
def test_an_outage_is_one_line_and_holds_no_key(data: Path, record_property: Figure) -> None:
    variables = {"GEMINI_API_KEY": "sk-secret-of-the-model", "GEMINI_BASE_URL": f"http://127.0.0.1:{free_port()}/v1/"}
    begun = time.monotonic()
    with served(data, **variables) as server:
        codes = {
            server.client.post("/chat", json={"query": f"What is a node in module {n}?"}).status_code for n in range(20)
        }
        assert server.end() == 0
        lines = server.log.read_text("utf-8").splitlines()
    record_property("figure", f"{len(lines)} lines for 20 failures")
    assert codes <= {200, 503}
    assert "sk-secret" not in "\n".join(lines)
    assert not any("Traceback" in line for line in lines)
    told = sum(json.loads(line)["stage"] == "agent" for line in lines if '"stage"' in line)
    assert told <= 4 * (1 + (time.monotonic() - begun) // 60)  # after a minute a warning is written again


@pytest.mark.slow
@pytest.mark.unbounded
@pytest.mark.timeout(3600)
@pytest.mark.fault("server killed 100 times", "no acknowledged answer is lost or doubled")
def test_a_killed_server_loses_no_acknowledged_answer(data: Path, record_property: Figure) -> None:
    acknowledged: list[str] = []
    for round_number in range(100):
        server = Served(data, data / "log")
        with suppress(httpx.TransportError):
            threading.Timer(0.02 * (round_number % 10), server.process.kill).start()
            for n in range(20):
                reply = server.client.post("/chat", json={"query": f"What is inverse kinematics, part {n}?"})
                acknowledged.append(reply.json()["metadata"]["session_id"])
        server.process.kill()
        server.process.wait()
        server.client.close()
    with sqlite3.connect(data / "conversations.sqlite3") as database:
        saved = [row[0] for row in database.execute("SELECT session_id FROM conversations")]
    record_property("figure", f"{len(acknowledged)} acknowledged, {len(saved)} saved")
    assert set(acknowledged) <= set(saved)
    assert len(saved) == len(set(saved))
