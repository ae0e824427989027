"""`serve` as a process of its own: it listens, stops within its grace, and runs several workers."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import httpx
import psutil
import pytest

MESSAGE = {"message": "What is a ROS 2 node?", "session_id": "3f0e6b1a-8c55-4c8b-9d41-2f6a7b1c0e5d"}
SERVE = """
from tests.support.served import serve_scripted
serve_scripted({port}, workers={workers})
"""


@contextmanager
def serving(workers: int = 1) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-c", SERVE.format(port=port, workers=workers)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(p for p in sys.path if p)},
    )
    try:
        while True:
            try:
                httpx.get(f"http://127.0.0.1:{port}/health/live", timeout=600)
                break
            except httpx.TransportError:
                assert process.poll() is None, "the server died"
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.kill()
        process.wait()


@pytest.mark.fault("SIGTERM under a stream", "the stream ends, exit code 0")
@pytest.mark.slow
def test_a_signal_lets_a_stream_end_with_an_error_and_the_process_goes() -> None:
    with serving() as (url, process), httpx.stream("POST", f"{url}/chat/stream", json=MESSAGE, timeout=600) as reply:
        assert reply.status_code == 200
        text = ""
        for part in reply.iter_text():
            if not text:
                process.send_signal(signal.SIGTERM)
            text += part
        assert '"code":"SERVICE_UNAVAILABLE"' in text
        assert process.wait() == 0


@pytest.mark.fault("several workers", "one port, metrics summed, exit code 0")
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_several_workers_serve_one_port_and_stop_together() -> None:
    with serving(workers=2) as (url, process):
        for _ in range(4):
            reply = httpx.post(f"{url}/chat", json={"query": ""}, timeout=600)
            assert reply.status_code == 400
            assert json.loads(reply.text)["error_code"] == "validation_error"
        counted = httpx.get(f"{url}/metrics", timeout=600).text
        assert 'citewell_requests_total{method="POST",route="/chat",status="400"} 4.0' in counted
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


def children(process: subprocess.Popen[bytes]) -> set[int]:
    """Of the supervisor, without the helper that Python starts for spawned processes."""
    found = set()
    for child in psutil.Process(process.pid).children():
        with suppress(psutil.Error):  # it ended meanwhile
            if any("spawn_main" in part for part in child.cmdline()):
                found.add(child.pid)
    return found


def wait_for(done: Callable[[], bool]) -> None:
    """The test's own timeout ends what never comes to pass."""
    while not done():
        time.sleep(0.05)


@pytest.mark.fault("worker killed, rolling restart", "replaced, nobody is refused")
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_a_killed_worker_is_replaced_and_a_rolling_restart_is_not_noticed() -> None:
    with serving(workers=2) as (url, process):
        wait_for(lambda: len(children(process)) == 2)
        first = children(process)
        os.kill(min(first), signal.SIGKILL)
        wait_for(lambda: len(children(process)) == 2 and min(first) not in children(process))
        before = children(process)
        process.send_signal(signal.SIGHUP)
        anew = httpx.Limits(max_keepalive_connections=0)  # each time by whichever worker takes the connection
        with httpx.Client(limits=anew, timeout=600) as client:
            while before & children(process):
                assert client.get(f"{url}/health/live").status_code == 200
        assert len(children(process)) == 2
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0


@pytest.mark.fault("supervisor killed", "no worker stays")
@pytest.mark.slow
@pytest.mark.timeout(400)
def test_workers_go_when_their_supervisor_is_killed() -> None:
    with serving(workers=2) as (_, process):
        wait_for(lambda: len(children(process)) == 2)
        left = [psutil.Process(child) for child in children(process)]
        process.kill()
        gone, alive = psutil.wait_procs(left, timeout=600)
        assert (len(gone), alive) == (2, [])
