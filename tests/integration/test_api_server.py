"""`serve` as a process of its own: it listens, stops within its grace, and runs several workers."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import httpx
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
                httpx.get(f"http://127.0.0.1:{port}/health/live", timeout=5)
                break
            except httpx.TransportError:
                assert process.poll() is None, "the server died"
                time.sleep(0.05)
        yield f"http://127.0.0.1:{port}", process
    finally:
        process.kill()
        process.wait()


@pytest.mark.slow
def test_a_signal_lets_a_stream_end_with_an_error_and_the_process_goes() -> None:
    with serving() as (url, process), httpx.stream("POST", f"{url}/chat/stream", json=MESSAGE, timeout=60) as reply:
        assert reply.status_code == 200
        text = ""
        for part in reply.iter_text():
            if not text:
                process.send_signal(signal.SIGTERM)
            text += part
        assert '"code":"SERVICE_UNAVAILABLE"' in text
        process.wait()


@pytest.mark.slow
def test_several_workers_serve_one_port_and_stop_together() -> None:
    with serving(workers=2) as (url, process):
        for _ in range(4):
            reply = httpx.post(f"{url}/chat", json={"query": ""}, timeout=60)
            assert reply.status_code == 400
            assert json.loads(reply.text)["error_code"] == "validation_error"
        process.send_signal(signal.SIGTERM)
        process.wait()
