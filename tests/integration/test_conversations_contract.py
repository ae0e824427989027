"""What a conversation store promises, on SQLite and on a real Postgres."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa

from citewell.conversations import Address, Turn, new_session_id
from citewell.conversations.database import Database
from citewell.conversations.migrations import migrate
from citewell.conversations.schema import conversations, deleted_sessions
from citewell.conversations.store import ConversationStore
from citewell.errors import DatabaseError, InvalidInputError, InvalidSessionError, NotFoundError
from citewell.values import Answer, Message, SelectionSpan
from tests.integration.turns import PASSAGE, a_question, an_answer
from tests.support.toy_book import UNHURRIED


@pytest.fixture
async def address(empty_address: Address) -> Address:
    await migrate(empty_address)
    return empty_address


@pytest.fixture
async def store(address: Address) -> AsyncIterator[ConversationStore]:
    async with ConversationStore.open(address, UNHURRIED) as store:
        yield store


async def ask(store: ConversationStore, session_id: str, text: str, *, elapsed_ms: float = 0.0) -> Answer:
    answer = an_answer(session_id, f"Answer to {text}", elapsed_ms=elapsed_ms)
    await store.save(a_question(session_id, text), answer)
    return answer


async def questions_of(store: ConversationStore, session_id: str) -> list[str]:
    return [turn.question for turn in (await store.session(session_id, limit=1000)).turns]


async def age(address: Address, session_id: str, days: float) -> None:
    """Let a session be as old as if it had been asked then."""
    async with Database.open(address, UNHURRIED) as database:
        then = datetime.now(UTC) - timedelta(days=days)
        change = sa.update(conversations).where(conversations.c.session_id == session_id).values(created_at=then)
        await database.write(lambda connection: connection.execute(change))


async def rows_in(address: Address, table: sa.Table) -> int:
    async with Database.open(address, UNHURRIED) as database:
        count = sa.select(sa.func.count()).select_from(table)
        return await database.read(lambda connection: connection.execute(count).scalar_one())


async def test_an_answer_comes_back_as_it_was(store: ConversationStore) -> None:
    session_id = new_session_id()
    question = replace(a_question(session_id), mode="selected_text", selection="Build it.\nThen run it.")
    answer = an_answer(session_id, elapsed_ms=12.345678901234567)
    cited = replace(answer.citations[0], number=2, score=1e-17, span=SelectionSpan(0, 9, 1, 1))
    answer = replace(
        answer,
        mode="selected_text",
        citations=(*answer.citations, cited),
        low_confidence=True,
        conflicting_info=True,
        deterministic=False,
        refusal_reason="nothing found",
        fallback_message="The model is away.",
    )

    await store.save(question, answer)

    (turn,) = (await store.session(session_id)).turns
    assert turn.answer == answer
    assert (turn.question, turn.selection, turn.request_id) == (question.text, question.selection, "req-1")
    assert (turn.complete, turn.vote, turn.sequence) == (True, None, 1)
    assert turn.id == answer.id


@pytest.mark.parametrize(
    "text",
    [
        "مرحبا ‏(RTL)‏ שלום",
        "👩‍👩‍👧‍👦 🏳️‍🌈 🇪🇺 \U0010ffff",
        "e\u0301 \u2028 \u2029 \ufeff \x01 \x7f",
        "'; DROP TABLE conversations; -- %s :name {braces} \\u0000",
        "字" * 10_000,
        "🙂" * 10_000,
    ],
    ids=["right-to-left", "emoji", "odd", "sql", "10,000 characters", "10,000 emoji"],
)
async def test_any_text_comes_back_as_it_was(store: ConversationStore, text: str) -> None:
    session_id = new_session_id()
    passage = replace(PASSAGE, text=text, page_title=text[:50], heading_path=(text[:50],))
    answer = an_answer(session_id, text)
    answer = replace(answer, citations=(replace(answer.citations[0], passage=passage, quote=text),))

    await store.save(replace(a_question(session_id, text[:2000]), selection=text), answer)
    await store.feedback(session_id, answer.id, "down", text[:2000])

    (turn,) = (await store.session(session_id)).turns
    assert (turn.question, turn.selection, turn.answer, turn.comment) == (text[:2000], text, answer, text[:2000])


@pytest.mark.parametrize("bad", ["a\x00b", "a\ud800b", "\udfff"])
async def test_text_that_is_no_text_is_refused(store: ConversationStore, bad: str) -> None:
    session_id = new_session_id()
    question, answer = a_question(session_id), an_answer(session_id)
    quoted = replace(answer, citations=(replace(answer.citations[0], quote=bad),))
    for wrong_question, wrong_answer in (
        (replace(question, text=bad), answer),
        (replace(question, selection=bad), answer),
        (question, replace(answer, text=bad)),
        (question, quoted),
    ):
        with pytest.raises(InvalidInputError, match=r"not text: U\+(0000|D800|DFFF)"):
            await store.save(wrong_question, wrong_answer)
    await store.save(question, answer)
    with pytest.raises(InvalidInputError, match="comment"):
        await store.feedback(session_id, answer.id, "up", bad)
    assert len((await store.session(session_id)).turns) == 1


async def test_a_turn_that_is_saved_twice_is_there_once(store: ConversationStore) -> None:
    session_id = new_session_id()
    answer = an_answer(session_id)
    async with asyncio.TaskGroup() as group:
        for _ in range(5):
            group.create_task(store.save(a_question(session_id), answer))
    assert len((await store.session(session_id)).turns) == 1
    assert store.dropped_saves == 0


async def test_a_session_id_is_the_same_in_upper_case(store: ConversationStore) -> None:
    session_id = new_session_id()
    await ask(store, session_id.upper(), "one")
    assert await questions_of(store, session_id) == ["one"]
    assert await questions_of(store, session_id.upper()) == ["one"]


async def test_an_id_that_is_no_session_is_refused(store: ConversationStore) -> None:
    with pytest.raises(InvalidSessionError):
        await ask(store, "550e8400-e29b-41d4-a716-446655440000", "one")
    with pytest.raises(InvalidSessionError):
        await store.session("me")


async def test_history_is_the_last_whole_turns_oldest_first(store: ConversationStore) -> None:
    session_id = new_session_id()
    for text in ("one", "two", "three"):
        await ask(store, session_id, text)
    await ask(store, new_session_id(), "of somebody else")

    assert await store.history(session_id, limit_messages=5) == (
        Message("user", "two"),
        Message("assistant", "Answer to two"),
        Message("user", "three"),
        Message("assistant", "Answer to three"),
    )
    assert len(await store.history(session_id, limit_messages=10)) == 6
    assert await store.history(session_id, limit_messages=1) == ()
    assert await store.history(session_id, limit_messages=0) == ()
    assert await store.history(new_session_id(), limit_messages=10) == ()


async def test_history_stays_within_the_tokens(store: ConversationStore) -> None:
    session_id = new_session_id()
    for text in ("one", "word " * 5000, "three"):
        await ask(store, session_id, text)
    assert [m.content for m in await store.history(session_id, limit_messages=10)] == ["three", "Answer to three"]


async def test_an_answer_without_a_word_is_no_history(store: ConversationStore) -> None:
    session_id = new_session_id()
    await ask(store, session_id, "one")
    failed = replace(an_answer(session_id, ""), status="error", fallback_message="The model is away.")
    await store.save(a_question(session_id, "two"), failed)
    assert [m.content for m in await store.history(session_id, limit_messages=2)] == ["one", "Answer to one"]


async def test_what_a_reader_saw_before_leaving_is_kept_and_marked(store: ConversationStore) -> None:
    session_id = new_session_id()
    answer = an_answer(session_id, "Build it with")
    await store.save(a_question(session_id), answer, complete=False)
    (turn,) = (await store.session(session_id)).turns
    assert (turn.complete, turn.answer.text) == (False, "Build it with")
    assert await store.finished(answer.input_hash) is None


async def test_two_questions_at_once_stand_in_the_order_they_were_asked(store: ConversationStore) -> None:
    session_id = new_session_id()
    await ask(store, session_id, "asked second, answered first", elapsed_ms=100)
    await ask(store, session_id, "asked first, answered second", elapsed_ms=60_000)
    await ask(store, session_id, "asked third", elapsed_ms=0)
    assert await questions_of(store, session_id) == [
        "asked first, answered second",
        "asked second, answered first",
        "asked third",
    ]


async def test_a_session_is_read_in_pages_newest_last(store: ConversationStore) -> None:
    session_id = new_session_id()
    for n in range(7):
        await ask(store, session_id, str(n))

    newest = await store.session(session_id, limit=3)
    middle = await store.session(session_id, limit=3, before=newest.earlier)
    oldest = await store.session(session_id, limit=3, before=middle.earlier)

    assert [[t.question for t in page.turns] for page in (newest, middle, oldest)] == [
        ["4", "5", "6"],
        ["1", "2", "3"],
        ["0"],
    ]
    assert oldest.earlier is None
    assert [t.sequence for t in newest.turns] == [5, 6, 7]
    assert [t.question async for t in store.turns(session_id)] == [str(n) for n in range(7)]


async def test_pages_do_not_lose_turns_of_the_same_moment(store: ConversationStore, address: Address) -> None:
    session_id = new_session_id()
    for n in range(5):
        await ask(store, session_id, str(n))
    await age(address, session_id, days=1)

    newest = await store.session(session_id, limit=2)
    older = await store.session(session_id, limit=5, before=newest.earlier)

    assert [t.question for t in older.turns + newest.turns] == ["0", "1", "2", "3", "4"]


async def test_a_page_before_a_turn_that_is_not_there_is_not_found(store: ConversationStore) -> None:
    mine, other = new_session_id(), new_session_id()
    answer = await ask(store, other, "one")
    for turn_id in (answer.id, new_session_id(), "no-uuid", "a\x00b"):
        with pytest.raises(NotFoundError):
            await store.session(mine, before=turn_id)


async def test_a_deleted_session_is_gone(store: ConversationStore, address: Address) -> None:
    mine, other = new_session_id(), new_session_id()
    answer = await ask(store, mine, "one")
    await ask(store, mine, "two")
    await ask(store, other, "three")

    assert await store.delete_session(mine) == 2
    assert await store.delete_session(mine) == 0

    assert await questions_of(store, mine) == []
    assert await store.finished(answer.input_hash) is None
    assert await questions_of(store, other) == ["three"]
    with pytest.raises(NotFoundError):
        await store.feedback(mine, answer.id, "up")


@pytest.mark.fault("session deleted during its answer", "does not come back")
async def test_an_answer_that_was_under_way_at_the_deletion_does_not_come_back(store: ConversationStore) -> None:
    session_id = new_session_id()
    await store.delete_session(session_id)
    await ask(store, session_id, "asked before the deletion", elapsed_ms=5000)
    assert await questions_of(store, session_id) == []
    assert store.dropped_saves == 1


async def test_a_deleted_session_can_be_taken_up_again(store: ConversationStore, address: Address) -> None:
    session_id = new_session_id()
    await ask(store, session_id, "before")
    await store.delete_session(session_id)
    async with Database.open(address, UNHURRIED) as database:
        change = sa.update(deleted_sessions).values(deleted_at=datetime.now(UTC) - timedelta(seconds=60))
        await database.write(lambda connection: connection.execute(change))
    await ask(store, session_id, "asked before the deletion", elapsed_ms=61_000)
    await ask(store, session_id, "after", elapsed_ms=1000)
    assert await questions_of(store, session_id) == ["after"]


async def test_deleting_and_saving_at_once_leaves_nothing_that_was_asked_before(store: ConversationStore) -> None:
    session_id = new_session_id()
    async with asyncio.TaskGroup() as group:
        for n in range(10):
            group.create_task(ask(store, session_id, str(n), elapsed_ms=60_000))
        group.create_task(store.delete_session(session_id))
        for n in range(10):
            group.create_task(ask(store, session_id, str(n), elapsed_ms=60_000))
    assert await questions_of(store, session_id) == []


async def test_a_reader_votes_and_takes_it_back(store: ConversationStore) -> None:
    session_id = new_session_id()
    answer = await ask(store, session_id, "one")

    async def vote_of() -> Turn:
        return (await store.session(session_id)).turns[0]

    await store.feedback(session_id, answer.id.upper(), "down", "That is the old command.")
    voted = await vote_of()
    assert (voted.vote, voted.comment) == ("down", "That is the old command.")
    assert voted.voted_at is not None
    await store.feedback(session_id, answer.id, "up")
    assert ((await vote_of()).vote, (await vote_of()).comment) == ("up", None)
    await store.feedback(session_id, answer.id, None)
    assert (await vote_of()).vote is None


async def test_a_vote_on_the_turn_of_another_session_is_not_found(store: ConversationStore) -> None:
    answer = await ask(store, new_session_id(), "one")
    for turn_id in (answer.id, new_session_id(), "1"):
        with pytest.raises(NotFoundError):
            await store.feedback(new_session_id(), turn_id, "down")


async def test_a_finished_answer_is_given_again_and_belongs_to_nobody(store: ConversationStore) -> None:
    first, second = new_session_id(), new_session_id()
    answer = an_answer(first)
    await store.save(a_question(first), answer)
    await store.save(a_question(second), replace(an_answer(second, "Another."), input_hash=answer.input_hash))

    again = await store.finished(answer.input_hash)

    assert again is not None
    assert again.id not in ("", answer.id)
    assert again.session_id == ""
    assert replace(again, id=answer.id, session_id=first) == answer
    assert await store.finished("ff") is None
    assert await store.finished("") is None


async def test_an_answer_given_again_is_a_turn_of_its_own(store: ConversationStore) -> None:
    first, second = new_session_id(), new_session_id()
    answer = await ask(store, first, "How?")
    asked = replace(a_question(second.upper(), "How, again?"), selection="the build", request_id="req-2")

    again = await store.save_again(asked, answer.input_hash, elapsed_ms=12.5)

    assert again is not None
    assert again.id != answer.id
    assert replace(answer, id=again.id, session_id=second, elapsed_ms=12.5) == again
    (turn,) = (await store.session(second)).turns
    assert turn.answer == again
    assert (turn.question, turn.selection, turn.request_id) == ("How, again?", "the build", "req-2")
    assert (turn.complete, turn.sequence) == (True, 1)
    assert await questions_of(store, first) == ["How?"]


async def test_however_often_it_was_given_it_is_the_first_answer_that_is_given_again(store: ConversationStore) -> None:
    first, session_id = new_session_id(), new_session_id()
    answer = await ask(store, first, "How?")
    await store.save(a_question(first), replace(an_answer(first, "Another."), input_hash=answer.input_hash))
    for _ in range(3):
        again = await store.save_again(a_question(session_id), answer.input_hash, elapsed_ms=1.0)
        assert again is not None
        assert again.text == answer.text
    assert [turn.sequence for turn in (await store.session(session_id)).turns] == [1, 2, 3]


async def test_what_was_never_answered_is_not_given_again(store: ConversationStore) -> None:
    session_id = new_session_id()
    left = an_answer(session_id)
    await store.save(a_question(session_id), left, complete=False)
    for input_hash in ("", "ff", left.input_hash):
        assert await store.save_again(a_question(session_id), input_hash, elapsed_ms=1.0) is None
    assert len((await store.session(session_id)).turns) == 1


async def test_an_answer_that_another_process_deleted_is_not_given_again(
    store: ConversationStore, address: Address
) -> None:
    first, second = new_session_id(), new_session_id()
    answer = await ask(store, first, "How?")
    assert await store.save_again(a_question(second), answer.input_hash, elapsed_ms=1.0) is not None
    async with ConversationStore.open(address, UNHURRIED) as other:
        await other.delete_session(first)
        await other.delete_session(second)
    assert await store.save_again(a_question(new_session_id()), answer.input_hash, elapsed_ms=1.0) is None


async def test_an_answer_given_again_after_its_session_was_deleted_is_not_saved(store: ConversationStore) -> None:
    first, deleted = new_session_id(), new_session_id()
    answer = await ask(store, first, "How?")
    await store.delete_session(deleted)
    again = await store.save_again(a_question(deleted), answer.input_hash, elapsed_ms=5000.0)
    assert again is not None
    assert again.text == answer.text
    assert await questions_of(store, deleted) == []
    assert store.dropped_saves == 1


async def test_a_question_that_is_no_text_is_refused_before_an_answer_is_given_again(store: ConversationStore) -> None:
    session_id = new_session_id()
    answer = await ask(store, session_id, "How?")
    await store.save_again(a_question(session_id), answer.input_hash, elapsed_ms=1.0)
    with pytest.raises(InvalidInputError):
        await store.save_again(a_question(session_id, "a\0b"), answer.input_hash, elapsed_ms=1.0)


async def test_an_answer_without_its_model_is_not_given_again(store: ConversationStore) -> None:
    session_id = new_session_id()
    answer = replace(an_answer(session_id, ""), fallback_message="The model is away.")
    await store.save(a_question(session_id), answer)
    assert await store.finished(answer.input_hash) is None


async def test_what_is_older_than_its_days_is_purged(store: ConversationStore, address: Address) -> None:
    old, young = new_session_id(), new_session_id()
    for n in range(7):
        await ask(store, old, str(n))
    await age(address, old, days=31)
    await ask(store, young, "young")

    assert await store.purge(30, batch=3) == 7
    assert await store.purge(30, batch=3) == 0

    assert await questions_of(store, old) == []
    assert await questions_of(store, young) == ["young"]


async def test_several_workers_may_purge_at_once(store: ConversationStore, address: Address) -> None:
    old = new_session_id()
    for n in range(20):
        await ask(store, old, str(n))
    await age(address, old, days=31)
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(store.purge(30, batch=3)) for _ in range(4)]
    assert sum(task.result() for task in tasks) == 20


async def test_the_memory_of_deletions_is_purged_when_it_is_of_no_more_use(
    store: ConversationStore, address: Address
) -> None:
    await store.delete_session(new_session_id())
    await store.purge(30)
    assert await rows_in(address, deleted_sessions) == 1
    async with Database.open(address, UNHURRIED) as database:
        change = sa.update(deleted_sessions).values(deleted_at=datetime.now(UTC) - timedelta(days=2))
        await database.write(lambda connection: connection.execute(change))
    await store.purge(30)
    assert await rows_in(address, deleted_sessions) == 0


async def test_the_author_reads_what_was_asked_without_sessions(store: ConversationStore, address: Address) -> None:
    session_id = new_session_id()
    await ask(store, session_id, "too old")
    await age(address, session_id, days=40)
    refused = replace(an_answer(session_id), status="refused", refusal_reason="not in the book", confidence=0.2)
    await store.save(a_question(session_id, "What is love?"), refused)
    await store.feedback(session_id, refused.id, "down", "hm")

    entries = [entry async for entry in store.entries(since=datetime.now(UTC) - timedelta(days=30))]

    (entry,) = entries
    assert (entry.question, entry.status, entry.refusal_reason) == ("What is love?", "refused", "not in the book")
    assert (entry.confidence, entry.vote, entry.comment) == (0.2, "down", "hm")


async def test_the_author_reads_all_of_a_long_list(store: ConversationStore, address: Address) -> None:
    session_id = new_session_id()
    await ask(store, session_id, "0")
    async with Database.open(address, UNHURRIED) as database:
        first = sa.select(conversations)
        copied = await database.read(lambda connection: connection.execute(first).mappings().one())
        many = [{**copied, "id": new_session_id(), "query": str(n)} for n in range(1, 1203)]
        await database.write(lambda connection: connection.execute(sa.insert(conversations), many))
    asked = [entry.question async for entry in store.entries(since=datetime.now(UTC) - timedelta(days=1))]
    assert sorted(asked, key=int) == [str(n) for n in range(1203)]


@pytest.mark.slow
async def test_twenty_sessions_of_fifty_turns_at_once_are_all_there_in_order(store: ConversationStore) -> None:
    sessions = [new_session_id() for _ in range(20)]

    async def converse(session_id: str) -> None:
        for n in range(50):
            await store.history(session_id, limit_messages=10)
            await ask(store, session_id, str(n))

    async with asyncio.TaskGroup() as group:
        for session_id in sessions:
            group.create_task(converse(session_id))

    for session_id in sessions:
        turns = (await store.session(session_id, limit=100)).turns
        assert [turn.question for turn in turns] == [str(n) for n in range(50)]
        assert [turn.sequence for turn in turns] == list(range(1, 51))


async def test_a_call_that_is_cancelled_leaves_the_store_usable(store: ConversationStore) -> None:
    session_id = new_session_id()
    for n in range(20):
        task = asyncio.create_task(ask(store, session_id, str(n)))
        for _ in range(n):
            await asyncio.sleep(0)
        task.cancel()
        await asyncio.wait([task])
    await ask(store, session_id, "last")
    assert (await questions_of(store, session_id))[-1] == "last"


def make_empty_file(path: Path) -> None:
    path.parent.mkdir()
    path.touch()


async def test_a_database_that_was_not_migrated_says_so(empty_address: Address) -> None:
    async with ConversationStore.open(empty_address, UNHURRIED) as store:
        if empty_address.kind == "sqlite":
            make_empty_file(Path(empty_address.location))
        with pytest.raises(DatabaseError, match="has not been migrated"):
            await store.ping()


async def test_a_store_answers_its_health_probe(store: ConversationStore) -> None:
    await store.ping()


async def test_a_session_is_its_owners_alone(store: ConversationStore) -> None:
    """Two keys that use the same id have two conversations."""
    session_id = new_session_id()
    for owner in ("a", "b"):
        question = replace(a_question(session_id, f"Asked by {owner}?"), owner=owner)
        await store.save(question, an_answer(session_id, f"Answer to {owner}"))
    page = await store.session(session_id, owner="a")
    assert [turn.question for turn in page.turns] == ["Asked by a?"]
    assert [turn.sequence for turn in page.turns] == [1]
    history = await store.history(session_id, owner="b", limit_messages=10)
    assert [message.content for message in history] == ["Asked by b?", "Answer to b"]
    assert (await store.session(session_id)).turns == ()
    with pytest.raises(NotFoundError):
        await store.feedback(session_id, page.turns[0].id, "up", owner="b")
    with pytest.raises(NotFoundError):
        await store.session(session_id, owner="b", before=page.turns[0].id)
    assert await store.delete_session(session_id, owner="a") == 1
    assert len((await store.session(session_id, owner="b")).turns) == 1


async def test_a_ping_writes(store: ConversationStore, address: Address) -> None:
    """A database that can only be read serves no question: each is saved before it is acknowledged."""
    await store.ping()
    await store.ping()
    assert await rows_in(address, deleted_sessions) == 1


async def test_what_the_hosted_model_cost_is_added_up_by_day_and_key(store: ConversationStore) -> None:
    await asyncio.gather(*(store.add_model_use(owner, calls=1, tokens=100) for owner in ("a", "b", "a")))
    yesterday = datetime.now(UTC) - timedelta(days=1)
    found = await store.model_days(since=yesterday)
    assert [(used.owner, used.calls, used.tokens) for used in found] == [("a", 2, 200), ("b", 1, 100)]
    await store.purge(-2)
    assert await store.model_days(since=yesterday) == []
