"""The database brought forward: from nothing, from the plain table of the data model, from every older revision."""

import asyncio
import json
import sqlite3
import stat
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest
import sqlalchemy as sa
from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext

from citewell.conversations import Address, address_of, migrations, new_session_id
from citewell.conversations.database import Database
from citewell.conversations.migrations import migrate
from citewell.conversations.schema import metadata
from citewell.conversations.sqlite import _write_ahead
from citewell.conversations.store import ConversationStore
from citewell.errors import DatabaseError
from tests.integration.postgres import Postgres
from tests.integration.turns import a_question, an_answer
from tests.support.toy_book import UNHURRIED

NEWEST = "0006"

PLAIN_POSTGRES = """
CREATE TABLE IF NOT EXISTS conversations (
    id UUID PRIMARY KEY DEFAULT gen_random_uuid(),
    session_id VARCHAR(36) NOT NULL,
    query TEXT NOT NULL,
    response TEXT NOT NULL,
    sources JSONB NOT NULL,
    mode VARCHAR(20) NOT NULL,
    selected_text TEXT,
    chunks_retrieved INTEGER NOT NULL,
    latency_ms FLOAT NOT NULL,
    created_at TIMESTAMP WITH TIME ZONE DEFAULT NOW()
);
CREATE INDEX idx_conversations_session_id ON conversations(session_id);
CREATE INDEX idx_conversations_session_created ON conversations(session_id, created_at DESC)
"""
PLAIN_SQLITE = (
    PLAIN_POSTGRES.replace("UUID PRIMARY KEY DEFAULT gen_random_uuid()", "TEXT PRIMARY KEY")
    .replace("JSONB", "TEXT")
    .replace("NOW()", "CURRENT_TIMESTAMP")
)


async def run(address: Address, *statements: str) -> None:
    def work(connection: sa.Connection) -> None:
        for statement in statements:
            connection.exec_driver_sql(statement)

    if address.kind == "sqlite":
        Path(address.location).parent.mkdir(exist_ok=True)
    async with Database.open(address, UNHURRIED) as database:
        await database.write(work)


async def make_plain(address: Address) -> None:
    await run(address, *(PLAIN_SQLITE if address.kind == "sqlite" else PLAIN_POSTGRES).split(";"))


def shape(connection: sa.Connection) -> dict[str, object]:
    """Names, types and nullability of the columns, and the indexes, as the database tells them."""
    inspector = sa.inspect(connection)
    found: dict[str, object] = {}
    for table in sorted(set(inspector.get_table_names()) - {"alembic_version"}):
        for column in inspector.get_columns(table):
            kind = (
                column["type"].as_generic(allow_nulltype=True)
                if connection.dialect.name == "sqlite"
                else column["type"]
            )
            found[f"{table}.{column['name']}"] = (repr(kind), column["nullable"])
        for index in inspector.get_indexes(table):
            found[f"{table}:{index['name']}"] = (index["column_names"], index.get("column_sorting"))
    return found


async def shape_of(address: Address) -> dict[str, object]:
    async with Database.open(address, UNHURRIED) as database:
        return await database.read(shape)


async def shape_of_the_tables(address: Address) -> dict[str, object]:
    """What the code expects to find, made on the same database and rolled back by dropping it."""

    def work(connection: sa.Connection) -> dict[str, object]:
        metadata.drop_all(connection)
        metadata.create_all(connection)
        return shape(connection)

    async with Database.open(address, UNHURRIED) as database:
        return await database.write(work)


async def revision_of(address: Address) -> str | None:
    async with Database.open(address, UNHURRIED) as database:
        return await database.read(lambda connection: MigrationContext.configure(connection).get_current_revision())


async def test_a_new_database_has_the_tables_that_the_code_expects(empty_address: Address) -> None:
    await migrate(empty_address)
    assert await revision_of(empty_address) == NEWEST
    assert await shape_of(empty_address) == await shape_of_the_tables(empty_address)


async def test_a_new_database_has_the_columns_and_indexes_of_the_plain_table(
    postgres: Postgres, tmp_path: Path
) -> None:
    def defaults(connection: sa.Connection) -> dict[str, object]:
        columns = sa.inspect(connection).get_columns("conversations")
        return {column["name"]: column["default"] for column in columns if column["default"]}

    plain, new = (address_of(postgres.new_database(), tmp_path) for _ in range(2))
    await make_plain(plain)
    await migrate(new)
    assert (await shape_of(plain)).items() <= (await shape_of(new)).items()
    async with Database.open(plain) as old, Database.open(new) as fresh:
        wanted = await old.read(defaults)
        assert wanted.items() <= (await fresh.read(defaults)).items()


async def test_the_plain_table_is_adopted_with_its_rows(empty_address: Address) -> None:
    await make_plain(empty_address)
    session_id = new_session_id()
    sources = json.dumps(
        [
            {
                "source_url": "https://book.example/build",
                "page_title": "Build",
                "section_heading": "Building",
                "chunk_text": "Run colcon build.",
                "relevance_score": 0.5,
            }
        ]
    )
    for n in range(3):
        await run(
            empty_address,
            "INSERT INTO conversations"
            " (id, session_id, query, response, sources, mode, chunks_retrieved, latency_ms, created_at) VALUES"
            f" ('0000000{n}-0000-4000-8000-000000000000', '{session_id}', 'old {n}', 'yes', '{sources}', 'general',"
            " 5, 12.5, '2025-12-16 10:00:00')",
        )

    await migrate(empty_address)
    async with ConversationStore.open(empty_address, UNHURRIED) as store:
        await store.save(a_question(session_id, "new"), an_answer(session_id))
        newest = await store.session(session_id, limit=2)
        older = await store.session(session_id, limit=2, before=newest.earlier)

        assert [turn.question for turn in older.turns + newest.turns] == ["old 0", "old 1", "old 2", "new"]
        (citation,) = older.turns[0].answer.citations
        assert (citation.quote, citation.score, citation.passage.section_heading) == (
            "Run colcon build.",
            0.5,
            "Building",
        )
        assert older.turns[0].asked_at.isoformat() == "2025-12-16T10:00:00+00:00"
        assert await store.purge(30) == 3
    assert {*await shape_of(empty_address)} == {*await shape_of_the_tables(empty_address)}


async def test_a_row_without_a_time_gets_one(empty_address: Address) -> None:
    await make_plain(empty_address)
    session_id = new_session_id()
    await run(
        empty_address,
        "INSERT INTO conversations"
        " (id, session_id, query, response, sources, mode, chunks_retrieved, latency_ms, created_at) VALUES"
        f" ('{new_session_id()}', '{session_id}', 'q', 'a', '[]', 'general', 0, 1, NULL)",
    )
    await migrate(empty_address)
    async with ConversationStore.open(empty_address, UNHURRIED) as store:
        (turn,) = (await store.session(session_id)).turns
        assert turn.asked_at is not None


async def test_an_older_revision_is_brought_forward(empty_address: Address) -> None:
    def to_the_first(connection: sa.Connection) -> None:
        config = Config()
        config.set_main_option("script_location", str(Path(migrations.__file__).parent))
        config.set_main_option("path_separator", "os")
        config.attributes["connection"] = connection
        command.upgrade(config, "0001")

    await run(empty_address)
    async with Database.open(empty_address, UNHURRIED) as database:
        await database.write(to_the_first)
    assert await revision_of(empty_address) != NEWEST
    await migrate(empty_address)
    assert await revision_of(empty_address) == NEWEST


async def test_migrating_again_changes_nothing(empty_address: Address) -> None:
    session_id = new_session_id()
    await migrate(empty_address)
    async with ConversationStore.open(empty_address, UNHURRIED) as store:
        await store.save(a_question(session_id), an_answer(session_id))
        await migrate(empty_address)
        assert len((await store.session(session_id)).turns) == 1


async def test_workers_that_start_together_may_all_migrate(empty_address: Address) -> None:
    async with asyncio.TaskGroup() as group:
        for _ in range(6):
            group.create_task(migrate(empty_address))
    assert await revision_of(empty_address) == NEWEST


def test_a_new_file_that_another_worker_prepares_is_waited_for(tmp_path: Path) -> None:
    def opened(barrier: threading.Barrier, file: Path) -> str:
        with closing(sqlite3.connect(file, isolation_level=None)) as connection:
            barrier.wait()
            _write_ahead(connection.cursor(), 60.0)
            return str(connection.execute("PRAGMA journal_mode").fetchone()[0])

    for number in range(40):
        opening = partial(opened, threading.Barrier(6), tmp_path / f"{number}.sqlite3")
        with ThreadPoolExecutor(6) as threads:
            assert {made.result() for made in [threads.submit(opening) for _ in range(6)]} == {"wal"}


async def test_a_database_of_a_newer_version_is_left_alone(empty_address: Address) -> None:
    await migrate(empty_address)
    await run(empty_address, "UPDATE alembic_version SET version_num = '9999'")
    assert await revision_of(empty_address) != NEWEST
    with pytest.raises(DatabaseError, match="newer version"):
        await migrate(empty_address)


async def test_the_folder_one_stands_in_does_not_matter(
    empty_address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "alembic.ini").write_text("[alembic]\nscript_location = elsewhere\n")
    monkeypatch.chdir(tmp_path)
    await migrate(empty_address)
    assert await revision_of(empty_address) == NEWEST


def test_the_file_of_an_embedded_store_is_its_owners_only(tmp_path: Path) -> None:
    address = address_of(None, tmp_path / "new" / "data 100%")
    asyncio.run(migrate(address))
    assert stat.S_IMODE(Path(address.location).stat().st_mode) == 0o600
