"""Transactions on SQLite, each whole in one thread: a statement is quicker than a change of thread."""

import asyncio
import sqlite3
from concurrent.futures import ThreadPoolExecutor

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from citewell.conversations.address import Address
from citewell.conversations.transactions import CONNECTIONS, Bounds, T, Work, in_transaction, to_json


class SqliteTransactions:
    """A thread cannot be stopped: work that nobody waits for any more is still ended, by its own bounds."""

    errors = (SQLAlchemyError, OSError, sqlite3.Error)

    def __init__(self, address: Address, bounds: Bounds) -> None:
        self._bounds = bounds
        self._engine = _engine(address, bounds)
        self._writing = self._engine.execution_options(citewell_writes=True)
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="conversations")
        # First come, first served, which SQLite's own handling of its one writer is not.
        self._readers = asyncio.Semaphore(CONNECTIONS - 1)
        self._writer = asyncio.Lock()

    async def run(self, work: Work[T], *, writes: bool) -> T:
        async with self._writer if writes else self._readers, asyncio.timeout(self._bounds.statements):
            engine = self._writing if writes else self._engine
            return await asyncio.get_running_loop().run_in_executor(self._threads, self._in_thread, engine, work)

    @staticmethod
    def _in_thread(engine: sa.Engine, work: Work[T]) -> T:
        with engine.connect() as connection:  # which rolls back what was not committed
            return in_transaction(connection, work)

    async def aclose(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)
        self._engine.dispose()


def _engine(address: Address, bounds: Bounds) -> sa.Engine:
    engine = sa.create_engine(
        sa.URL.create("sqlite+pysqlite", database=address.location),
        pool_size=CONNECTIONS,
        max_overflow=0,
        json_serializer=to_json,
        hide_parameters=True,
    )

    def on_connect(connection: DBAPIConnection, _: ConnectionPoolEntry) -> None:
        # sqlite3 must not open transactions by itself: `on_begin` does.
        connection.isolation_level = None
        cursor = connection.cursor()
        # Shorter than the bound on statements, so that SQLite says "locked" before we give up.
        cursor.execute(f"PRAGMA busy_timeout = {int(bounds.statements * 800)}")
        cursor.execute("PRAGMA journal_mode = WAL")
        # FULL: an acknowledged answer survives a power cut too.
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.close()

    def on_begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("citewell_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    sa.event.listen(engine, "connect", on_connect)
    sa.event.listen(engine, "begin", on_begin)
    return engine
