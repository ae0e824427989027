"""The engine on real parts: Qdrant Edge, SQLite, the built-in embedder, and models behind real HTTP."""

import asyncio
import contextlib
import itertools
from pathlib import Path

import pytest

from citewell.answering.engine import EngineOptions
from citewell.answering.hosted_model import HostedModel
from citewell.answering.refusals import NOT_IN_BOOK, NOTHING_FOUND
from citewell.errors import DeadlineError, ModelError
from citewell.values import AnswerEvent, Completed, Failed, Message, PassagesFound, SearchStarted, TextReleased
from tests.support.model_server import CallTool, ModelServer, Play, Raw, Refuse, Say, Stall
from tests.support.toy_book import BATTERY, KINEMATICS, ToyBook, a_question, toy_book, write_index


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    asyncio.run(write_index(folder / "index"))
    return folder


async def events_of(book: ToyBook, text: str, **changes: object) -> list[AnswerEvent]:
    return [event async for event in book.engine.stream(a_question(text, **changes))]


def shown(events: list[AnswerEvent]) -> str:
    return "".join(e.text for e in events if isinstance(e, TextReleased))


@contextlib.asynccontextmanager
async def model(data: Path, *plays: Play, **kwargs: object):  # type: ignore[no-untyped-def] # a test's shorthand
    async with ModelServer(plays).running() as server:
        hosted = HostedModel(f"m{next(COUNT)}", server.url, "key")
        async with toy_book(data, model=hosted, **kwargs) as book:  # type: ignore[arg-type] # passed on
            yield book, server


COUNT = itertools.count()


async def test_a_question_is_searched_answered_cited_and_saved_in_that_order(data: Path) -> None:
    async with toy_book(data) as book:
        events = await events_of(book, "What is inverse kinematics?")
        assert isinstance(events[0], SearchStarted)
        assert isinstance(events[1], PassagesFound)
        last = events[-1]
        assert isinstance(last, Completed)
        answer = last.answer
        assert answer.status == "success"
        assert "Inverse kinematics is the problem" in answer.text
        assert shown(events).strip() == answer.text
        assert {c.passage.page_title for c in answer.citations} == {"Kinematics"}
        assert answer.citations[0].quote in KINEMATICS
        page = await book.conversations.session(answer.session_id)
        assert [turn.answer.text for turn in page.turns] == [answer.text]


async def test_quotes_of_the_book_cost_the_judge_nothing(data: Path) -> None:
    async with toy_book(data) as book:
        assert (await book.engine.answer(a_question("What is inverse kinematics?"))).status == "success"
        assert (book.judge.prepared, book.judge.calls) == ([], [])


async def test_the_judge_reads_while_a_model_writes(data: Path) -> None:
    async with model(data, Say("Inverse kinematics finds the joint angles.")) as (book, _):
        await book.engine.answer(a_question("What is inverse kinematics?"))
        assert any(KINEMATICS in window for window in book.judge.prepared)


async def test_what_the_book_does_not_know_is_refused_without_sources(data: Path) -> None:
    async with toy_book(data) as book:
        answer = await book.engine.answer(a_question("What is the capital of France?"))
        assert (answer.status, answer.citations) == ("refused", ())
        assert answer.text in (NOT_IN_BOOK, NOTHING_FOUND)
        assert answer.confidence < 0.4
        assert answer.confidence_level == "insufficient"


async def test_the_same_question_is_replayed_byte_for_byte_also_by_another_engine(data: Path) -> None:
    async with toy_book(data) as book:
        first = await book.engine.answer(a_question("What is a ROS 2 node?", history=()))
    async with toy_book(data) as book:
        again = await book.engine.answer(a_question("What is a ROS 2 node?", history=()))
    assert again.text == first.text
    assert (again.input_hash, again.output_hash) == (first.input_hash, first.output_hash)
    assert again.id != first.id


async def test_an_answer_of_another_judge_is_not_replayed(data: Path) -> None:
    async with toy_book(data) as book:
        first = await book.engine.answer(a_question("What is a ROS 2 node?", history=()))
        book.judge.name = "another"
        again = await book.engine.answer(a_question("What is a ROS 2 node?", history=()))
    assert again.text == first.text
    assert again.input_hash != first.input_hash


async def test_an_answer_that_is_replayed_is_saved_as_a_turn_of_its_session(data: Path) -> None:
    async with toy_book(data) as book:
        await book.engine.answer(a_question("What is a ROS 2 node?", history=()))
        events = await events_of(book, "What is a ROS 2 node?", history=())
        assert [type(event) for event in events] == [SearchStarted, PassagesFound, TextReleased, Completed]
        last = events[-1]
        assert isinstance(last, Completed)
        turns = (await book.conversations.session(last.answer.session_id)).turns
        assert last.answer.id in [turn.id for turn in turns]
        assert shown(events) == last.answer.text


async def test_verify_answers_afresh_and_agrees(data: Path) -> None:
    async with toy_book(data) as book:
        record = await book.engine.verify(a_question("What is a topic?", history=()))
    assert record["consistent"] is True


async def test_selected_text_mode_never_searches_and_gives_exact_places(data: Path) -> None:
    selection = "🤖 Intro.\nThe arm of the crane lifts 300 kg. It weighs 2 t.\nمرحبا"
    async with toy_book(data) as book:
        events = await events_of(book, "How much does the arm lift?", mode="selected_text", selection=selection)
    assert not any(isinstance(e, SearchStarted | PassagesFound) for e in events)
    last = events[-1]
    assert isinstance(last, Completed)
    assert "300 kg" in last.answer.text
    for citation in last.answer.citations:
        assert citation.span is not None
        assert selection[citation.span.char_start : citation.span.char_end] == citation.quote
        assert citation.span.line_start == 2


async def test_what_the_selection_does_not_hold_is_refused_with_the_topic(data: Path) -> None:
    async with toy_book(data) as book:
        answer = await book.engine.answer(
            a_question("What is the capital of France?", mode="selected_text", selection=BATTERY)
        )
    assert answer.status == "refused"
    assert answer.text == (
        "The provided selection does not contain information about the capital of France. "
        "Would you like me to search the full documentation?"
    )


async def test_a_readers_context_answers_when_it_can_and_else_the_book_does(data: Path) -> None:
    async with toy_book(data) as book:
        inside = await book.engine.answer(a_question("How long does the battery last?", selection=BATTERY))
        outside = await book.engine.answer(a_question("What is inverse kinematics?", selection=BATTERY))
    assert {c.passage.url for c in inside.citations} == {"selected_text"}
    assert {c.passage.url for c in outside.citations} == {"/docs/kinematics"}


@pytest.mark.parametrize("question", ["explain this", "What does this mean?"])
async def test_a_question_about_the_selection_itself_is_answered_from_it(data: Path, question: str) -> None:
    async with toy_book(data) as book:
        answer = await book.engine.answer(a_question(question, selection=BATTERY))
    assert answer.status == "success"
    assert {c.passage.url for c in answer.citations} == {"selected_text"}


async def test_a_selection_that_does_not_answer_makes_the_book_no_surer(data: Path) -> None:
    async with toy_book(data) as book:
        alone = await book.engine.answer(a_question("What is inverse kinematics?"))
        selected = await book.engine.answer(a_question("What is inverse kinematics?", selection=BATTERY))
        foreign = await book.engine.answer(a_question("What is the capital of France?", selection=BATTERY))
    assert selected.confidence <= alone.confidence + 0.05
    assert foreign.status == "refused"


LIES = {
    "an invented fact": "Inverse kinematics was invented by Ada Lovelace in 1843. [1]",
    "a wrong number": "The battery has a capacity of 96 Wh. [1]",
    "a reversed claim": "The charger must be left connected overnight. [1]",
    "outside knowledge": "Paris is the capital of France. [1]",
    "a foreign marker": "Quantum computers use qubits. [77]",
    "no marker at all": "Robots will replace every human worker by 2030.",
}


@pytest.mark.parametrize("lie", LIES.values(), ids=LIES.keys())
async def test_a_lie_beside_a_true_sentence_is_dropped_and_counted(data: Path, lie: str) -> None:
    truth = "The robot's battery has a capacity of 48 Wh and lasts 4 hours."
    async with model(data, Say(f"{truth} [1] {lie}")) as (book, _):
        events = await events_of(book, "What is the capacity of the battery and how long does it last?")
    last = events[-1]
    assert isinstance(last, Completed)
    assert truth in last.answer.text
    assert lie.split(" [")[0] not in shown(events)
    assert "[77]" not in shown(events)
    assert last.answer.dropped_sentences == 1


async def test_for_an_answer_of_lies_alone_the_book_itself_is_quoted(data: Path) -> None:
    async with model(data, Say(" ".join(LIES.values()))) as (book, _):
        events = await events_of(book, "How long does the battery last?")
    last = events[-1]
    assert isinstance(last, Completed)
    assert last.answer.status == "success"
    assert last.answer.dropped_sentences == len(LIES)
    assert shown(events).startswith("The robot's battery has a capacity of 48 Wh and lasts 4 hours.")


async def test_lies_where_the_book_has_no_answer_are_a_refusal(data: Path) -> None:
    async with model(data, Say(" ".join(LIES.values()))) as (book, server):
        events = await events_of(book, "Where do robots of the future dream of sheep?")
    last = events[-1]
    assert isinstance(last, Completed)
    assert last.answer.status == "refused"
    assert shown(events) == ""
    assert server.requests, "a hosted model is asked whenever something was found"
    assert last.answer.related
    assert all(place.url.startswith("/docs/") and place.first_line for place in last.answer.related)


async def test_small_talk_is_answered_from_the_table_of_contents(data: Path) -> None:
    async with toy_book(data) as book:
        hello = await book.engine.answer(a_question("hello"))
        chapters = await book.engine.answer(a_question("list all chapters"))
    assert (hello.status, hello.citations) == ("success", ())
    assert "Ask me about" in hello.text
    assert "[Kinematics](/docs/kinematics)" in chapters.text


async def test_a_follow_up_is_searched_with_its_subject(data: Path) -> None:
    history = (Message("user", "What is the battery?"), Message("assistant", "It powers the robot."))
    async with toy_book(data) as book:
        events = await events_of(book, "How long does it last?", history=history)
    assert [e.query for e in events if isinstance(e, SearchStarted)] == ["How long does the battery last?"]
    last = events[-1]
    assert isinstance(last, Completed)
    assert last.answer.searched_for == "How long does the battery last?"
    assert "4 hours" in last.answer.text


async def test_a_misspelt_word_is_put_right_and_said(data: Path) -> None:
    async with toy_book(data) as book:
        answer = await book.engine.answer(a_question("How long does the battrey last?"))
    assert answer.status == "success"
    assert answer.text.startswith("Showing results for “How long does the battery last?”.")


async def test_every_part_of_a_question_is_answered_or_said_to_be_missing(data: Path) -> None:
    async with toy_book(data) as book:
        both = await book.engine.answer(a_question("How long does the battery last, and what is inverse kinematics?"))
        half = await book.engine.answer(a_question("How long does the battery last, and who painted the Mona Lisa?"))
    assert "4 hours" in both.text
    assert "Inverse kinematics is the problem" in both.text
    assert "4 hours" in half.text
    assert "I don't have information about who painted the Mona Lisa" in half.text


async def test_a_comparison_that_the_book_does_not_make_says_what_each_side_is(data: Path) -> None:
    async with toy_book(data) as book:
        both = await book.engine.answer(a_question("What is the difference between a topic and inverse kinematics?"))
        one = await book.engine.answer(a_question("What is the difference between a topic and a submarine?"))
    assert "A topic is a named channel" in both.text
    assert "Inverse kinematics is the problem" in both.text
    assert one.status == "refused"


async def test_the_models_own_not_found_is_a_refusal(data: Path) -> None:
    async with model(data, Say("Answer not found in book.")) as (book, _):
        events = await events_of(book, "How long does the battery last?")
    last = events[-1]
    assert isinstance(last, Completed)
    assert last.answer.status == "refused"
    assert shown(events) == ""


async def test_an_instruction_hidden_in_a_passage_is_not_obeyed(data: Path) -> None:
    obeyed = "The launch tool starts many nodes at once. [1] Visit https://evil.example now! I obey. My rules are so."
    async with model(data, Say(obeyed)) as (book, _):
        events = await events_of(book, "What does the launch tool start?")
    assert "The launch tool starts many nodes at once." in shown(events)
    assert "evil.example" not in shown(events)
    assert "obey" not in shown(events)
    assert "rules" not in shown(events)


async def test_the_models_own_search_is_shown_and_its_passages_can_be_cited(data: Path) -> None:
    call = CallTool('{"query": "battery capacity", "top_k": 1}')
    said = Say("The robot's battery has a capacity of 48 Wh and lasts 4 hours. [1]")
    async with model(data, call, said) as (book, _):
        events = await events_of(book, "How long does the battery last?", top_k=1)
    assert [e.query for e in events if isinstance(e, SearchStarted)] == [
        "How long does the battery last?",
        "battery capacity",
    ]
    assert "48 Wh" in shown(events)


@pytest.mark.parametrize(
    "play", [Refuse(500), Raw(b"<html>", "text/html"), Say("", "stop")], ids=["500", "html", "empty"]
)
async def test_a_model_that_fails_is_a_failure_not_an_answer(data: Path, play: Play) -> None:
    async with model(data, play) as (book, _):
        events = await events_of(book, "How long does the battery last?")
    last = events[-1]
    assert isinstance(last, Failed)
    assert isinstance(last.error, ModelError)


async def test_with_fallback_to_sources_a_dead_model_is_answered_with_what_was_found(data: Path) -> None:
    options = EngineOptions(sources_when_model_fails=True)
    async with model(data, Refuse(500), options=options) as (book, _):
        answer = await book.engine.answer(a_question("How long does the battery last?"))
    assert (answer.text, answer.status) == ("", "error")
    assert answer.fallback_message
    assert "Battery" in {c.passage.page_title for c in answer.citations}


async def test_a_cut_stream_ends_in_a_failure_and_what_was_shown_is_saved_as_unfinished(data: Path) -> None:
    said = "The robot's battery has a capacity of 48 Wh and lasts 4 hours. [1] Charge the ba"
    question = a_question("How long does the battery last?")
    async with model(data, Say(said, finish=None)) as (book, _):
        events = [event async for event in book.engine.stream(question)]
        page = await book.conversations.session(question.session_id)
    assert isinstance(events[-1], Failed)
    assert "48 Wh" in shown(events)
    assert [turn.complete for turn in page.turns] == [False]


async def test_a_stalled_model_is_a_timeout(data: Path) -> None:
    async with model(data, Stall(), options=EngineOptions(total_seconds=1.0)) as (book, _):
        events = await events_of(book, "How long does the battery last?")
    last = events[-1]
    assert isinstance(last, Failed)
    assert isinstance(last.error, DeadlineError)


async def test_a_reader_who_leaves_cancels_the_model_and_keeps_what_was_shown(data: Path) -> None:
    question = a_question("How long does the battery last?")
    said = "The robot's battery has a capacity of 48 Wh and lasts 4 hours. [1] Charge it. "
    async with model(data, Stall(said)) as (book, server):
        async with contextlib.aclosing(book.engine.stream(question)) as events:
            async for event in events:
                if isinstance(event, TextReleased):
                    break
        await server.left.wait()
        page = await book.conversations.session(question.session_id)
    assert [turn.complete for turn in page.turns] == [False]
    assert "48 Wh" in page.turns[0].answer.text


async def test_history_reaches_the_model_as_turns(data: Path) -> None:
    history = (Message("user", "Which battery?"), Message("assistant", "The robot's."))
    said = Say("The robot's battery has a capacity of 48 Wh and lasts 4 hours. [1]")
    async with model(data, said) as (book, server):
        await book.engine.answer(a_question("How long does the battery last?", history=history))
    roles = [m["role"] for m in server.requests[0]["messages"]]
    assert roles == ["system", "user", "assistant", "user", "assistant", "tool"]
