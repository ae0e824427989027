"""Answers as rows and back."""

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.conversations import rows
from citewell.errors import DatabaseError, InvalidInputError
from citewell.values import Answer, Citation, Passage, Question, SelectionSpan

text = st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"]), max_size=40)
score = st.floats(0, 1)
passages = st.builds(
    Passage,
    id=st.uuids().map(str),
    url=text,
    page_title=text,
    text=text,
    chunk_index=st.integers(0, 10**6),
    char_start=st.integers(0, 10**6),
    char_end=st.integers(0, 10**6),
    heading_path=st.lists(text, max_size=3).map(tuple),
    anchor=text,
    module=text,
    language=text,
    version=text,
    page_number=st.none() | st.integers(1, 9999),
    content_hash=text,
)
spans = st.builds(SelectionSpan, *(st.integers(0, 10_000) for _ in range(4)))
citations = st.builds(
    Citation, number=st.integers(1, 99), passage=passages, score=score, quote=text, span=st.none() | spans
)
answers = st.builds(
    Answer,
    id=st.uuids().map(str),
    session_id=st.uuids(version=4).map(str),
    mode=st.sampled_from(["general", "selected_text"]),
    text=text,
    status=st.sampled_from(["success", "refused", "error"]),
    citations=st.lists(citations, max_size=3).map(tuple),
    confidence=score,
    confidence_level=st.sampled_from(["high", "medium", "low", "insufficient"]),
    model=text,
    chunks_retrieved=st.integers(0, 100),
    elapsed_ms=st.floats(0, 1e6),
    refusal_reason=st.none() | text,
    low_confidence=st.booleans(),
    conflicting_info=st.booleans(),
    dropped_sentences=st.integers(0, 100),
    input_hash=text,
    output_hash=text,
    deterministic=st.booleans(),
    fallback_message=st.none() | text,
)


@given(answers)
def test_every_answer_comes_back_from_its_row(answer: Answer) -> None:
    question = Question("How?", answer.session_id)
    columns = rows.columns_of(question, answer, complete=True)
    assert set(columns) == set(rows.COLUMNS)
    stored = {**columns, "sources": json.loads(json.dumps(columns["sources"], allow_nan=False))}
    assert rows.answer_of(stored) == answer


@given(answers, st.sampled_from(["\x00", "\ud800", "\udc00"]))
def test_no_field_of_a_citation_can_smuggle_in_what_is_no_text(answer: Answer, bad: str) -> None:
    for number, citation in enumerate(answer.citations):
        for broken in (
            replace(citation, quote=bad),
            replace(citation, passage=replace(citation.passage, heading_path=("a", f"b{bad}"))),
        ):
            cited = (*answer.citations[:number], broken, *answer.citations[number + 1 :])
            with pytest.raises(InvalidInputError):
                rows.columns_of(Question("How?", answer.session_id), replace(answer, citations=cited), complete=True)


def test_sources_carry_the_names_of_the_plain_table() -> None:
    passage = Passage("p", "https://b/x", "Title", "t" * 900, 0, 0, 900, heading_path=("A", "B"))
    (source,) = rows.sources_of([Citation(1, passage, 0.5, "q" * 700)])
    assert isinstance(source, dict)
    plain = {k: source[k] for k in ("source_url", "page_title", "section_heading", "chunk_text", "relevance_score")}
    assert plain == {
        "source_url": "https://b/x",
        "page_title": "Title",
        "section_heading": "B",
        "chunk_text": "q" * 500,
        "relevance_score": 0.5,
    }


def test_a_passage_of_another_version_is_read_with_what_is_known_of_it() -> None:
    passage = Passage("p", "https://b/x", "Title", "text", 0, 0, 4)
    (source,) = json.loads(json.dumps(rows.sources_of([Citation(1, passage, 1.0, "text")])))
    del source["passage"]["version"]
    source["passage"]["mood"] = "bright"
    assert rows.citations_of([source]) == (Citation(1, passage, 1.0, "text"),)


@pytest.mark.parametrize("sources", [[1], [{"passage": {}}], [{"relevance_score": "much"}], 3])
def test_sources_that_cannot_be_read_are_an_error_of_the_database(sources: list[dict[str, object]]) -> None:
    with pytest.raises(DatabaseError):
        rows.citations_of(sources)
