"""Seed 004's contracts between the agent, its tool and its callers, as types. Their JSON schemas are in docs/schemas.

TypedDicts: these values are written as JSON for models and machines, never passed around inside.
"""

from typing import Literal, NotRequired

from typing_extensions import TypedDict  # pydantic reads typing's own only from Python 3.12 on

from citewell.values import Answer, ScoredPassage


class QueryProcessing(TypedDict):
    """A reader's question as the agent takes it."""

    query: str
    mode: Literal["full_book", "selected_text_only"]
    selected_text: NotRequired[str]


class ChunkMetadata(TypedDict):
    source_url: str
    module: str
    chapter: str
    section: NotRequired[str]
    chunk_index: NotRequired[int]


class Chunk(TypedDict):
    number: NotRequired[int]
    """What the model cites."""
    text: str
    score: float
    metadata: ChunkMetadata


class RetrievedContent(TypedDict):
    """What `search_documentation` returns."""

    chunks: list[Chunk]
    empty_retrieval: bool
    conflicting_info: bool


class RetrievalFailure(TypedDict):
    """What `search_documentation` returns when it cannot search."""

    error_type: Literal["connection_error", "empty_results", "service_unavailable", "invalid_query"]
    message: str
    fallback_action: Literal["refuse_answer", "retry", "use_default_response"]


class CitedSource(TypedDict):
    source_url: str
    module: str
    chapter: str


class RelatedPlace(TypedDict):
    title: str
    url: str
    first_line: str


class ResponseGeneration(TypedDict):
    """A finished answer."""

    status: Literal["success", "refused", "error"]
    content: str
    citations: list[CitedSource]
    refusal_reason: NotRequired[str]
    related: NotRequired[list[RelatedPlace]]
    """Of a refusal: the nearest sections."""
    deterministic: bool


class DeterminismRecord(TypedDict):
    """Whether the same input gave the same output."""

    input_hash: str
    output_hash: str
    consistent: bool
    validation_timestamp: str


def retrieved_content(found: list[tuple[int, ScoredPassage]], *, conflicting: bool) -> RetrievedContent:
    chunks: list[Chunk] = [
        {
            "number": number,
            "text": item.passage.text,
            "score": round(item.score, 4),
            "metadata": {
                "source_url": item.passage.section_url,
                "module": item.passage.module,
                "chapter": item.passage.chapter,
                "section": " > ".join(item.passage.heading_path),
                "chunk_index": item.passage.chunk_index,
            },
        }
        for number, item in found
    ]
    return {"chunks": chunks, "empty_retrieval": not chunks, "conflicting_info": conflicting}


def response_generation(answer: Answer) -> ResponseGeneration:
    response: ResponseGeneration = {
        "status": answer.status,
        "content": answer.text,
        "citations": [
            {"source_url": c.passage.section_url, "module": c.passage.module, "chapter": c.passage.chapter}
            for c in answer.citations
        ],
        "deterministic": answer.deterministic,
    }
    if answer.refusal_reason is not None:
        response["refusal_reason"] = answer.refusal_reason
    if answer.related:
        response["related"] = [{"title": r.title, "url": r.url, "first_line": r.first_line} for r in answer.related]
    return response


CONTRACTS = {
    "query-processing": QueryProcessing,
    "retrieved-content": RetrievedContent,
    "retrieval-error": RetrievalFailure,
    "response-generation": ResponseGeneration,
    "determinism": DeterminismRecord,
}
