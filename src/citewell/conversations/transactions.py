"""Transactions, what the two databases have in common: work done in one transaction, and the seconds that bound it."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol, TypeVar

import sqlalchemy as sa

T = TypeVar("T")
Work = Callable[[sa.Connection], T]
"""What is done in one transaction, one statement after another. It leaves the event loop alone: on SQLite it runs in a
thread, on Postgres SQLAlchemy suspends it while it waits."""

CONNECTIONS = 10

to_json = partial(json.dumps, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Seconds. asyncpg's own `command_timeout` does not fire on a frozen server, so these are kept by asyncio."""

    connect: float = 2.5
    statements: float = 2.5
    """For the statements of one transaction."""
    call: float = 2.8
    """For everything together: the wait for a connection, the work, and the one repetition after a disconnect."""
    close: float = 2.0


class Transactions(Protocol):
    """The connections to one database."""

    @property
    def errors(self) -> tuple[type[Exception], ...]:
        """What the driver raises."""
        ...

    async def run(self, work: Work[T], *, writes: bool) -> T:
        """Do the work in one transaction and commit. A connection in an unknown state is not used again."""
        ...

    async def check(self) -> None:
        """Look at the database itself, where a connection may answer from what it has read before."""
        ...

    async def aclose(self) -> None: ...


def in_transaction(connection: sa.Connection, work: Work[T]) -> T:
    """After an error it is for the connection's owner to roll back, or to give the connection up."""
    transaction = connection.begin()
    result = work(connection)
    transaction.commit()
    return result
