"""From nothing to an answer: imports, listening, first answer; each the best of a few fresh processes.

python bench/startup.py DATA_DIR
"""

import asyncio
import json
import subprocess
import sys
import time
from pathlib import Path

from api import QUESTION, citewell_server
from http_client import Connection

ROUNDS = 3


def imported(what: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", what], check=True)
    return time.perf_counter() - start


async def _first_answer(port: int) -> None:
    connection = await Connection.open(port)
    reply = await connection.post("/chat", {"query": QUESTION})
    connection.close()
    if reply.status != 200:
        sys.exit(f"/chat answered {reply.status}: {reply.body[:300]!r}")


def served(data: Path) -> tuple[float, float]:
    start = time.perf_counter()
    with citewell_server(data) as (port, _):
        listening = time.perf_counter() - start
        asyncio.run(_first_answer(port))
        return listening, time.perf_counter() - start


def measured(data: Path) -> dict[str, float]:
    runs = [served(data) for _ in range(ROUNDS)]
    return {
        "python_s": min(imported("pass") for _ in range(ROUNDS)),
        "import_s": min(imported("import citewell") for _ in range(ROUNDS)),
        "command_line_s": min(imported("import citewell.cli") for _ in range(ROUNDS)),
        "listening_s": min(listening for listening, _ in runs),
        "first_answer_s": min(answer for _, answer in runs),
    }


if __name__ == "__main__":
    print(json.dumps(measured(Path(sys.argv[1]))))
