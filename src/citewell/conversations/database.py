"""The database: every call is bounded, repeated once after a disconnect, and every foreign error is a DatabaseError.

Knows no table and no driver. Imports sqlalchemy (1 s): open it late.
"""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Self

from sqlalchemy.exc import DBAPIError

from citewell.conversations.database_url import Address
from citewell.conversations.transactions import Bounds, T, Transactions, Work
from citewell.errors import DatabaseError
from citewell.logs import log

_MISSING = ("no such table", "no such column", "42P01", "42703")


class Database:
    def __init__(self, address: Address, bounds: Bounds | None = None) -> None:
        self.address = address
        self._bounds = bounds or Bounds()
        self._transactions = _transactions(address, self._bounds)

    @classmethod
    @asynccontextmanager
    async def open(cls, address: Address, bounds: Bounds | None = None) -> AsyncIterator[Self]:
        """No connection is made before the first call."""
        database = cls(address, bounds)
        try:
            yield database
        finally:
            await database.aclose()

    async def read(self, work: Work[T]) -> T:
        """Run `work` in one transaction that does not write."""
        return await self._call(lambda: self._transactions.run(work, writes=False))

    async def write(self, work: Work[T]) -> T:
        """Run `work` in one transaction and commit. After a disconnect it runs once more: it must be idempotent."""
        return await self._call(lambda: self._transactions.run(work, writes=True))

    async def check(self) -> None:
        """Look whether the database is sound, as far as that can be seen in a moment."""
        await self._call(self._transactions.check)

    async def aclose(self) -> None:
        try:
            async with asyncio.timeout(self._bounds.close):
                await self._transactions.aclose()
        except self._transactions.errors as error:  # TimeoutError is an OSError
            log("database", "close failed", level="warning", error=type(error).__name__, database=str(self.address))

    async def _call(self, attempt: Callable[[], Awaitable[T]]) -> T:
        try:
            async with asyncio.timeout(self._bounds.call):
                try:
                    return await attempt()
                except self._transactions.errors as error:
                    if not _lost(error):
                        raise
                    log("database", "reconnects", error=type(error).__name__, database=str(self.address))
                    return await attempt()
        except TimeoutError as error:
            log("database", "timed out", level="warning", database=str(self.address))
            raise DatabaseError("The database did not answer in time. Try again in a moment.") from error
        except self._transactions.errors as error:
            log("database", "failed", level="warning", error=_told(error), database=str(self.address))
            raise _translated(error) from error


def _transactions(address: Address, bounds: Bounds) -> Transactions:
    if address.kind == "postgresql":
        from citewell.conversations.postgres import PostgresTransactions  # asyncpg, only when it is used

        return PostgresTransactions(address, bounds)
    from citewell.conversations.sqlite import SqliteTransactions

    return SqliteTransactions(address, bounds)


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
