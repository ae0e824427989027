"""What a session is exported as, and what importing the package costs."""

import json
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from citewell.conversations import address_of, new_session_id
from citewell.conversations.author_report import report_of
from citewell.conversations.export import turn_line
from citewell.conversations.migrations import migrate
from citewell.conversations.store import ConversationStore
from tests.integration.turns import a_question, an_answer
from tests.support.toy_book import UNHURRIED


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[ConversationStore]:
    address = address_of(None, tmp_path)
    await migrate(address)
    async with ConversationStore.open(address, UNHURRIED) as store:
        yield store


async def test_a_session_is_exported_a_turn_a_line_oldest_first(store: ConversationStore) -> None:
    session_id = new_session_id()
    first, second = an_answer(session_id, "One\u2028line.", elapsed_ms=5), an_answer(session_id)
    await store.save(a_question(session_id, "first\nquestion"), first)
    await store.save(replace(a_question(session_id, "second"), selection="Selected."), second)
    await store.feedback(session_id, first.id, "down", "Hm.")

    lines = [turn_line(turn) async for turn in store.turns(session_id)]

    assert all(line.isascii() and "\n" not in line for line in lines)
    turns = [json.loads(line) for line in lines]
    assert [(t["query"], t["response"]) for t in turns] == [
        ("first\nquestion", "One\u2028line."),
        ("second", second.text),
    ]
    assert (turns[0]["feedback"], turns[0]["feedback_comment"], turns[1]["selected_text"]) == (
        "down",
        "Hm.",
        "Selected.",
    )
    assert turns[0]["sources"][0]["relevance_score"] == 0.8123456789012345
    assert turns[0]["session_id"] == session_id
    assert datetime.fromisoformat(turns[0]["created_at"]) < datetime.fromisoformat(turns[1]["created_at"])


async def test_a_session_that_is_not_there_has_no_turns(store: ConversationStore) -> None:
    assert [turn async for turn in store.turns(new_session_id())] == []


async def test_the_report_reads_the_store(store: ConversationStore) -> None:
    session_id = new_session_id()
    await store.save(a_question(session_id), an_answer(session_id))
    until = datetime.now(UTC) + timedelta(seconds=1)
    since = until - timedelta(days=7)
    report = report_of([entry async for entry in store.entries(since=since)], since=since, until=until)
    assert (report.questions, len(report.days)) == (1, 8)


def test_the_package_can_be_imported_without_sqlalchemy() -> None:
    """It takes a second to import; commands that need no database must not pay for it."""
    script = "import sys, citewell.conversations; print({'sqlalchemy', 'alembic', 'asyncpg'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
