"""Questions and answers as rows, and back, exactly. Pure; reads rows of the plain table too.

Every field of an Answer has its own column; the citations are the JSON in `sources`, which carries the names of the
plain table (source_url, page_title, section_heading, chunk_text, relevance_score) beside the whole passage.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, fields
from typing import Any

from citewell.conversations.turns import AuthorEntry, Turn
from citewell.errors import DatabaseError, InvalidInputError
from citewell.values import Answer, Citation, Passage, Question, Related, SelectionSpan

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]

SNIPPET = 500
# NUL is no text to Postgres; a lone surrogate is no text at all.
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

QUESTION_COLUMNS = ("session_id", "owner", "query", "selected_text", "trace_id")
_AS_THEY_ARE = (
    *("id", "mode", "status", "confidence", "confidence_level", "model", "chunks_retrieved", "refusal_reason"),
    *("low_confidence", "conflicting_info", "dropped_sentences", "input_hash", "output_hash", "deterministic"),
    "fallback_message",
)
"""Fields of an Answer that have a column of their own name."""
ANSWER_COLUMNS = (*_AS_THEY_ARE, "session_id", "response", "sources", "latency_ms", "related", "searched_for")
COLUMNS = (*ANSWER_COLUMNS, "owner", "query", "selected_text", "trace_id", "complete")


def columns_of(question: Question, answer: Answer, *, complete: bool) -> dict[str, object]:
    """The columns that do not depend on what is stored already. Raises InvalidInputError for text that is not text."""
    sources = sources_of(answer.citations)
    check_text("answer", answer.text, answer.refusal_reason or "", answer.fallback_message or "", *_strings(sources))
    return {
        **question_columns_of(question),
        **{name: getattr(answer, name) for name in _AS_THEY_ARE},
        "response": answer.text,
        "sources": sources,
        "latency_ms": answer.elapsed_ms,
        "complete": complete,
        "related": [asdict(place) for place in answer.related] or None,
        "searched_for": answer.searched_for or None,
    }


def question_columns_of(question: Question) -> dict[str, object]:
    """Raises InvalidInputError for text that is not text."""
    check_text("question", question.text)
    check_text("selection", question.selection or "")
    return {
        "session_id": question.session_id,
        "owner": question.owner,
        "query": question.text,
        "selected_text": question.selection,
        "trace_id": question.request_id,
    }


def check_text(field: str, *texts: str) -> None:
    for text in texts:
        if found := _UNSTORABLE.search(text):
            raise InvalidInputError(
                f"The {field} has a character that is not text: U+{ord(found[0]):04X}.", field=field
            )


def turn_of(row: Mapping[Any, Any]) -> Turn:
    return Turn(
        question=row["query"],
        selection=row["selected_text"],
        answer=answer_of(row),
        asked_at=row["created_at"],
        sequence=row["sequence"],
        complete=row["complete"],
        request_id=row["trace_id"],
        vote=row["feedback"],
        comment=row["feedback_comment"],
        voted_at=row["feedback_at"],
    )


def answer_of(row: Mapping[Any, Any]) -> Answer:
    same = {name: row[name] for name in _AS_THEY_ARE}
    # Rows of the plain table do not say how sure the answer was.
    same |= {"confidence": row["confidence"] or 0.0, "confidence_level": row["confidence_level"] or "insufficient"}
    return Answer(
        **same,
        session_id=row["session_id"],
        text=row["response"],
        citations=citations_of(row["sources"]),
        elapsed_ms=row["latency_ms"],
        related=tuple(Related(**place) for place in row["related"] or ()),
        searched_for=row["searched_for"] or "",
    )


ENTRY_COLUMNS = (
    *("query", "status", "created_at", "confidence", "latency_ms", "complete", "refusal_reason", "conflicting_info"),
    *("feedback", "feedback_comment"),
)


def entry_of(row: Mapping[Any, Any]) -> AuthorEntry:
    return AuthorEntry(
        question=row["query"],
        status=row["status"],
        asked_at=row["created_at"],
        confidence=row["confidence"],
        latency_ms=row["latency_ms"],
        complete=row["complete"],
        refusal_reason=row["refusal_reason"],
        conflicting_info=row["conflicting_info"],
        vote=row["feedback"],
        comment=row["feedback_comment"],
    )


def sources_of(citations: Iterable[Citation]) -> list[Json]:
    return [
        {
            "source_url": citation.passage.url,
            "page_title": citation.passage.page_title,
            "section_heading": citation.passage.section_heading,
            "chunk_text": citation.quote[:SNIPPET],
            "relevance_score": citation.score,
            "number": citation.number,
            "quote": citation.quote,
            "span": None if citation.span is None else asdict(citation.span),
            "passage": _stored(citation.passage),
        }
        for citation in citations
    ]


def citations_of(sources: Sequence[Mapping[str, Any]]) -> tuple[Citation, ...]:
    try:
        return tuple(_citation(number, source) for number, source in enumerate(sources, start=1))
    except (KeyError, TypeError, ValueError) as error:
        raise DatabaseError("A stored answer has sources that cannot be read.") from error


_PASSAGE_FIELDS = frozenset(field.name for field in fields(Passage)) - {"blocks"}
"""Its blocks are for reading and judging, which is over: they are not stored."""


def _stored(passage: Passage) -> dict[str, Json]:
    stored = {name: getattr(passage, name) for name in sorted(_PASSAGE_FIELDS)}
    return {**stored, "heading_path": list(passage.heading_path)}


def _citation(place: int, source: Mapping[str, Any]) -> Citation:
    if "passage" not in source:
        return _plain_citation(place, source)
    # A field that a newer version wrote is left out; one that an older version did not know takes its default.
    stored = {name: value for name, value in source["passage"].items() if name in _PASSAGE_FIELDS}
    return Citation(
        number=source["number"],
        passage=Passage(**{**stored, "heading_path": tuple(stored.get("heading_path", ()))}),
        # JSONB keeps 1e22 as a whole number.
        score=float(source["relevance_score"]),
        quote=source["quote"],
        span=None if source["span"] is None else SelectionSpan(**source["span"]),
    )


def _plain_citation(place: int, source: Mapping[str, Any]) -> Citation:
    text = str(source.get("chunk_text", ""))
    heading = source.get("section_heading")
    passage = Passage(
        id="",
        url=str(source.get("source_url", "")),
        page_title=str(source.get("page_title", "")),
        text=text,
        chunk_index=0,
        char_start=0,
        char_end=len(text),
        heading_path=(str(heading),) if heading else (),
    )
    return Citation(number=place, passage=passage, score=float(source.get("relevance_score", 0.0)), quote=text)


def _strings(value: Json) -> Iterable[str]:
    match value:
        case str():
            yield value
        case Mapping():
            for item in value.values():
                yield from _strings(item)
        case Sequence():
            for item in value:
                yield from _strings(item)
        case _:
            return
