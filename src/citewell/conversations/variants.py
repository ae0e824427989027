"""SQL dialects: the few places where Postgres and SQLite differ, for a connection that is in a transaction."""

import hashlib
from datetime import UTC, datetime

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

_CLOCK = sa.select(sa.func.clock_timestamp())
_LOCK = sa.select(sa.func.pg_advisory_xact_lock(sa.bindparam("key", type_=sa.BigInteger)))


def now(connection: sa.Connection) -> datetime:
    """The database's clock, so that servers whose clocks differ agree on an order."""
    if connection.dialect.name == "postgresql":
        moment: datetime = connection.execute(_CLOCK).scalar_one()
        return moment
    return datetime.now(UTC)


def enter_session(connection: sa.Connection, session_id: str) -> None:
    """Wait until no other transaction saves to or deletes this session.

    On SQLite a transaction that writes is alone already.
    """
    if connection.dialect.name == "postgresql":
        key = int.from_bytes(hashlib.sha256(session_id.encode()).digest()[:8], signed=True)
        # Ends with the transaction, so it works behind a transaction pooler.
        connection.execute(_LOCK, {"key": key})


def insert_into(dialect: str, table: sa.Table) -> postgresql.Insert | sqlite.Insert:
    """An insert that knows ON CONFLICT."""
    return postgresql.insert(table) if dialect == "postgresql" else sqlite.insert(table)
