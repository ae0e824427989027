"""The reader dialect (`message`): every name that it has on the wire. Pure."""

from collections.abc import Sequence

from pydantic import BaseModel, Field, field_validator

from citewell.api.dialects.protocol import WireEvent
from citewell.api.dialects.query import (
    NOT_BLANK,
    SESSION_PATTERN,
    RelatedSection,
    ResponseMetadata,
    RetrievalFilters,
    metadata_of,
    related_of,
)
from citewell.api.dialects.wire import NO_HEADING, Wire, cut, dumped, similarity, snippet
from citewell.api.http_errors import ApiFailure, failure_of
from citewell.conversations.session_ids import session_id_of
from citewell.values import (
    Answer,
    AnswerEvent,
    Citation,
    Completed,
    ConfidenceLevel,
    Failed,
    Message,
    Passage,
    PassagesFound,
    Question,
    Role,
    SearchStarted,
    SelectionSpan,
    TextReleased,
    filters_of,
    trimmed,
)

MAX_MESSAGE = 1000
MAX_CONTEXT = 5000
MAX_HISTORY = 10
TOOL = "search_documentation"


class HistoryMessage(Wire):
    role: Role
    content: str = Field(max_length=20_000)


class ChatRunRequest(Wire):
    """A question in the reader dialect. Unknown fields are ignored."""

    message: str = Field(
        min_length=1,
        max_length=MAX_MESSAGE,
        description="The question",
        examples=["What is a ROS 2 node?"],
        json_schema_extra={"pattern": NOT_BLANK},
    )
    session_id: str = Field(
        description="A UUID v4 made by the client (`crypto.randomUUID()`)",
        json_schema_extra={"pattern": SESSION_PATTERN},
    )
    context: str | None = Field(
        None, max_length=MAX_CONTEXT, description="Text selected on the page: used when it holds the answer"
    )
    history: list[HistoryMessage] | None = Field(
        None, max_length=MAX_HISTORY, description="Oldest first; replaces what is stored for the session"
    )

    filters: RetrievalFilters | None = Field(None, description="Only passages that match, as in the developer dialect")

    @field_validator("message", mode="before")
    @classmethod
    def _trimmed(cls, value: object) -> object:
        return trimmed(value) if isinstance(value, str) else value

    @field_validator("context")
    @classmethod
    def _not_blank(cls, value: str | None) -> str | None:
        """Kept as it was sent: places in it are counted from its first character."""
        return value if value and trimmed(value) else None


class ReaderSource(Wire):
    chunk_text: str
    similarity_score: float = Field(ge=0.0, le=1.0)
    chapter: str
    section: str
    url: str | None = Field(None, description="With the heading's anchor; absent for the reader's own selection")
    chunk_index: int
    page_number: int | None = None
    number: int | None = Field(None, description="The marker in the response: [1]")
    quote: str | None = Field(None, description="The words that support the response")
    char_start: int | None = Field(None, description="Where the quote stands in `context`")
    char_end: int | None = None


class ChatRunResponse(Wire):
    response: str = Field(description="Markdown with markers such as [1]; empty when `should_answer` is false")
    confidence: float = Field(ge=0.0, le=1.0)
    confidence_level: ConfidenceLevel
    sources: list[ReaderSource]
    session_id: str
    should_answer: bool
    refusal_reason: str | None = None
    related: list[RelatedSection] | None = Field(None, description="Of a refusal: the nearest sections")
    metadata: ResponseMetadata | None = None


class ToolArguments(Wire):
    query: str
    top_k: int
    filters: dict[str, list[str]] | None = None


class ToolCallEvent(Wire):
    tool_name: str
    arguments: ToolArguments


class RetrievalEvent(Wire):
    query: str
    results: list[ReaderSource]


class ContentEvent(Wire):
    delta: str


class ReaderErrorResponse(Wire):
    detail: str
    code: str = Field(examples=["VALIDATION_ERROR", "RETRIEVAL_FAILED"])
    retry_after: int | None = Field(None, description="Seconds to wait (429 and 409)")
    trace_id: str = Field(description="The request's id, as in X-Request-ID")


class ErrorEvent(Wire):
    error: str
    code: str
    retry_after: int | None = None
    trace_id: str


class MessageDialect:
    """`POST /chat/run`, and `POST /chat/stream` with a `message`."""

    name = "reader"
    failure_model = ReaderErrorResponse
    event_models = (ToolCallEvent, RetrievalEvent, ContentEvent, ChatRunResponse, ErrorEvent)

    def question(self, request: ChatRunRequest, *, request_id: str) -> Question:
        return Question(
            text=request.message,
            session_id=session_id_of(request.session_id),
            selection=request.context,
            history=None
            if request.history is None
            else tuple(Message(turn.role, turn.content) for turn in request.history),
            filters=filters_of(request.filters.model_dump(exclude_none=True) if request.filters else {}),
            request_id=request_id,
        )

    def reply(self, answer: Answer) -> bytes:
        return _json(reader_reply(answer)).encode()

    def stream(self, request_id: str) -> "MessageStream":
        return MessageStream(self, request_id)

    def status(self, failure: ApiFailure) -> int:
        return failure.row.reader_status

    def failure(self, failure: ApiFailure, request_id: str) -> bytes:
        return _json(
            ReaderErrorResponse(
                detail=_detail(failure),
                code=failure.row.reader_code,
                retry_after=failure.retry_after,
                trace_id=request_id,
            )
        ).encode()

    def failure_event(self, failure: ApiFailure, request_id: str) -> WireEvent:
        error = ErrorEvent(
            error=failure.message,
            code=failure.row.reader_code,
            retry_after=failure.retry_after,
            trace_id=request_id,
        )
        return WireEvent("error", _json(error))


MESSAGE_DIALECT = MessageDialect()


class MessageStream:
    """Named events in the order of the engine's."""

    def __init__(self, dialect: MessageDialect, request_id: str) -> None:
        self._dialect = dialect
        self._request_id = request_id
        self._sent = ""

    def render(self, event: AnswerEvent) -> Sequence[WireEvent]:
        match event:
            case SearchStarted(query, top_k, filters):
                chosen = {field: list(values) for field, values in filters.items()} or None
                arguments = ToolArguments(query=query, top_k=top_k, filters=chosen)
                return [WireEvent("tool_call", _json(ToolCallEvent(tool_name=TOOL, arguments=arguments)))]
            case PassagesFound(query, passages):
                results = [_shown(found.passage, found.score) for found in passages]
                return [WireEvent("retrieval", _json(RetrievalEvent(query=query, results=results)))]
            case TextReleased(text) if text:
                self._sent += text
                return [_content(text)]
            case Completed(answer):
                return self._end(answer)
            case Failed(error):
                return [self._dialect.failure_event(failure_of(error), self._request_id)]
        return []

    def _end(self, answer: Answer) -> list[WireEvent]:
        reply = reader_reply(answer)
        done = WireEvent("done", _json(reply))
        if reply.response.startswith(self._sent) and reply.response != self._sent:
            return [_content(reply.response[len(self._sent) :]), done]
        return [done]


def _json(model: BaseModel) -> str:
    return dumped(model, exclude_none=True)


def _content(text: str) -> WireEvent:
    return WireEvent("content", _json(ContentEvent(delta=text)))


def _detail(failure: ApiFailure) -> str:
    return f"Validation error: {failure.message}" if failure.row.code == "validation_error" else failure.message


def reader_reply(answer: Answer) -> ChatRunResponse:
    answered = answer.status == "success" and answer.confidence_level != "insufficient" and bool(answer.text)
    reason = answer.refusal_reason or answer.fallback_message
    return ChatRunResponse(
        response=answer.text if answered else "",
        confidence=similarity(answer.confidence),
        confidence_level=answer.confidence_level,
        sources=[_source(citation) for citation in answer.citations],
        session_id=answer.session_id,
        should_answer=answered,
        refusal_reason=None if answered else reason or "No relevant content found with sufficient confidence",
        related=related_of(answer),
        metadata=metadata_of(answer),
    )


def _source(citation: Citation) -> ReaderSource:
    if citation.span is not None:
        return _selected(citation, citation.span)
    shown = _shown(citation.passage, citation.score, citation.quote)
    return shown.model_copy(update={"number": citation.number, "quote": citation.quote})


def _selected(citation: Citation, whole: SelectionSpan) -> ReaderSource:
    quote, span = cut(citation.quote, whole)
    return ReaderSource(
        chunk_text=quote,
        similarity_score=1.0,
        chapter="User Selection",
        section="Selected text",
        chunk_index=citation.passage.chunk_index,
        number=citation.number,
        quote=quote,
        char_start=span.char_start,
        char_end=span.char_end,
    )


def _shown(passage: Passage, score: float, quote: str = "") -> ReaderSource:
    return ReaderSource(
        chunk_text=snippet(passage, quote),
        similarity_score=similarity(score),
        chapter=passage.chapter,
        section=" > ".join(passage.heading_path) or NO_HEADING,
        url=passage.section_url,
        chunk_index=passage.chunk_index,
        page_number=passage.page_number,
    )
