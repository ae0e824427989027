"""ConversationStore: turns saved, read back, voted on, deleted and purged, the same on Postgres and SQLite.

Order and deletion go by the moment a question was asked, on the database's clock: now less the answer's `elapsed_ms`.
"""

import hashlib
import time
import uuid
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import cache, partial
from typing import Any, Self

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.sql.dml import ReturningInsert

from citewell.conversations import rows
from citewell.conversations.database import Database
from citewell.conversations.database_url import Address
from citewell.conversations.history import last_turns
from citewell.conversations.schema import conversations, deleted_sessions, model_use
from citewell.conversations.session_ids import session_id_of
from citewell.conversations.transactions import Bounds
from citewell.conversations.turns import AuthorEntry, ModelDay, Turn, TurnPage, Vote
from citewell.conversations.variants import enter_session, insert_into, now
from citewell.errors import InvalidInputError, NotFoundError
from citewell.logs import log, short
from citewell.values import Answer, Message, Question

_TOMBSTONES_KEPT = timedelta(days=1)  # no question takes longer
_BATCH = 500
_KNOWN_INPUTS = 1000
_PINGED = "ping"
"""A tombstone of no session: what a ping writes."""
_FIRST_ID = str(uuid.UUID(int=0))
_c = conversations.c

# Made once: making one costs more than running it.
_ANY_TURN = sa.select(_c.id).limit(1)
_LAST_TURNS = (
    sa.select(_c.query, _c.response)
    .where(_c.session_id == sa.bindparam("session_id"), _c.owner == sa.bindparam("owner"), _c.response != "")
    .order_by(_c.created_at.desc(), _c.sequence.desc())
    .limit(sa.bindparam("most", type_=sa.Integer))
)
_FIRST_ANSWER = (
    sa.select(*(_c[name] for name in rows.ANSWER_COLUMNS))
    .where(_c.input_hash == sa.bindparam("input_hash", type_=_c.input_hash.type))
    .where(_c.complete, _c.status != "error", _c.fallback_message.is_(None))
    .order_by(_c.created_at, _c.sequence, _c.id)
    .limit(1)
)
_ANSWERED = _FIRST_ANSWER.with_only_columns(_c.id)


class ConversationStore:
    """Raises DatabaseError when the database cannot be reached in time, never an error of a driver."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.dropped_saves = 0
        """Answers that came after their session had been deleted."""
        self._known_inputs: OrderedDict[str, None] = OrderedDict()
        """Inputs answered not long ago, so that it need not be asked first whether they were. No more than a hint."""

    @classmethod
    @asynccontextmanager
    async def open(cls, address: Address, bounds: Bounds | None = None) -> AsyncIterator[Self]:
        """No connection is made before the first call, so a server can start while its database is away."""
        async with Database.open(address, bounds) as database:
            yield cls(database)

    async def ping(self) -> None:
        """Look whether the conversations can be read and written, from the database itself."""
        await self._database.check()

        def work(connection: sa.Connection) -> None:
            connection.execute(_ANY_TURN).first()
            _bury(connection, _PINGED)

        await self._database.write(work)

    async def history(self, session_id: str, *, owner: str = "", limit_messages: int) -> tuple[Message, ...]:
        """The last whole turns, oldest first. Turns without a word of reply are left out."""
        values = {"session_id": session_id_of(session_id), "owner": owner, "most": limit_messages // 2}

        def work(connection: sa.Connection) -> list[Message]:
            found = connection.execute(_LAST_TURNS, values).all()
            return [m for q, r in reversed(found) for m in (Message("user", q), Message("assistant", r))]

        messages = await self._database.read(work) if limit_messages > 1 else []
        return last_turns(messages, limit_messages=limit_messages)

    async def save(self, question: Question, answer: Answer, *, complete: bool = True) -> None:
        """Save a turn once, however often it is called for the same answer id.

        `answer.elapsed_ms` must be the time since the question was asked: if the session was deleted in that time,
        nothing is saved.
        """
        asked = time.monotonic() - answer.elapsed_ms / 1000
        session_id = session_id_of(question.session_id)
        columns = rows.columns_of(replace(question, session_id=session_id), answer, complete=complete)
        columns["id"] = _turn_id(answer.id)

        def work(connection: sa.Connection) -> bool:
            inserted = _insert(connection, _turn_insert(connection.dialect.name), columns, asked)
            return inserted is not None or _is_stored(connection, columns["id"])

        if not await self._database.write(work):
            self._count_dropped(session_id)

    async def save_again(self, question: Question, input_hash: str, *, elapsed_ms: float) -> Answer | None:
        """Give the first whole answer to this very input again, saved as a turn of its own. None: there is none.

        The database copies the answer by itself, and what it gives is what it holds: an answer whose sessions were all
        deleted or purged is not given any more. `elapsed_ms` is what it is in `save`.
        """
        asked = time.monotonic() - elapsed_ms / 1000
        if not input_hash or not (input_hash in self._known_inputs or await self._has_answer(input_hash)):
            return None
        session_id = session_id_of(question.session_id)
        columns = rows.question_columns_of(replace(question, session_id=session_id))
        columns |= {"id": str(uuid.uuid4()), "latency_ms": elapsed_ms, "input_hash": input_hash}

        def work(connection: sa.Connection) -> tuple[Answer, bool] | None:
            row = _insert(connection, _turn_again(connection.dialect.name), columns, asked)
            if row is not None:
                return rows.answer_of(row), True
            first = connection.execute(_FIRST_ANSWER, {"input_hash": input_hash}).mappings().first()
            return None if first is None else (rows.answer_of(first), _is_stored(connection, columns["id"]))

        found = await self._database.write(work)
        self._know(input_hash, answered=found is not None)
        if found is None:
            return None
        answer, stored = found
        if not stored:
            self._count_dropped(session_id)
        return replace(answer, id=str(columns["id"]), session_id=session_id, elapsed_ms=elapsed_ms)

    async def _has_answer(self, input_hash: str) -> bool:
        return await self._database.read(lambda c: c.execute(_ANSWERED, {"input_hash": input_hash}).first() is not None)

    def _know(self, input_hash: str, *, answered: bool) -> None:
        self._known_inputs.pop(input_hash, None)
        if answered:
            self._known_inputs[input_hash] = None
        if len(self._known_inputs) > _KNOWN_INPUTS:
            self._known_inputs.popitem(last=False)

    def _count_dropped(self, session_id: str) -> None:
        self.dropped_saves += 1
        log("database", "dropped an answer after its session was deleted", session=short(session_id))

    async def session(
        self, session_id: str, *, owner: str = "", limit: int = 50, before: str | None = None
    ) -> TurnPage:
        """A page of the session, newest last: the newest turns, or those before the turn `before`.

        Raises NotFoundError when `before` is no turn of the session. A session that is not there, or is
        another owner's, is an empty page.
        """
        session_id = session_id_of(session_id)
        newest_first = (
            sa.select(conversations)
            .where(_c.session_id == session_id, _c.owner == owner)
            .order_by(_c.created_at.desc(), _c.sequence.desc())
            .limit(limit + 1)
        )

        def work(connection: sa.Connection) -> list[Turn]:
            query = newest_first
            if before is not None:
                query = query.where(_earlier_than(connection, session_id, owner, before))
            return [rows.turn_of(row) for row in connection.execute(query).mappings()]

        found = await self._database.read(work)
        turns = tuple(reversed(found[:limit]))
        return TurnPage(turns, earlier=turns[0].id if turns and len(found) > limit else None)

    async def turn(self, turn_id: str) -> Turn:
        """One whole answer by its id, which nobody can guess. Raises NotFoundError."""
        query = sa.select(conversations).where(_c.id == _known_turn_id(turn_id), _c.complete)
        row = await self._database.read(lambda connection: connection.execute(query).mappings().first())
        if row is None:
            raise NotFoundError("There is no such answer, or it is no longer kept.")
        return rows.turn_of(row)

    async def turns(self, session_id: str) -> AsyncIterator[Turn]:
        """Every turn of the session, oldest first, for an export."""
        pages: list[tuple[Turn, ...]] = []
        before: str | None = None
        while True:
            page = await self.session(session_id, limit=_BATCH, before=before)
            pages.append(page.turns)
            before = page.earlier
            if before is None:
                break
        for turns in reversed(pages):
            for turn in turns:
                yield turn

    async def delete_session(self, session_id: str, *, owner: str = "") -> int:
        """Delete every turn of the session, also those that are being answered now. The number of turns deleted."""
        session_id = session_id_of(session_id)
        tombstone = _session_hash(session_id, owner)

        def work(connection: sa.Connection) -> int:
            enter_session(connection, session_id)
            _bury(connection, tombstone)
            session = sa.delete(conversations).where(_c.session_id == session_id, _c.owner == owner)
            return connection.execute(session).rowcount

        return await self._database.write(work)

    async def feedback(
        self, session_id: str, turn_id: str, vote: Vote | None, comment: str | None = None, *, owner: str = ""
    ) -> None:
        """Set the reader's vote and comment; None takes them back. Raises NotFoundError when there is no such turn."""
        rows.check_text("comment", comment or "")
        session_id, turn = session_id_of(session_id), _known_turn_id(turn_id)

        def work(connection: sa.Connection) -> int:
            change = sa.update(conversations).where(_c.id == turn, _c.session_id == session_id, _c.owner == owner)
            values = {"feedback": vote, "feedback_comment": comment, "feedback_at": now(connection)}
            return connection.execute(change.values(values)).rowcount

        if not await self._database.write(work):
            raise NotFoundError("There is no such turn in this session.")

    async def purge(self, older_than_days: float, *, batch: int = _BATCH) -> int:
        """Delete what is older, a batch at a time so that nobody waits for it. The number of turns deleted."""
        today = await self._database.read(now)
        cutoff = today - timedelta(days=older_than_days)
        oldest = sa.select(_c.id).where(_c.created_at < cutoff).order_by(_c.created_at).limit(batch)
        # Several workers may purge at once, each other rows. SQLite, which has one writer, leaves this out.
        oldest = oldest.with_for_update(skip_locked=True)
        purge_batch = partial(_delete, statement=sa.delete(conversations).where(_c.id.in_(oldest)))
        purged = deleted = await self._database.write(purge_batch)
        while deleted == batch:
            deleted = await self._database.write(purge_batch)
            purged += deleted
        forgotten = deleted_sessions.c.deleted_at < today - _TOMBSTONES_KEPT
        await self._database.write(partial(_delete, statement=sa.delete(deleted_sessions).where(forgotten)))
        await self._database.write(
            partial(_delete, statement=sa.delete(model_use).where(model_use.c.day < cutoff.date()))
        )
        return purged

    async def finished(self, input_hash: str) -> Answer | None:
        """The first whole answer to this very input, to be given again. It belongs to nobody: its id is new and its
        `session_id` empty. Answers that the model's failure left without text do not count."""

        def work(connection: sa.Connection) -> Answer | None:
            row = connection.execute(_FIRST_ANSWER, {"input_hash": input_hash}).mappings().first()
            return None if row is None else rows.answer_of(row)

        answer = await self._database.read(work) if input_hash else None
        return None if answer is None else replace(answer, id=str(uuid.uuid4()), session_id="")

    async def entries(self, *, since: datetime) -> AsyncIterator[AuthorEntry]:
        """What readers asked since then, oldest first, for the author's report."""
        query = (
            sa.select(_c.id, *(_c[name] for name in rows.ENTRY_COLUMNS))
            .where(_c.created_at >= sa.bindparam("moment"))
            .where(sa.or_(_c.created_at > sa.bindparam("moment"), _c.id > sa.bindparam("id")))
            .order_by(_c.created_at, _c.id)
            .limit(_BATCH)
        )
        moment, last = since, _FIRST_ID
        while True:
            found = await self._database.read(partial(_select, query=query, moment=moment, id=last))
            for row in found:
                yield rows.entry_of(row)
            if len(found) < _BATCH:
                return
            moment, last = found[-1]["created_at"], found[-1]["id"]

    async def add_model_use(self, owner: str, *, calls: int, tokens: int) -> None:
        """What a question cost, added to the day and the key that asked."""

        def work(connection: sa.Connection) -> None:
            insert = insert_into(connection.dialect.name, model_use).values(
                day=now(connection).date(), owner=owner, calls=calls, tokens=tokens
            )
            added = {name: model_use.c[name] + insert.excluded[name] for name in ("calls", "tokens")}
            connection.execute(insert.on_conflict_do_update(index_elements=["day", "owner"], set_=added))

        await self._database.write(work)

    async def model_days(self, *, since: datetime) -> list[ModelDay]:
        """What the hosted model cost since that day, newest first."""
        query = sa.select(model_use).where(model_use.c.day >= since.date()).order_by(model_use.c.day.desc())
        found = await self._database.read(partial(_select, query=query.order_by(model_use.c.owner)))
        return [ModelDay(row["day"], row["owner"], row["calls"], row["tokens"]) for row in found]


def _bury(connection: sa.Connection, tombstone: str) -> None:
    deleted_at = now(connection)
    insert = insert_into(connection.dialect.name, deleted_sessions).values(
        session_hash=tombstone, deleted_at=deleted_at
    )
    connection.execute(insert.on_conflict_do_update(index_elements=["session_hash"], set_={"deleted_at": deleted_at}))


def _moment(connection: sa.Connection, asked: float) -> tuple[datetime, datetime]:
    """When it was `asked` (monotonic) on the database's clock: the earliest and the latest that it can have been.

    They differ by the time that reading the clock took. By the latest, a question that was asked after another had been
    saved stands after it, always. By the earliest, one that was asked before a deletion never comes back.
    """
    least = timedelta(seconds=time.monotonic() - asked)
    read = now(connection)
    most = timedelta(seconds=time.monotonic() - asked)
    return read - most, read - least


def _insert(
    connection: sa.Connection, statement: ReturningInsert[Any], columns: dict[str, object], asked: float
) -> sa.RowMapping | None:
    """The turn as it was inserted. None if it is there already, or its session was deleted after it was asked."""
    session_id = str(columns["session_id"])
    enter_session(connection, session_id)
    earliest, latest = _moment(connection, asked)
    tombstone = _session_hash(session_id, str(columns["owner"]))
    values = {**columns, "created_at": latest, "session_hash": tombstone, "earliest": earliest}
    return connection.execute(statement, values).mappings().first()


def _is_stored(connection: sa.Connection, turn_id: object) -> bool:
    return connection.execute(sa.select(_c.id).where(_c.id == turn_id)).first() is not None


@cache
def _turn_insert(dialect: str) -> ReturningInsert[Any]:
    values = {name: _given(name) for name in (*rows.COLUMNS, "created_at")}
    return _unless_deleted(dialect, values).returning(_c.id)


@cache
def _turn_again(dialect: str) -> ReturningInsert[Any]:
    """Copies the first answer to the same input, with the question, the session and the moment of now."""
    first = _FIRST_ANSWER.subquery("first")
    values: dict[str, sa.ColumnElement[Any]] = {name: first.c[name] for name in rows.ANSWER_COLUMNS}
    values |= {name: _given(name) for name in (*rows.QUESTION_COLUMNS, "id", "latency_ms", "created_at")}
    values["complete"] = sa.true()
    return _unless_deleted(dialect, values).returning(*(_c[name] for name in rows.ANSWER_COLUMNS))


def _given(name: str) -> sa.ColumnElement[Any]:
    return sa.bindparam(name, type_=_c[name].type)


def _unless_deleted(dialect: str, values: dict[str, sa.ColumnElement[Any]]) -> postgresql.Insert | sqlite.Insert:
    """Insert a turn once, with the next number of its session, unless that was deleted after the turn was asked."""
    sequence = sa.select(sa.func.coalesce(sa.func.max(_c.sequence), 0) + 1).where(
        _c.session_id == _given("session_id"), _c.owner == _given("owner")
    )
    deleted_since = sa.exists().where(
        deleted_sessions.c.session_hash == sa.bindparam("session_hash"),
        deleted_sessions.c.deleted_at >= sa.bindparam("earliest", type_=_c.created_at.type),
    )
    turn = sa.select(*values.values(), sequence.scalar_subquery()).where(~deleted_since)
    insert = insert_into(dialect, conversations).from_select([*values, "sequence"], turn)
    return insert.on_conflict_do_nothing(index_elements=["id"])


def _earlier_than(connection: sa.Connection, session_id: str, owner: str, turn_id: str) -> sa.ColumnElement[bool]:
    place = sa.select(_c.created_at, _c.sequence).where(
        _c.id == _known_turn_id(turn_id), _c.session_id == session_id, _c.owner == owner
    )
    row = connection.execute(place).first()
    if row is None:
        raise NotFoundError("There is no such turn in this session.")
    return sa.or_(_c.created_at < row[0], sa.and_(_c.created_at == row[0], _c.sequence < row[1]))


def _delete(connection: sa.Connection, statement: sa.Delete) -> int:
    return connection.execute(statement).rowcount


def _select(connection: sa.Connection, query: sa.Select[Any], **values: object) -> list[sa.RowMapping]:
    return list(connection.execute(query, values).mappings())


def _session_hash(session_id: str, owner: str) -> str:
    return hashlib.sha256(f"{session_id}{owner}".encode()).hexdigest()


def _turn_id(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise InvalidInputError("The id of an answer must be a UUID.", field="id") from None


def _known_turn_id(text: str) -> str:
    try:
        return str(uuid.UUID(text))
    except ValueError:
        raise NotFoundError("There is no such turn in this session.") from None
