"""A SQLite file that is damaged, gone or cannot be written: said as what it is, and seen by the next ping."""

import random
import sqlite3
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path

import pytest

from citewell.conversations import Address, new_session_id
from citewell.conversations.migrations import migrate
from citewell.conversations.store import ConversationStore
from citewell.errors import DatabaseDamagedError, DatabaseError
from tests.integration.turns import a_question, an_answer


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "with space % and ü" / "conversations.sqlite3"


@pytest.fixture
async def store(file: Path) -> AsyncIterator[ConversationStore]:
    """With some turns, and connections that hold the pages they have read."""
    address = Address("sqlite", str(file))
    await migrate(address)
    async with ConversationStore.open(address) as opened:
        for _ in range(30):
            session = new_session_id()
            await opened.history(session, limit_messages=10)
            await opened.save(a_question(session), an_answer(session))
        await opened.ping()
        settle(file)
        yield opened


def settle(file: Path) -> None:
    """Into the file itself: what stands in the log beside it cannot be lost by damage here."""
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def overwrite(file: Path, *, after: int = 0) -> bytes:
    """Put noise in place of what was there, which is returned."""
    with file.open("r+b") as opened:
        before = opened.read()
        opened.seek(after)
        opened.write(random.Random(1).randbytes(len(before) - after))
    return before


def restore(file: Path, content: bytes) -> None:
    file.parent.mkdir(exist_ok=True)
    file.touch()
    with file.open("r+b") as opened:
        opened.write(content)


def move_away(file: Path) -> None:
    file.rename(file.with_suffix(".away"))


def exists(file: Path) -> bool:
    return file.exists()


def truncate(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.truncate(100)


@pytest.mark.parametrize("after", [0, 3 * 4096])
async def test_a_ping_sees_a_file_overwritten_under_open_connections(
    store: ConversationStore, file: Path, after: int
) -> None:
    overwrite(file, after=after)
    with pytest.raises(DatabaseDamagedError, match=r"is damaged.*backup"):
        await store.ping()
    with pytest.raises(DatabaseDamagedError):
        await store.ping()


async def test_once_damage_was_met_no_turn_is_acknowledged(store: ConversationStore, file: Path) -> None:
    overwrite(file)
    with pytest.raises(DatabaseDamagedError):
        await store.ping()
    session = new_session_id()
    with pytest.raises(DatabaseDamagedError):
        await store.save(a_question(session), an_answer(session))


async def test_a_ping_sees_a_file_cut_short(store: ConversationStore, file: Path) -> None:
    truncate(file)
    with pytest.raises(DatabaseDamagedError):
        await store.ping()


async def test_a_ping_sees_that_the_file_is_gone_and_makes_no_new_one(store: ConversationStore, file: Path) -> None:
    move_away(file)
    with pytest.raises(DatabaseError, match="cannot be opened"):
        await store.ping()
    assert not exists(file)


async def test_a_file_made_whole_again_is_found_whole(store: ConversationStore, file: Path) -> None:
    with closing(sqlite3.connect(file)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    sound = overwrite(file)
    with pytest.raises(DatabaseDamagedError):
        await store.ping()
    restore(file, sound)
    await store.ping()
    session = new_session_id()
    await store.save(a_question(session), an_answer(session))
    await store.ping()


async def test_a_file_that_is_no_database_is_said_to_be_damaged_not_away(file: Path) -> None:
    restore(file, b"no database at all" * 1000)
    address = Address("sqlite", str(file))
    with pytest.raises(DatabaseDamagedError, match="is damaged") as caught:
        await migrate(address)
    assert "moment" not in str(caught.value)
    async with ConversationStore.open(address) as store:
        with pytest.raises(DatabaseDamagedError):
            await store.history(new_session_id(), limit_messages=10)


async def test_a_folder_in_the_place_of_the_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(DatabaseError, match=f"{tmp_path} cannot be opened"):
        await migrate(Address("sqlite", str(tmp_path)))


async def test_a_file_that_cannot_be_made_is_named_with_the_remedy(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DatabaseError, match=r"cannot be made: .*CITEWELL_DATA_DIR"):
        await migrate(Address("sqlite", str(tmp_path / "file" / "conversations.sqlite3")))
