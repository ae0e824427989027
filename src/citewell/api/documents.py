"""OpenAPI for routes that parse their own bodies, one operation each. Pure; `described` has the parts."""

from citewell.api.described import (
    ASKED,
    BOTH,
    DEVELOPER,
    KEYED,
    LIMITS,
    OF_BODIES,
    OPENAI,
    READER,
    SERVICES,
    body_of,
    errors_of,
    events_of,
    headers_of,
    operation,
    ref,
    replied,
)
from citewell.api.dialects import completions as openai
from citewell.api.dialects import message as reader
from citewell.api.dialects import query as developer
from citewell.api.examples import (
    COMPLETION_EXAMPLES,
    COMPLETION_STREAM,
    MESSAGE_EXAMPLES,
    MESSAGE_STREAM,
    QUERY_EXAMPLES,
    QUERY_STREAM,
)
from citewell.api.http_errors import (
    Conflict,
    LimitReached,
    NotAcceptable,
    PathUnknown,
    PayloadTooLarge,
    SlowBody,
    Unauthorized,
)
from citewell.errors import InvalidInputError, NotFoundError

_QUERY_EVENTS = (developer.StreamChunk, developer.StreamSources, developer.StreamDone, developer.StreamError)
_MESSAGE_EVENTS = (
    reader.ToolCallEvent,
    reader.RetrievalEvent,
    reader.ContentEvent,
    reader.ChatRunResponse,
    reader.ErrorEvent,
)
_chat_reply = replied(developer.ChatResponse, "The answer, or with `stream` its events", *ASKED)
_chat_reply["content"]["text/event-stream"] = {"itemSchema": events_of(*_QUERY_EVENTS), "example": QUERY_STREAM}

CHAT = operation(
    "chat",
    "Ask, as a developer",
    "questions",
    ["idempotency"],
    {"200": _chat_reply, **errors_of(DEVELOPER, PathUnknown, NotFoundError)},
    requestBody=body_of({"schema": ref(developer.ChatRequest), "examples": QUERY_EXAMPLES}),
    security=KEYED,
)
CHAT_RUN = operation(
    "chat_run",
    "Ask, as a reader",
    "questions",
    ["idempotency"],
    {
        "200": replied(reader.ChatRunResponse, "The answer", *ASKED),
        **errors_of(READER, PathUnknown, NotFoundError),
    },
    requestBody=body_of({"schema": ref(reader.ChatRunRequest), "examples": MESSAGE_EXAMPLES}),
    security=KEYED,
)
CHAT_STREAM = operation(
    "chat_stream",
    "Ask, as either, and read the answer while it is made",
    "questions",
    ["idempotency"],
    {
        "200": {
            "description": "Events. Readers get named ones, developers get `data` with a `type`. A failure after the "
            "first event is the last event.",
            "headers": headers_of(*ASKED),
            "content": {
                "text/event-stream": {
                    "itemSchema": events_of(*_QUERY_EVENTS, *_MESSAGE_EVENTS),
                    "examples": {"developer": {"value": QUERY_STREAM}, "reader": {"value": MESSAGE_STREAM}},
                }
            },
        },
        **errors_of(BOTH, PathUnknown, NotFoundError),
    },
    requestBody=body_of(
        {
            "schema": {"oneOf": [ref(developer.ChatRequest), ref(reader.ChatRunRequest)]},
            "examples": QUERY_EXAMPLES | MESSAGE_EXAMPLES,
        }
    ),
    security=KEYED,
)
_UNASKED = (*OF_BODIES, *SERVICES, PathUnknown, NotFoundError, Unauthorized, NotAcceptable, LimitReached)
_health_down = replied("HealthResponse", "The index or the database is down")
HEALTH = operation(
    "health",
    "How each part is",
    "health",
    [],
    {
        "200": replied("HealthResponse", "Healthy, or degraded"),
        "503": _health_down,
        **errors_of(DEVELOPER, *_UNASKED),
    },
)
LIVE = operation(
    "live",
    "That the process runs",
    "health",
    [],
    {"200": replied("LiveResponse", "It runs"), **errors_of(DEVELOPER, *_UNASKED)},
)
READY = operation(
    "ready",
    "Whether to send it questions",
    "health",
    [],
    {
        "200": replied("ReadyResponse", "Ready"),
        "503": replied("ReadyResponse", "Not ready"),
        **errors_of(DEVELOPER, *_UNASKED),
    },
)
METRICS = operation(
    "metrics",
    "Numbers for Prometheus",
    "health",
    [],
    {
        "200": {
            "description": "In Prometheus's text format",
            "headers": headers_of(),
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
        **errors_of(DEVELOPER, *(error for error in _UNASKED if error is not Unauthorized)),
    },
    security=KEYED,
)
_STORED = (PayloadTooLarge, SlowBody, Conflict, PathUnknown)
SESSION = operation(
    "session",
    "Read a conversation back",
    "sessions",
    ["session_id", "limit", "before"],
    {"200": replied("SessionResponse", "Turns", *LIMITS), **errors_of(DEVELOPER, *_STORED)},
    security=KEYED,
)
DELETE_SESSION = operation(
    "delete_session",
    "Forget a conversation",
    "sessions",
    ["session_id"],
    {
        "200": replied("DeletedResponse", "Forgotten", *LIMITS),
        **errors_of(DEVELOPER, *_STORED, NotFoundError),
    },
    security=KEYED,
)
FEEDBACK = operation(
    "feedback",
    "Say whether an answer helped",
    "sessions",
    ["session_id", "turn_id"],
    {
        "204": {"description": "Noted", "headers": headers_of(*LIMITS)},
        **errors_of(DEVELOPER, Conflict, PathUnknown),
    },
    requestBody=body_of(
        {
            "schema": ref("FeedbackRequest"),
            "examples": {"up": {"value": {"rating": "up", "comment": "Just what I needed."}}},
        }
    ),
    security=KEYED,
)
_READ = (PayloadTooLarge, SlowBody, Conflict, PathUnknown, LimitReached)
PAGES = operation(
    "pages",
    "The book's table of contents",
    "book",
    [],
    {
        "200": {
            "description": "Pages in the order of the book",
            "headers": headers_of(),
            "content": {"application/json": {"schema": {"type": "array", "items": ref("PageListEntry")}}},
        },
        **errors_of(DEVELOPER, *_READ, InvalidInputError, NotFoundError),
    },
    security=KEYED,
)
PAGE = operation(
    "page",
    "A page of the book",
    "book",
    ["url"],
    {"200": replied("PageResponse", "The page as Markdown and as blocks"), **errors_of(DEVELOPER, *_READ)},
    security=KEYED,
)
QUESTIONS = operation(
    "questions",
    "Questions to begin with, from the book's headings",
    "book",
    [],
    {
        "200": {
            "description": "At most four, in the order of the book; each is one that the search finds",
            "headers": headers_of(),
            "content": {"application/json": {"schema": {"type": "array", "items": {"type": "string"}}}},
        },
        **errors_of(DEVELOPER, *_READ, InvalidInputError, NotFoundError),
    },
    security=KEYED,
)
_completion = replied(openai.Completion, "The answer, or with `stream` its chunks", *ASKED)
_completion["content"]["text/event-stream"] = {"schema": {"type": "string"}, "example": COMPLETION_STREAM}
COMPLETIONS = operation(
    "completions",
    "Ask, as a client of the OpenAI protocol; citations are annotations",
    "other protocols",
    ["idempotency"],
    {"200": _completion, **errors_of(OPENAI, PathUnknown, NotFoundError)},
    requestBody=body_of({"schema": ref(openai.CompletionRequest), "examples": COMPLETION_EXAMPLES}),
    security=KEYED,
)
MODELS = operation(
    "models",
    "The one model there is: the book",
    "other protocols",
    [],
    {
        "200": replied(openai.ModelList, "Models", *LIMITS),
        **errors_of(OPENAI, *OF_BODIES, *SERVICES, PathUnknown, NotFoundError),
    },
    security=KEYED,
)
MODEL_BY_ID = operation(
    "model",
    "The one model by its name",
    "other protocols",
    ["model"],
    {
        "200": replied(openai.ModelEntry, "The model", *LIMITS),
        **errors_of(OPENAI, *OF_BODIES, *SERVICES, PathUnknown),
    },
    security=KEYED,
)
