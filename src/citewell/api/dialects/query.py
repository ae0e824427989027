"""The developer dialect (`query`): every name that it has on the wire. Pure.

Bodies come in as models and replies go out as models, so that OpenAPI shows what is sent.
"""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import ConfigDict, Field, StringConstraints, ValidationInfo, field_validator

from citewell.api.dialects.protocol import WireEvent
from citewell.api.dialects.wire import NO_HEADING, WholeReply, Wire, cut, dumped, encoded, similarity, snippet
from citewell.api.http_errors import ApiFailure, failure_of
from citewell.conversations.session_ids import session_id_of
from citewell.values import (
    SELECTION_URL,
    Answer,
    AnswerEvent,
    Citation,
    Completed,
    ConfidenceLevel,
    Failed,
    Mode,
    Question,
    SelectionSpan,
    Status,
    TextReleased,
    filters_of,
    trimmed,
)

SESSION_PATTERN = (
    r"^[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-4[0-9a-fA-F]{3}-[89abAB][0-9a-fA-F]{3}-[0-9a-fA-F]{12}$"  # UUID version 4
)
NOT_BLANK = r"\S"
MAX_QUERY = 2000
MAX_SELECTION = 10_000

FilterValue = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
FilterValues = FilterValue | Annotated[list[FilterValue], Field(min_length=1, max_length=100)] | None


class RetrievalFilters(Wire):
    """Only passages that match: the values of one field are alternatives, the fields must all match."""

    model_config = ConfigDict(extra="forbid")

    source_url: FilterValues = None
    page_title: FilterValues = None
    section_heading: FilterValues = None
    module: FilterValues = None
    chapter: FilterValues = None
    language: FilterValues = None
    version: FilterValues = None


class ChatRequest(Wire):
    """A question in the developer dialect. Unknown fields are ignored."""

    model_config = ConfigDict(
        json_schema_extra={
            "if": {"properties": {"mode": {"const": "selected_text"}}, "required": ["mode"]},
            "then": {
                "properties": {"selected_text": {"type": "string", "pattern": NOT_BLANK}},
                "required": ["selected_text"],
            },
        }
    )

    query: str = Field(
        min_length=1,
        max_length=MAX_QUERY,
        description="The question",
        examples=["What is ROS 2?"],
        json_schema_extra={"pattern": NOT_BLANK},
    )
    session_id: str | None = Field(
        None,
        description="A UUID v4 made by the client that groups a conversation; without one a new one is made",
        json_schema_extra={"pattern": SESSION_PATTERN},
    )
    mode: Mode = Field("general", description="Search the book (unless told), or answer from `selected_text` alone")
    selected_text: str | None = Field(
        None,
        max_length=MAX_SELECTION,
        validate_default=True,
        description="Required in mode `selected_text`, ignored otherwise",
    )
    top_k: int = Field(5, ge=1, le=20, description="How many passages to retrieve; 5 unless told")
    score_threshold: float | None = Field(None, ge=0.0, le=1.0, description="Leave out passages below this similarity")
    filters: RetrievalFilters | None = None
    stream: bool = Field(False, description="On /chat: answer with a stream of events")

    @field_validator("query", mode="before")
    @classmethod
    def _trimmed(cls, value: object) -> object:
        return trimmed(value) if isinstance(value, str) else value

    @field_validator("selected_text")
    @classmethod
    def _selection(cls, value: str | None, info: ValidationInfo) -> str | None:
        """Kept as it was sent: places in it are counted from its first character."""
        if value and trimmed(value):
            return value
        if info.data.get("mode") == "selected_text":
            raise ValueError("selected_text is required when mode is 'selected_text'.")
        return None


class SourceCitation(WholeReply):
    """A passage that the answer rests on."""

    source_url: str = Field(description="The page's URL without an anchor, or `selected_text`")
    page_title: str
    section_heading: str
    chunk_text: str = Field(max_length=500, description="The passage, or the part of it that was quoted")
    relevance_score: float = Field(ge=0.0, le=1.0)
    number: int = Field(description="The marker in the answer: [1]")
    section_url: str = Field(description="The URL with the heading's anchor")
    quote: str = Field(description="The words of the passage that support the answer")
    module: str
    chapter: str
    chunk_index: int
    page_number: int | None = None


class SelectedTextCitation(SourceCitation):
    """`selected_text[char_start:char_end]` is exactly `chunk_text`, in code points."""

    char_start: int = Field(ge=0)
    char_end: int = Field(ge=0)
    line_start: int | None = None
    line_end: int | None = None


class RelatedSection(Wire):
    """A section to look at when nothing answers. It is no source."""

    title: str
    url: str = Field(description="With the heading's anchor")
    first_line: str


class ResponseMetadata(Wire):
    query_time_ms: float
    chunks_retrieved: int
    model: str
    session_id: str
    turn_id: str = Field(description="Names this turn, for feedback")
    status: Status
    confidence: float = Field(ge=0.0, le=1.0, description="The chance that the answer is right and supported")
    confidence_level: ConfidenceLevel
    low_confidence: bool
    conflicting_info: bool
    dropped_sentences: int
    refusal_reason: str | None = None
    searched_for: str | None = Field(None, description="The question as it was searched, when not as it was asked")
    reranked: bool | None = Field(
        None,
        description="With RERANK: whether the passages were ordered anew; false when there was no time for it",
    )
    input_hash: str
    output_hash: str
    deterministic: bool


class ChatResponse(WholeReply):
    answer: str | None = Field(description="Markdown with markers such as [1]; null when the model failed (see below)")
    sources: list[SelectedTextCitation | SourceCitation]
    mode: Mode
    metadata: ResponseMetadata
    fallback_message: str | None = Field(None, description="Set when only sources could be given")
    related: list[RelatedSection] | None = Field(None, description="Of a refusal: the nearest sections")


class StreamChunk(WholeReply):
    type: Literal["chunk"] = "chunk"
    content: str


class StreamSources(WholeReply):
    type: Literal["sources"] = "sources"
    sources: list[SelectedTextCitation | SourceCitation]


class StreamDone(WholeReply):
    """The whole reply again: a client may show it in place of what it collected."""

    type: Literal["done"] = "done"
    metadata: ResponseMetadata
    answer: str | None
    sources: list[SelectedTextCitation | SourceCitation]
    mode: Mode
    fallback_message: str | None = None
    related: list[RelatedSection] | None = None


class ErrorResponse(WholeReply):
    error_code: str = Field(examples=["validation_error", "retrieval_unavailable"])
    message: str
    details: dict[str, str | int] | None = None
    trace_id: str = Field(description="The request's id, as in X-Request-ID")
    retry_after: int | None = Field(None, description="Seconds to wait (429 and 409)")


class StreamError(WholeReply):
    type: Literal["error"] = "error"
    error_code: str
    message: str
    details: dict[str, str | int] | None = None
    trace_id: str
    retry_after: int | None = None


class QueryDialect:
    """`POST /chat`, and `POST /chat/stream` with a `query`."""

    name = "developer"
    failure_model = ErrorResponse
    event_models = (StreamChunk, StreamSources, StreamDone, StreamError)

    def question(self, request: ChatRequest, *, new_session_id: str, request_id: str) -> Question:
        filters = request.filters.model_dump(exclude_none=True) if request.filters else {}
        return Question(
            text=request.query,
            session_id=session_id_of(request.session_id) if request.session_id is not None else new_session_id,
            history=None if request.session_id is not None else (),  # a new session has none to be looked up
            mode=request.mode,
            selection=request.selected_text if request.mode == "selected_text" else None,
            top_k=request.top_k,
            score_threshold=request.score_threshold,
            filters=filters_of(filters),
            request_id=request_id,
        )

    def reply(self, answer: Answer) -> bytes:
        return encoded(_reply(answer))

    def stream(self, request_id: str) -> "QueryStream":
        return QueryStream(self, request_id)

    def status(self, failure: ApiFailure) -> int:
        return failure.row.status

    def failure(self, failure: ApiFailure, request_id: str) -> bytes:
        return encoded(_error(failure, request_id))

    def failure_event(self, failure: ApiFailure, request_id: str) -> WireEvent:
        return WireEvent(None, dumped(StreamError(**dict(_error(failure, request_id)))))


QUERY_DIALECT = QueryDialect()


class QueryStream:
    """Chunks of text, then the sources, then the end; or an error in their place."""

    def __init__(self, dialect: QueryDialect, request_id: str) -> None:
        self._dialect = dialect
        self._request_id = request_id
        self._sent = ""

    def render(self, event: AnswerEvent) -> Sequence[WireEvent]:
        match event:
            case TextReleased(text) if text:
                self._sent += text
                return [_chunk(text)]
            case Completed(answer):
                return self._end(answer)
            case Failed(error):
                return [self._dialect.failure_event(failure_of(error), self._request_id)]
        return []

    def _end(self, answer: Answer) -> list[WireEvent]:
        reply = _reply(answer)
        text = reply.answer
        events = []
        if text and text.startswith(self._sent) and text != self._sent:
            # A refusal is decided at the end: its sentence was never released as text.
            events.append(_chunk(text[len(self._sent) :]))
        events.append(WireEvent(None, dumped(StreamSources(sources=reply.sources))))
        return [*events, WireEvent(None, dumped(StreamDone(**dict(reply))))]


def _chunk(text: str) -> WireEvent:
    return WireEvent(None, dumped(StreamChunk(content=text)))


def _reply(answer: Answer) -> ChatResponse:
    return ChatResponse(
        answer=answer.text if answer.fallback_message is None else None,
        sources=sources_of(answer.citations),
        mode=answer.mode,
        metadata=metadata_of(answer),
        fallback_message=answer.fallback_message,
        related=related_of(answer),
    )


def _error(failure: ApiFailure, request_id: str) -> ErrorResponse:
    return ErrorResponse(
        error_code=failure.row.code,
        message=failure.message,
        details=_details(failure),
        trace_id=request_id,
        retry_after=failure.retry_after,
    )


def _details(failure: ApiFailure) -> dict[str, str | int] | None:
    details: dict[str, str | int] = {}
    if failure.reason != failure.row.code:
        details["reason"] = failure.reason
    if failure.field is not None:
        details["field"] = failure.field
    return details or None


def sources_of(citations: Sequence[Citation]) -> list[SelectedTextCitation | SourceCitation]:
    return [_source(c) if c.span is None else _selected(c, c.span) for c in citations]


def _source(citation: Citation) -> SourceCitation:
    passage = citation.passage
    return SourceCitation(
        source_url=passage.url,
        page_title=passage.page_title,
        section_heading=passage.section_heading or NO_HEADING,
        chunk_text=snippet(passage, citation.quote),
        relevance_score=similarity(citation.score),
        number=citation.number,
        section_url=passage.section_url,
        quote=citation.quote,
        module=passage.module,
        chapter=passage.chapter,
        chunk_index=passage.chunk_index,
        page_number=passage.page_number,
    )


def _selected(citation: Citation, whole: SelectionSpan) -> SelectedTextCitation:
    quote, span = cut(citation.quote, whole)
    return SelectedTextCitation(
        source_url=SELECTION_URL,
        page_title="User Selection",
        section_heading="Selected text",
        chunk_text=quote,
        relevance_score=1.0,
        number=citation.number,
        section_url=SELECTION_URL,
        quote=quote,
        module="",
        chapter="User Selection",
        chunk_index=citation.passage.chunk_index,
        char_start=span.char_start,
        char_end=span.char_end,
        line_start=span.line_start,
        line_end=span.line_end,
    )


def related_of(answer: Answer) -> list[RelatedSection] | None:
    return [RelatedSection(title=r.title, url=r.url, first_line=r.first_line) for r in answer.related] or None


def metadata_of(answer: Answer) -> ResponseMetadata:
    """Also carried by the reader's replies."""
    return ResponseMetadata(
        query_time_ms=round(answer.elapsed_ms, 2),
        chunks_retrieved=answer.chunks_retrieved,
        model=answer.model,
        session_id=answer.session_id,
        turn_id=answer.id,
        status=answer.status,
        confidence=similarity(answer.confidence),
        confidence_level=answer.confidence_level,
        low_confidence=answer.low_confidence,
        conflicting_info=answer.conflicting_info,
        dropped_sentences=answer.dropped_sentences,
        refusal_reason=answer.refusal_reason,
        searched_for=answer.searched_for or None,
        reranked=answer.reranked,
        input_hash=answer.input_hash,
        output_hash=answer.output_hash,
        deterministic=answer.deterministic,
    )
