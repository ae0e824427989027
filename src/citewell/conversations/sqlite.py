"""Transactions on SQLite, each whole in one thread: a statement is quicker than a change of thread."""

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection, DBAPICursor
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.pool import ConnectionPoolEntry

from citewell.conversations.database_url import Address
from citewell.conversations.transactions import CONNECTIONS, Bounds, T, Work, in_transaction, to_json
from citewell.errors import DatabaseDamagedError, DatabaseError
from citewell.logs import log

_CHECK_SECONDS = 0.05
"""Enough for some ten thousand turns; of a larger file a part is checked."""
_STEPS_BETWEEN_CLOCKS = 10_000
_PAUSE = 0.01


class SqliteTransactions:
    """A thread cannot be stopped: work that nobody waits for any more is still ended, by its own bounds."""

    errors = (SQLAlchemyError, OSError, sqlite3.Error)

    def __init__(self, address: Address, bounds: Bounds) -> None:
        self._bounds = bounds
        self._file = Path(address.location)
        self._met_damage = False
        self._engine = _engine(address, bounds)
        self._writing = self._engine.execution_options(citewell_writes=True)
        self._threads = ThreadPoolExecutor(CONNECTIONS, thread_name_prefix="conversations")
        # First come, first served, which SQLite's own handling of its one writer is not.
        self._readers = asyncio.Semaphore(CONNECTIONS - 1)
        self._writer = asyncio.Lock()

    async def run(self, work: Work[T], *, writes: bool) -> T:
        if writes and self._met_damage:  # a turn in a damaged file would be acknowledged, and lost
            raise self._damaged("met before")
        async with self._writer if writes else self._readers, asyncio.timeout(self._bounds.statements):
            engine = self._writing if writes else self._engine
            return await self._threaded(partial(self._in_thread, engine, work))

    async def check(self) -> None:
        async with self._readers, asyncio.timeout(self._bounds.statements):
            await self._threaded(self._check)

    async def _threaded(self, work: Callable[[], T]) -> T:
        with self._explained():
            return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    @staticmethod
    def _in_thread(engine: sa.Engine, work: Work[T]) -> T:
        with engine.connect() as connection:  # which rolls back what was not committed
            return in_transaction(connection, work)

    def _check(self) -> None:
        """Through a connection of its own: the others answer from the pages that they hold, whatever the file is now.

        Once damage was met, only a check of the whole file says that it is gone.
        """
        ends = time.monotonic() + _CHECK_SECONDS
        address = f"{self._file.absolute().as_uri()}?mode=rw"  # a file that is gone is not made again
        with closing(sqlite3.connect(address, uri=True, timeout=self._bounds.statements / 2)) as connection:
            connection.set_progress_handler(lambda: time.monotonic() > ends, _STEPS_BETWEEN_CLOCKS)
            try:
                found = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode != sqlite3.SQLITE_INTERRUPT:
                    raise
                found = "not checked to its end" if self._met_damage else "ok"
        if found != "ok":
            raise self._damaged(found)
        self._met_damage = False

    @contextmanager
    def _explained(self) -> Iterator[None]:
        """What will not pass by itself is told apart from what may."""
        try:
            yield
        except (DBAPIError, sqlite3.Error) as error:
            cause = error.orig if isinstance(error, DBAPIError) else error
            match getattr(cause, "sqlite_errorcode", 0) & 0xFF:  # without what an extended code adds
                case sqlite3.SQLITE_CORRUPT | sqlite3.SQLITE_NOTADB:
                    raise self._damaged(str(cause)) from error
                case sqlite3.SQLITE_CANTOPEN | sqlite3.SQLITE_READONLY | sqlite3.SQLITE_PERM:
                    raise DatabaseError(
                        f"The database {self._file} cannot be opened and written ({cause}). Is it there, may it and "
                        "its folder be written? A file that is missing is made at the next start."
                    ) from error
                case sqlite3.SQLITE_FULL:
                    raise DatabaseError(f"The disk of the database {self._file} is full.") from error
            raise

    def _damaged(self, found: str) -> DatabaseDamagedError:
        self._met_damage = True
        log("database", "is damaged", level="warning", error=found[:200], database=str(self._file))
        return DatabaseDamagedError(
            f"The database {self._file} is damaged. Stop the server; then put a backup in its place, or move it away "
            "together with the files named like it: the next start makes a new one."
        )

    async def aclose(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)
        self._engine.dispose()


def _write_ahead(cursor: DBAPICursor | sqlite3.Cursor, seconds: float) -> None:
    """The first to open a new file changes its mode; others are told "locked" at once, whatever their timeout."""
    until = time.monotonic() + seconds
    while True:
        try:
            cursor.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
            time.sleep(_PAUSE)
        else:
            return


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
        _write_ahead(cursor, bounds.statements * 0.8)
        # FULL: an acknowledged answer survives a power cut too.
        cursor.execute("PRAGMA synchronous = FULL")
        cursor.close()

    def on_begin(connection: sa.Connection) -> None:
        writes = connection.get_execution_options().get("citewell_writes", False)
        connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")

    sa.event.listen(engine, "connect", on_connect)
    sa.event.listen(engine, "begin", on_begin)
    return engine
