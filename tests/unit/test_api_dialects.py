"""Both dialects: limits of their fields, what a Question is made of, what an Answer looks like."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, ValidationError

from citewell.api.body import Json, invalid
from citewell.api.dialects.message import MESSAGE_DIALECT, ChatRunRequest
from citewell.api.dialects.query import QUERY_DIALECT, ChatRequest
from citewell.errors import CitewellError, InvalidInputError
from citewell.values import (
    SELECTION_URL,
    Answer,
    Citation,
    Completed,
    Failed,
    Message,
    Passage,
    Question,
    SearchStarted,
    SelectionSpan,
    TextReleased,
    trimmed,
)
from tests.support.api import ANSWER, NODE, REFUSAL, SESSION, TEXT, answering

NEW = "1b671a64-40d5-4c1e-9bb7-1c2f4c5d6e7f"


Model = TypeVar("Model", bound=BaseModel)


def read(model: type[Model], body: Json) -> Model:
    """As the route does."""
    try:
        return model.model_validate(body)
    except ValidationError as error:
        raise invalid(error.errors(include_url=False)) from None


def developer(**body: Json) -> Question:
    return QUERY_DIALECT.question(read(ChatRequest, body), new_session_id=NEW, request_id="r-1")


def reader(**body: Json) -> Question:
    return MESSAGE_DIALECT.question(read(ChatRunRequest, {"session_id": SESSION, **body}), request_id="r-1")


def test_a_query_alone_is_enough() -> None:
    assert developer(query="  What is ROS 2?  ") == Question("What is ROS 2?", NEW, history=(), request_id="r-1")


def test_every_field_of_the_developer_reaches_the_question() -> None:
    question = developer(
        query="How?",
        session_id=SESSION.upper(),
        top_k=20,
        score_threshold=1,
        filters={"source_url": "/docs/a", "module": ["One", "Two"], "page_title": None},
    )
    assert question.session_id == SESSION
    assert question.top_k == 20
    assert question.score_threshold == 1.0
    assert question.filters == {"source_url": ("/docs/a",), "module": ("One", "Two")}


def test_a_selection_is_kept_as_it_was_sent_because_places_are_counted_in_it() -> None:
    question = developer(query="How?", mode="selected_text", selected_text="  Two spaces first.\n")
    assert question.selection == "  Two spaces first.\n"
    assert reader(message="How?", context="\n here").selection == "\n here"


def test_a_selection_in_general_mode_is_not_used() -> None:
    assert developer(query="How?", selected_text="Some text.").selection is None


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({}, "query is required"),
        ({"query": ""}, "query must not be empty"),
        ({"query": " \n\t"}, "query must not be empty"),
        ({"query": "x" * 2001}, r"query exceeds maximum length of 2000 characters \(it has 2001\)"),
        ({"query": 5}, "query must be a string"),
        ({"query": None}, "query must be a string"),
        ({"query": "x", "mode": "full_book"}, "mode must be 'general' or 'selected_text'"),
        ({"query": "x", "mode": "selected_text"}, "selected_text is required"),
        ({"query": "x", "mode": "selected_text", "selected_text": "  "}, "selected_text is required"),
        (
            {"query": "x", "mode": "selected_text", "selected_text": "x" * 10_001},
            "selected_text exceeds maximum length of 10000 characters .* please shorten it",
        ),
        ({"query": "x", "top_k": 0}, "top_k must be at least 1"),
        ({"query": "x", "top_k": 21}, "top_k must be at most 20"),
        ({"query": "x", "top_k": "5"}, "top_k must be a whole number"),
        ({"query": "x", "top_k": True}, "top_k must be a whole number"),
        ({"query": "x", "top_k": 2.5}, "top_k must be a whole number"),
        ({"query": "x", "score_threshold": 1.01}, "score_threshold must be at most 1"),
        ({"query": "x", "score_threshold": "0.5"}, "score_threshold must be a number"),
        ({"query": "x", "filters": {"modul": "One"}}, "filters has an unknown key. Valid keys: source_url, page_title"),
        ({"query": "x", "filters": {"module": 1}}, "filters.module must be a string"),
        ({"query": "x", "filters": {"module": []}}, "filters.module"),
        ({"query": "x", "filters": ["module"]}, "filters must be an object"),
        ({"query": "x", "stream": "yes"}, "stream must be true or false"),
        ({"query": "x", "session_id": "not-a-uuid"}, "session_id must be a UUID v4"),
        ({"query": "x", "session_id": "c0a8012e-0000-1000-8000-00805f9b34fb"}, "session_id must be a UUID v4"),
        ({"query": "x", "session_id": "550e8400-e29b-41d4-a716-446655440000"}, "example of the documentation"),
    ],
)
def test_a_developer_is_told_the_field_and_the_limit(body: Mapping[str, Json], says: str) -> None:
    with pytest.raises(InvalidInputError, match=says) as caught:
        developer(**body)
    assert caught.value.field in {*body, "query", "selected_text", "filters.module"}


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"message": "x", "session_id": None}, "session_id must be a string"),
        ({"message": ""}, "message must not be empty"),
        ({"message": "x" * 1001}, "message exceeds maximum length of 1000 characters"),
        ({"message": "x", "context": "x" * 5001}, "context exceeds maximum length of 5000 characters"),
        (
            {"message": "x", "history": [{"role": "user", "content": "x"}] * 11},
            "history has 11 entries; the limit is 10",
        ),
        (
            {"message": "x", "history": [{"role": "system", "content": "x"}]},
            "history.0.role must be 'user' or 'assistant'",
        ),
        ({"message": "x", "history": [{"role": "user"}]}, "history.0.content is required"),
        ({"message": "x", "history": "x"}, "history must be a list"),
    ],
)
def test_a_reader_is_told_the_field_and_the_limit(body: Mapping[str, Json], says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        reader(**body)


def test_a_reader_brings_its_session() -> None:
    with pytest.raises(InvalidInputError, match="session_id is required"):
        read(ChatRunRequest, {"message": "x"})


def test_the_limits_themselves_are_allowed() -> None:
    assert len(developer(query="ü" * 2000).text) == 2000
    assert len(reader(message="🤖" * 1000, context="x" * 5000).text) == 1000
    assert developer(query="x", mode="selected_text", selected_text="x" * 10_000).mode == "selected_text"


def test_a_history_replaces_what_is_stored_even_when_it_is_empty() -> None:
    assert reader(message="x").history is None
    assert reader(message="x", history=[]).history == ()
    assert reader(message="x", history=[{"role": "user", "content": "y"}]).history == (Message("user", "y"),)


def test_unknown_fields_are_ignored() -> None:
    assert developer(query="x", colour="blue") == developer(query="x")
    assert reader(message="x", colour={"deep": []}) == reader(message="x")


def test_a_body_that_is_no_object_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="must be a JSON object"):
        read(ChatRequest, ["query"])


@given(st.text(alphabet="qzxj", min_size=8, max_size=30))
def test_no_error_repeats_what_was_sent(secret: str) -> None:
    bodies: list[Mapping[str, Json]] = [
        {"query": "x", "mode": secret},
        {"query": "x", "session_id": secret},
        {"query": "x", "top_k": secret},
        {"query": "x", "filters": {secret: "x"}},
        {"query": "x", "filters": {"module": {secret: 1}}},
        {"query": {secret: secret}},
    ]
    for body in bodies:
        with pytest.raises(CitewellError) as caught:
            developer(**body)
        assert secret not in str(caught.value)
        assert secret not in str(getattr(caught.value, "field", ""))


def selected(text: str, start: int, end: int) -> Answer:
    passage = Passage("p", SELECTION_URL, "selection", text, 0, 0, len(text))
    line = text[:start].count("\n") + 1
    span = SelectionSpan(start, end, line, line + text[start:end].count("\n"))
    return replace(ANSWER, mode="selected_text", citations=(Citation(1, passage, 0.7, text[start:end], span),))


@given(st.text(alphabet=st.characters(exclude_categories=["Cs"]), min_size=1, max_size=1200), st.data())
def test_the_place_of_a_citation_in_the_selection_is_exactly_its_text(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    source = json.loads(QUERY_DIALECT.reply(selected(text, start, end)))["sources"][0]
    assert text[source["char_start"] : source["char_end"]] == source["chunk_text"]
    assert len(source["chunk_text"]) <= 500
    assert source["line_end"] == source["line_start"] + source["chunk_text"].count("\n")
    shown = json.loads(MESSAGE_DIALECT.reply(selected(text, start, end)))["sources"][0]
    assert text[shown["char_start"] : shown["char_end"]] == shown["chunk_text"]


def test_a_selection_is_cited_under_the_names_of_the_seed() -> None:
    source = json.loads(QUERY_DIALECT.reply(selected("The loop runs at 100 Hz.", 0, 24)))["sources"][0]
    assert source["source_url"] == "selected_text"
    assert source["page_title"] == "User Selection"
    assert source["section_heading"] == "Selected text"
    assert source["relevance_score"] == 1.0


def test_a_snippet_has_at_most_500_characters_and_holds_the_quote() -> None:
    text = "x" * 800 + " The answer stands here. " + "y" * 800
    citation = Citation(1, replace(NODE, text=text), 0.9, "The answer stands here.")
    source = json.loads(QUERY_DIALECT.reply(replace(ANSWER, citations=(citation,))))["sources"][0]
    assert len(source["chunk_text"]) == 500
    assert source["quote"] in source["chunk_text"]
    assert source["chunk_text"] in text


@pytest.mark.parametrize("score", [-0.3, 0.0, 1.0000001, float("nan"), float("inf")])
def test_a_score_is_always_within_0_and_1(score: float) -> None:
    reply = replace(ANSWER, citations=(Citation(1, NODE, score, ""),), confidence=score)
    assert 0 <= json.loads(QUERY_DIALECT.reply(reply))["sources"][0]["relevance_score"] <= 1
    assert 0 <= json.loads(MESSAGE_DIALECT.reply(reply))["confidence"] <= 1


def test_a_refusal_is_a_safe_sentence_for_developers_and_silence_for_readers() -> None:
    told = json.loads(QUERY_DIALECT.reply(REFUSAL))
    assert told["answer"] == REFUSAL.text
    assert told["sources"] == []
    assert told["metadata"]["status"] == "refused"
    shown = json.loads(MESSAGE_DIALECT.reply(REFUSAL))
    assert shown["response"] == ""
    assert shown["should_answer"] is False
    assert shown["refusal_reason"]


def test_sources_without_an_answer_are_given_when_the_model_failed() -> None:
    fallback = replace(ANSWER, text="", status="error", fallback_message="AI summarization unavailable")
    told = json.loads(QUERY_DIALECT.reply(fallback))
    assert told["answer"] is None
    assert told["fallback_message"] == "AI summarization unavailable"
    assert told["sources"]
    shown = json.loads(MESSAGE_DIALECT.reply(fallback))
    assert shown["should_answer"] is False
    assert shown["refusal_reason"] == "AI summarization unavailable"
    assert shown["sources"]


@given(st.lists(st.text(max_size=20), max_size=8))
def test_the_chunks_of_a_stream_are_the_answer_however_it_is_cut(deltas: list[str]) -> None:
    text = "".join(deltas)
    answer = replace(ANSWER, text=text)
    for dialect, field in ((QUERY_DIALECT, "content"), (MESSAGE_DIALECT, "delta")):
        stream = dialect.stream("r-1")
        events = [wire for delta in deltas for wire in stream.render(TextReleased(delta))]
        assert "".join(json.loads(wire.data)[field] for wire in events) == text
        assert all(wire.data.isascii() and "\n" not in wire.data for wire in events)
        assert stream.render(Completed(answer))


def test_a_refusal_is_streamed_as_its_sentence_to_developers_only() -> None:
    told = QUERY_DIALECT.stream("r-1").render(Completed(REFUSAL))
    assert [json.loads(wire.data)["type"] for wire in told] == ["chunk", "sources", "done"]
    assert json.loads(told[0].data)["content"] == REFUSAL.text
    assert [wire.name for wire in MESSAGE_DIALECT.stream("r-1").render(Completed(REFUSAL))] == ["done"]


def test_the_last_event_holds_the_whole_answer_again() -> None:
    told = [wire for event in answering() for wire in QUERY_DIALECT.stream("r").render(event)][-1]
    assert json.loads(told.data)["answer"] == TEXT
    assert json.loads(told.data)["sources"]
    shown = [wire for event in answering() for wire in MESSAGE_DIALECT.stream("r").render(event)][-1]
    assert json.loads(shown.data)["response"] == TEXT


def test_readers_see_the_search_and_developers_do_not() -> None:
    event = SearchStarted("ROS 2", 5, {"module": ("One",)})
    assert QUERY_DIALECT.stream("r").render(event) == []
    (shown,) = MESSAGE_DIALECT.stream("r").render(event)
    assert shown.name == "tool_call"
    assert json.loads(shown.data) == {
        "tool_name": "search_documentation",
        "arguments": {"query": "ROS 2", "top_k": 5, "filters": {"module": ["One"]}},
    }


def test_an_error_of_ours_without_a_row_shows_nothing_of_itself() -> None:
    (told,) = QUERY_DIALECT.stream("r-9").render(Failed(CitewellError("the password is hunter2")))
    assert "hunter2" not in told.data
    assert json.loads(told.data)["error_code"] == "internal_error"
    assert json.loads(told.data)["trace_id"] == "r-9"


def test_a_lone_surrogate_of_a_model_can_be_sent() -> None:
    broken = replace(ANSWER, text="half \ud800 pair")
    assert json.loads(QUERY_DIALECT.stream("r").render(TextReleased(broken.text))[0].data)["content"] == broken.text
    assert QUERY_DIALECT.reply(broken)
    assert MESSAGE_DIALECT.stream("r").render(TextReleased(broken.text))


@pytest.mark.parametrize(
    "nothing",
    ["\u200b\u200d", "\u202e\u202c", "\ufeff \u2060", "\u3164\u115f", "\u2800", "\u0301", "\U000e0041", "\x07"],
)
def test_text_that_shows_nothing_is_empty(nothing: str) -> None:
    assert trimmed(nothing) == ""
    with pytest.raises(InvalidInputError):
        developer(query=nothing)
    with pytest.raises(InvalidInputError):
        reader(message=nothing)


@pytest.mark.parametrize("text", ["?", "日本", "🙂", "a\u0301", "\u202eabc", "\u200b1\u200b"])
def test_text_that_shows_something_stays(text: str) -> None:
    assert trimmed(f" {text}\n") == text
