"""Postgres killed, frozen and restarted under load: calls end in time, and what was acknowledged is there, once."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from citewell.conversations import Address, address_of, new_session_id
from citewell.conversations.migrations import migrate
from citewell.conversations.store import ConversationStore
from citewell.conversations.transactions import Bounds
from citewell.errors import DatabaseError
from tests.integration.postgres import Postgres
from tests.integration.turns import a_question, an_answer
from tests.support.toy_book import UNHURRIED

READERS = 12
BOUNDS = Bounds(connect=0.7, statements=0.7, call=1.5, close=0.5)


@dataclass
class Load:
    """Readers who ask all the time; `answered` and `failed` wake whoever waits for all of them to have met one."""

    store: ConversationStore
    acknowledged: dict[str, list[str]] = field(default_factory=dict)
    outcomes: asyncio.Condition = field(default_factory=asyncio.Condition)
    answered: set[str] = field(default_factory=set)
    failed: set[str] = field(default_factory=set)
    over: bool = False

    async def reader(self, session_id: str) -> None:
        self.acknowledged[session_id] = []
        while not self.over:
            answer = an_answer(session_id)
            try:
                await self.store.history(session_id, limit_messages=10)
                await self.store.save(a_question(session_id), answer)
            except DatabaseError:
                met = self.failed
                await asyncio.sleep(0.05)  # as a client does before it tries again
            else:
                met = self.answered
                self.acknowledged[session_id].append(answer.id)
            async with self.outcomes:
                met.add(session_id)
                self.outcomes.notify_all()

    async def all_answered(self) -> None:
        await self._all(self.answered)

    async def all_failed(self) -> None:
        await self._all(self.failed)

    async def _all(self, met: set[str]) -> None:
        async with self.outcomes:
            met.clear()
            await self.outcomes.wait_for(lambda: len(met) == READERS)


@asynccontextmanager
async def load_on(store: ConversationStore) -> AsyncIterator[Load]:
    load = Load(store)
    async with asyncio.TaskGroup() as group:
        for _ in range(READERS):
            group.create_task(load.reader(new_session_id()))
        await load.all_answered()
        yield load
        load.over = True


async def check_that_nothing_is_lost(load: Load) -> None:
    for session_id, acknowledged in load.acknowledged.items():
        stored = [turn.id async for turn in load.store.turns(session_id)]
        assert len(stored) == len(set(stored))
        # A save whose acknowledgement was lost may be there too.
        assert [turn_id for turn_id in stored if turn_id in set(acknowledged)] == acknowledged


@pytest.fixture(scope="module")
def server(start_postgres: Callable[[], Postgres]) -> Postgres:
    return start_postgres()


@pytest.fixture
async def address(server: Postgres, tmp_path: Path) -> Address:
    address = address_of(server.new_database(), tmp_path)
    await migrate(address)
    return address


@pytest.mark.fault("Postgres frozen", "an error in time, and served again when it thaws")
async def test_a_frozen_postgres(server: Postgres, address: Address) -> None:
    async with ConversationStore.open(address, BOUNDS) as store, load_on(store) as load:
        server.freeze()
        await load.all_failed()
        server.thaw()
        await load.all_answered()
    async with ConversationStore.open(address, UNHURRIED) as load.store:
        await check_that_nothing_is_lost(load)


@pytest.mark.fault("Postgres killed", "an error at once, and served again")
async def test_a_killed_postgres(server: Postgres, address: Address) -> None:
    async with ConversationStore.open(address, BOUNDS) as store, load_on(store) as load:
        await asyncio.to_thread(server.kill)
        await load.all_failed()
        await asyncio.to_thread(server.start)
        await load.all_answered()
    async with ConversationStore.open(address, UNHURRIED) as load.store:
        await check_that_nothing_is_lost(load)


@pytest.mark.fault("Postgres restarted", "nobody notices")
async def test_a_restarted_postgres(server: Postgres, address: Address) -> None:
    async with ConversationStore.open(address, BOUNDS) as store, load_on(store) as load:
        await asyncio.to_thread(server.restart)
        await load.all_answered()
    async with ConversationStore.open(address, UNHURRIED) as load.store:
        await check_that_nothing_is_lost(load)


async def test_a_connection_that_broke_while_idle_is_replaced_without_an_error(
    server: Postgres, address: Address
) -> None:
    session_id = new_session_id()
    async with ConversationStore.open(address, UNHURRIED) as store:
        await store.save(a_question(session_id), an_answer(session_id))
        await asyncio.to_thread(server.restart)
        await store.save(a_question(session_id), an_answer(session_id))
        assert len((await store.session(session_id)).turns) == 2


async def test_a_database_that_is_not_there_is_told_at_once(tmp_path: Path) -> None:
    nowhere = address_of(f"postgresql://reader:secret@/book?host={tmp_path}", tmp_path)
    async with ConversationStore.open(nowhere) as store:
        with pytest.raises(DatabaseError) as caught:
            await store.ping()
    assert "secret" not in str(caught.value)


async def test_closing_does_not_wait_for_a_frozen_server(server: Postgres, address: Address) -> None:
    async with ConversationStore.open(address, replace(UNHURRIED, close=0.5)) as store:
        await store.ping()
        server.freeze()
    server.thaw()


@pytest.mark.fault("SQLite locked", "told in time, used again when free")
async def test_a_locked_file_is_told_in_time_and_used_again_when_free(tmp_path: Path) -> None:
    address = address_of(None, tmp_path)
    await migrate(address)
    session_id = new_session_id()
    async with ConversationStore.open(address, Bounds(statements=4.0, call=60.0)) as store:
        other = sqlite3.connect(address.location, isolation_level=None)
        other.execute("BEGIN EXCLUSIVE")
        with pytest.raises(DatabaseError):
            await store.save(a_question(session_id), an_answer(session_id))
        assert (await store.session(session_id)).turns == ()
        other.execute("ROLLBACK")
        other.close()
        await store.save(a_question(session_id), an_answer(session_id))
        assert len((await store.session(session_id)).turns) == 1
