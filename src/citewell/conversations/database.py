"""One database through one engine: every call is bounded, and every foreign error leaves as a DatabaseError.

Owns how connections are made, given up and made again; knows no table. Imports sqlalchemy (1 s): open it late.
"""

import asyncio
import json
import sqlite3
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import partial
from typing import Any, Self, TypeVar

import sqlalchemy as sa
from sqlalchemy.engine.interfaces import DBAPIConnection
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine
from sqlalchemy.pool import ConnectionPoolEntry

from citewell.conversations.address import Address
from citewell.errors import CitewellError, DatabaseError
from citewell.logs import log

T = TypeVar("T")
Work = Callable[[AsyncConnection], Awaitable[T]]

_MISSING = ("no such table", "no such column", "42P01", "42703")
_CONNECTIONS = 10
_RECYCLE_SECONDS = 280  # hosts that sleep or cut idle connections do so after five minutes or more


@dataclass(frozen=True, slots=True)
class Bounds:
    """Seconds. asyncpg's own `command_timeout` does not fire on a frozen server, so these are kept by asyncio."""

    connect: float = 5.0
    statements: float = 5.0
    """For the statements of one transaction."""
    call: float = 10.0
    """For everything together: the wait for a connection, the work, and the one repetition after a disconnect."""
    close: float = 2.0


class Database:
    def __init__(self, address: Address, bounds: Bounds | None = None) -> None:
        self.address = address
        self._bounds = bounds or Bounds()
        self._engine = (
            _postgres_engine(address, self._bounds) if self.is_postgres else _sqlite_engine(address, self._bounds)
        )
        self._foreign: tuple[type[Exception], ...] = (SQLAlchemyError, OSError, sqlite3.Error)
        if self.is_postgres:
            self._foreign += _asyncpg_errors()
        self._orderly: tuple[type[Exception], ...] = (CitewellError, *self._foreign)
        # First come, first served. SQLAlchemy's pool is not fair (who gives a connection back can take it again before
        # those who wait), and neither is SQLite's handling of its one writer.
        self._places = asyncio.Semaphore(_CONNECTIONS)
        self._writer: asyncio.Lock | nullcontext[None] = nullcontext() if self.is_postgres else asyncio.Lock()

    @classmethod
    @asynccontextmanager
    async def open(cls, address: Address, bounds: Bounds | None = None) -> AsyncIterator[Self]:
        """No connection is made before the first call."""
        database = cls(address, bounds)
        try:
            yield database
        finally:
            await database.aclose()

    @property
    def is_postgres(self) -> bool:
        return self.address.kind == "postgresql"

    async def read(self, work: Work[T]) -> T:
        """Run `work` in one transaction that does not write."""
        return await self._call(lambda: self._transaction(work, writes=False))

    async def write(self, work: Work[T]) -> T:
        """Run `work` in one transaction and commit. After a disconnect it runs once more: it must be idempotent."""

        async def in_line() -> T:
            async with self._writer:
                return await self._transaction(work, writes=True)

        return await self._call(in_line)

    async def aclose(self) -> None:
        try:
            async with asyncio.timeout(self._bounds.close):
                await self._engine.dispose()
        except self._foreign as error:  # TimeoutError is an OSError
            log("database", "close failed", level="warning", error=type(error).__name__, database=str(self.address))

    async def _call(self, attempt: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._bounds.call):
                try:
                    return await attempt()
                except self._foreign as error:
                    if not _lost(error):
                        raise
                    log("database", "reconnects", error=type(error).__name__, database=str(self.address))
                    return await attempt()
        except TimeoutError as error:
            log("database", "timed out", level="warning", database=str(self.address))
            raise DatabaseError("The database did not answer in time. Try again in a moment.") from error
        except self._foreign as error:
            log("database", "failed", level="warning", error=_told(error), database=str(self.address))
            raise _translated(error) from error

    async def _transaction(self, work: Work[T], *, writes: bool) -> T:
        async with self._places:
            return await self._on_connection(work, writes=writes)

    async def _on_connection(self, work: Work[T], *, writes: bool) -> T:
        async with asyncio.timeout(self._bounds.connect):
            connection = await self._engine.connect()
        # After an error of the database the connection is idle; after a timeout or a cancellation it may still be busy.
        idle = False
        try:
            async with asyncio.timeout(self._bounds.statements):
                try:
                    await connection.execution_options(citewell_writes=writes)
                    transaction = await connection.begin()
                    result = await work(connection)
                    await transaction.commit()
                except self._orderly:
                    await connection.rollback()
                    idle = True
                    raise
            idle = True
            return result
        finally:
            if not idle:
                await self._drop(connection)
            await connection.close()

    async def _drop(self, connection: AsyncConnection) -> None:
        """Give up a connection at once. A rollback, or a polite goodbye, would wait for a server that may be frozen."""
        if self.is_postgres and not connection.invalidated:
            driver: Any = (await connection.get_raw_connection()).driver_connection
            driver.terminate()
        await connection.invalidate()


def _lost(error: BaseException) -> bool:
    return isinstance(error, DBAPIError) and error.connection_invalidated


def _told(error: BaseException) -> str:
    """The kind of error and its first line: the rest of a driver's message may quote the statement's values."""
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    return f"{type(cause).__name__}: {str(cause).splitlines()[0] if str(cause) else ''}"[:200]


def _translated(error: BaseException) -> DatabaseError:
    state = str(getattr(getattr(error, "orig", None), "sqlstate", "")) + str(error)
    if any(sign in state for sign in _MISSING):
        return DatabaseError("The database has not been migrated yet; `citewell serve` does so when it starts.")
    return DatabaseError("The database cannot be reached. Try again in a moment.")


def _asyncpg_errors() -> tuple[type[Exception], ...]:
    import asyncpg  # only when Postgres is used

    return (asyncpg.PostgresError, asyncpg.InterfaceError, asyncpg.InternalClientError)


_to_json = partial(json.dumps, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def _postgres_engine(address: Address, bounds: Bounds) -> AsyncEngine:
    import asyncpg  # only when Postgres is used

    connect: dict[str, Any] = {
        "timeout": bounds.connect,
        # Bounds what asyncpg does behind our back: its request to cancel a statement that we gave up.
        "command_timeout": bounds.statements,
        "statement_cache_size": 0,
    }
    if address.system_roots:
        connect["ssl"] = ssl.create_default_context()
    return create_async_engine(
        "postgresql+asyncpg://",
        # asyncpg reads the DSN itself: sslmode, several hosts and sockets mean what they mean to libpq.
        connect_args={
            "async_creator_fn": lambda: asyncpg.connect(address.location, **connect),
            # Behind a transaction pooler the next transaction may meet another server process: keep no prepared
            # statement beyond its use, and give it no name.
            "prepared_statement_cache_size": 0,
            "prepared_statement_name_func": lambda: "",
        },
        pool_size=_CONNECTIONS,
        max_overflow=0,
        pool_recycle=_RECYCLE_SECONDS,
        json_serializer=_to_json,
        hide_parameters=True,
    )


def _sqlite_engine(address: Address, bounds: Bounds) -> AsyncEngine:
    engine = create_async_engine(
        sa.URL.create("sqlite+aiosqlite", database=address.location),
        pool_size=_CONNECTIONS,
        max_overflow=0,
        json_serializer=_to_json,
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

    sa.event.listen(engine.sync_engine, "connect", on_connect)
    sa.event.listen(engine.sync_engine, "begin", on_begin)
    return engine
