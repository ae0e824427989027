"""A thousand streams with different questions, opened at once and answered at the pace that the machine allows.

python bench/streams.py DATA_DIR [STREAMS] [WORKERS]

Whoever is told that all slots are taken comes back as told. Beside them one client asks whether the process lives: the
longest that it waits is the longest that the event loop stood still, on the worker that it met.
"""

import asyncio
import json
import sys
import time
from collections import Counter
from pathlib import Path

import psutil
from api import citewell_server
from http_client import Connection
from measuring import questions

SLOTS = "50"


async def streamed(port: int, number: int, ends: Counter[str]) -> None:
    asked = questions()
    body: dict[str, object] = {"query": f"{asked[number % len(asked)].rstrip('?')}, seen from part {number}?"}
    while True:
        connection = await Connection.open(port)
        reply = await connection.post("/chat/stream", body)
        connection.close()
        if reply.status != 429:
            break
        await asyncio.sleep(1.0)
    ends["done" if b'"done"' in reply.body else f"error {reply.status}"] += 1


async def longest_wait(port: int, over: asyncio.Event) -> float:
    longest = 0.0
    while not over.is_set():
        connection = await Connection.open(port)
        begun = time.perf_counter()
        await connection.get("/health/live")
        longest = max(longest, time.perf_counter() - begun)
        connection.close()
        await asyncio.sleep(0.02)
    return longest


def memory_mb(process_id: int) -> float:
    process = psutil.Process(process_id)
    return sum(p.memory_info().rss for p in (process, *process.children(recursive=True))) / 2**20


async def measured(data: Path, streams: int, workers: int) -> dict[str, float]:
    ends: Counter[str] = Counter()
    with citewell_server(data, workers=workers, MAX_CONCURRENT_REQUESTS=SLOTS) as (port, process):
        await streamed(port, 0, Counter())
        before, begun, over = memory_mb(process.pid), time.perf_counter(), asyncio.Event()
        async with asyncio.TaskGroup() as group:
            waiting = group.create_task(longest_wait(port, over))
            async with asyncio.TaskGroup() as asking:
                for number in range(1, streams + 1):
                    asking.create_task(streamed(port, number, ends))
            took = time.perf_counter() - begun
            over.set()
        after = memory_mb(process.pid)
    figures = {"workers": workers, "seconds": took, "answers_per_s": streams / took, "longest_wait_s": waiting.result()}
    return figures | {"memory_before_mb": before, "memory_after_mb": after, **ends}


if __name__ == "__main__":
    many = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    for count in [int(sys.argv[3])] if len(sys.argv) > 3 else [1, 2]:
        print(json.dumps(asyncio.run(measured(Path(sys.argv[1]), many, count))))
