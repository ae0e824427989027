"""Transactions on Postgres, through asyncpg. A connection that timed out is given up at once, never waited for."""

import asyncio
import ssl
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection, AsyncEngine, create_async_engine

from citewell.conversations.database_url import Address
from citewell.conversations.transactions import CONNECTIONS, Bounds, T, Work, in_transaction, to_json
from citewell.errors import CitewellError, MissingExtraError

try:
    from asyncpg import InterfaceError, InternalClientError, PostgresError
    from asyncpg import connect as asyncpg_connect
except ModuleNotFoundError as error:
    raise MissingExtraError("postgres", error) from error

_RECYCLE_SECONDS = 280  # hosts that sleep or cut idle connections do so after five minutes or more


class PostgresTransactions:
    errors = (SQLAlchemyError, OSError, PostgresError, InterfaceError, InternalClientError)

    def __init__(self, address: Address, bounds: Bounds) -> None:
        self._bounds = bounds
        self._engine = _engine(address, bounds)
        # First come, first served. SQLAlchemy's pool is not fair: who gives a connection back can take it again before
        # those who wait.
        self._places = asyncio.Semaphore(CONNECTIONS)

    async def run(self, work: Work[T], *, writes: bool) -> T:
        del writes
        async with self._places:
            async with asyncio.timeout(self._bounds.connect):
                connection = await self._engine.connect()
            return await self._on(connection, work)

    async def _on(self, connection: AsyncConnection, work: Work[T]) -> T:
        # After an error of the database the connection is idle; after a timeout or a cancellation it may still be busy.
        idle = False
        try:
            async with asyncio.timeout(self._bounds.statements):
                try:
                    result = await connection.run_sync(in_transaction, work)
                except (CitewellError, *self.errors):
                    await connection.rollback()
                    idle = True
                    raise
            idle = True
            return result
        finally:
            if not idle:
                await _drop(connection)
            await connection.close()

    async def check(self) -> None:
        """Every statement asks the server."""

    async def aclose(self) -> None:
        await self._engine.dispose()


async def _drop(connection: AsyncConnection) -> None:
    """Give up a connection at once. A rollback, or a polite goodbye, would wait for a server that may be frozen."""
    if not connection.invalidated:
        driver: Any = (await connection.get_raw_connection()).driver_connection
        if driver is not None:  # SQLAlchemy was on its way to give it up itself
            driver.terminate()
    await connection.invalidate()


def _engine(address: Address, bounds: Bounds) -> AsyncEngine:
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
            "async_creator_fn": lambda: asyncpg_connect(address.location, **connect),
            # Behind a transaction pooler the next transaction may meet another server process: keep no prepared
            # statement beyond its use, and give it no name.
            "prepared_statement_cache_size": 0,
            "prepared_statement_name_func": lambda: "",
        },
        pool_size=CONNECTIONS,
        max_overflow=0,
        pool_recycle=_RECYCLE_SECONDS,
        json_serializer=to_json,
        hide_parameters=True,
    )
