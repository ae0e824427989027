"""OpenAPI for routes that parse their own bodies: operations, parameters, replies, errors, headers, examples. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from citewell.api import message_dialect as reader
from citewell.api import openai_dialect as openai
from citewell.api import query_dialect as developer
from citewell.api import resources
from citewell.api.dialect import Dialect
from citewell.api.examples import (
    COMPLETION_EXAMPLES,
    COMPLETION_STREAM,
    EXAMPLE_ID,
    MESSAGE_EXAMPLES,
    MESSAGE_STREAM,
    QUERY_EXAMPLES,
    QUERY_STREAM,
    SAMPLES,
)
from citewell.api.statuses import (
    TABLE,
    Conflict,
    LimitReached,
    MethodNotAllowed,
    NotAcceptable,
    PathUnknown,
    PayloadTooLarge,
    Row,
    SlowBody,
    Unauthorized,
    failure_of,
)
from citewell.errors import CitewellError, InvalidInputError, NotFoundError

Document = dict[str, Any]
"""A piece of OpenAPI; what FastAPI merges into its own."""

DESCRIPTION = """Questions answered from one book, every sentence checked and cited.

Two dialects speak to one engine: developers send a `query`, readers send a `message`. `POST /chat/stream` tells them
apart by the body. A failure has the shape of the dialect that asked; what cannot be parsed gets the developer's."""

_REQUESTS: tuple[type[BaseModel], ...] = (
    developer.ChatRequest,
    reader.ChatRunRequest,
    resources.FeedbackRequest,
    openai.CompletionRequest,
)
_REPLIES: tuple[type[BaseModel], ...] = (
    developer.ChatResponse,
    developer.ErrorResponse,
    developer.StreamChunk,
    developer.StreamSources,
    developer.StreamDone,
    developer.StreamError,
    reader.ChatRunResponse,
    reader.ReaderErrorResponse,
    reader.ToolCallEvent,
    reader.RetrievalEvent,
    reader.ContentEvent,
    reader.ErrorEvent,
    resources.HealthResponse,
    resources.LiveResponse,
    resources.ReadyResponse,
    resources.SessionResponse,
    resources.DeletedResponse,
    resources.PageListEntry,
    resources.PageResponse,
    openai.Completion,
    openai.CompletionError,
    openai.ModelList,
    openai.ModelEntry,
)


def ref(model: type[BaseModel]) -> Document:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def components() -> Document:
    """Every schema, header and key that the operations refer to."""
    _, requests = models_json_schema(
        [(model, "validation") for model in _REQUESTS], ref_template="#/components/schemas/{model}"
    )
    _, replies = models_json_schema(
        [(model, "serialization") for model in _REPLIES], ref_template="#/components/schemas/{model}"
    )
    return {
        "schemas": {**requests["$defs"], **replies["$defs"]},
        "securitySchemes": {
            "ApiKey": {
                "type": "apiKey",
                "in": "header",
                "name": "X-API-Key",
                "description": "Only when the server has API_KEYS set",
            }
        },
        "headers": _HEADERS,
    }


_HEADERS: Document = {
    "X-Request-ID": {"description": "The request's id, in logs and errors too", "schema": {"type": "string"}},
    "RateLimit": {"description": 'Where you stand, for example `"address";r=59;t=60`', "schema": {"type": "string"}},
    "RateLimit-Policy": {"description": 'The limits, for example `"address";q=60;w=60`', "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds to wait", "schema": {"type": "integer"}},
    "Idempotency-Replayed": {
        "description": "`true` when a kept answer is given again",
        "schema": {"type": "string", "enum": ["true"]},
    },
}


def _headers(*names: str) -> Document:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-ID", *names)}


_LIMITS = ("RateLimit", "RateLimit-Policy")
_PARAMETERS: Mapping[str, Document] = {
    "request_id": {
        "name": "X-Request-ID",
        "in": "header",
        "description": "Taken over when it is harmless, else a new one is made",
        "schema": {"type": "string"},
    },
    "traceparent": {
        "name": "traceparent",
        "in": "header",
        "description": "W3C trace context, passed on",
        "schema": {"type": "string"},
    },
    "idempotency": {
        "name": "Idempotency-Key",
        "in": "header",
        "description": "The same key and body get the finished answer again; another body is a conflict",
        "schema": {"type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    },
    "session_id": {
        "name": "session_id",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "pattern": developer.SESSION_PATTERN},
        "example": EXAMPLE_ID,
    },
    "turn_id": {
        "name": "turn_id",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": 64},
        "example": "0b9f3c1e-52c4-4f0a-8a59-6cf1f2f1a001",
    },
    "model": {
        "name": "model",
        "in": "path",
        "required": True,
        "schema": {"type": "string", "minLength": 1, "maxLength": 200},
        "example": openai.MODEL,
    },
    "limit": {
        "name": "limit",
        "in": "query",
        "schema": {"type": "integer", "minimum": 1, "maximum": 100, "default": 50},
    },
    "before": {
        "name": "before",
        "in": "query",
        "description": "The `earlier` of the reply before",
        "schema": {"type": "string", "minLength": 1, "maxLength": 64},
    },
    "url": {
        "name": "url",
        "in": "query",
        "required": True,
        "description": "As /book/pages lists it",
        "schema": {"type": "string", "minLength": 1, "maxLength": 2000},
        "example": "/docs/intro",
    },
}


def _errors(dialects: Sequence[Dialect], *but: type[CitewellError]) -> Document:
    """The rows of the table as replies, each with an example, by status."""
    found: dict[str, Document] = {}
    for row in TABLE:
        if row.error in but or row.error is MethodNotAllowed:  # an operation is a method
            continue
        for dialect in dialects:
            status = str(dialect.status(failure_of(_sample(row))))
            reply = found.setdefault(status, _error_reply(dialects))
            reply["headers"] |= _headers(*(("Retry-After",) if row.wait or status in ("409", "429") else ()))
            example = json.loads(dialect.failure(failure_of(_sample(row)), EXAMPLE_ID))
            code = row.reader_code if dialect.name == "reader" else row.code
            reply["content"]["application/json"]["examples"][f"{code}_{row.error.__name__}"] = {"value": example}
            if code not in reply["description"]:
                reply["description"] = f"{reply['description']} `{code}`".strip()
    return found


def _sample(row: Row) -> CitewellError:
    return next((sample for sample in SAMPLES if type(sample) is row.error), None) or _of(row)


def _of(row: Row) -> CitewellError:
    error = row.error.__new__(row.error)
    Exception.__init__(error, row.message)
    return error


def _error_reply(dialects: Sequence[Dialect]) -> Document:
    models: dict[str, type[BaseModel]] = {
        "developer": developer.ErrorResponse,
        "reader": reader.ReaderErrorResponse,
        "openai": openai.CompletionError,
    }
    schemas = [ref(models[dialect.name]) for dialect in dialects]
    schema = schemas[0] if len(schemas) == 1 else {"oneOf": schemas}
    return {
        "description": "",
        "headers": _headers(),
        "content": {"application/json": {"schema": schema, "examples": {}}},
    }


_DEVELOPER: tuple[Dialect, ...] = (developer.QUERY_DIALECT,)
_READER: tuple[Dialect, ...] = (reader.MESSAGE_DIALECT,)
_OPENAI: tuple[Dialect, ...] = (openai.OPENAI_DIALECT,)
_BOTH = (*_DEVELOPER, *_READER)
_OF_BODIES = (InvalidInputError, PayloadTooLarge, SlowBody, Conflict)
_SERVICES = tuple(row.error for row in TABLE if row.message and row.error is not CitewellError)


def _operation(
    name: str, summary: str, tag: str, parameters: Sequence[str], responses: Document, **more: Any
) -> Document:
    given = [_PARAMETERS[parameter] for parameter in (*parameters, "request_id", "traceparent")]
    return {"operationId": name, "summary": summary, "tags": [tag], "parameters": given, "responses": responses, **more}


def _replied(model: type[BaseModel], description: str, *headers: str) -> Document:
    return {
        "description": description,
        "headers": _headers(*headers),
        "content": {"application/json": {"schema": ref(model)}},
    }


def _body(content: Document) -> Document:
    return {"required": True, "content": {"application/json": content}}


_KEYED: list[Document] = [{}, {"ApiKey": []}]
_ASKED = ("Idempotency-Replayed", *_LIMITS)


def _events(*models: type[BaseModel]) -> Document:
    """Each event of a stream, as OpenAPI 3.2 describes them."""
    data = {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": {"oneOf": [ref(model) for model in models]},
    }
    properties = {"id": {"type": "string"}, "event": {"type": "string"}, "data": data}
    return {"type": "object", "required": ["data"], "properties": properties}


_QUERY_EVENTS = (developer.StreamChunk, developer.StreamSources, developer.StreamDone, developer.StreamError)
_MESSAGE_EVENTS = (
    reader.ToolCallEvent,
    reader.RetrievalEvent,
    reader.ContentEvent,
    reader.ChatRunResponse,
    reader.ErrorEvent,
)
_chat_reply = _replied(developer.ChatResponse, "The answer, or with `stream` its events", *_ASKED)
_chat_reply["content"]["text/event-stream"] = {"itemSchema": _events(*_QUERY_EVENTS), "example": QUERY_STREAM}

CHAT = _operation(
    "chat",
    "Ask, as a developer",
    "questions",
    ["idempotency"],
    {"200": _chat_reply, **_errors(_DEVELOPER, PathUnknown, NotFoundError)},
    requestBody=_body({"schema": ref(developer.ChatRequest), "examples": QUERY_EXAMPLES}),
    security=_KEYED,
)
CHAT_RUN = _operation(
    "chat_run",
    "Ask, as a reader",
    "questions",
    ["idempotency"],
    {
        "200": _replied(reader.ChatRunResponse, "The answer", *_ASKED),
        **_errors(_READER, PathUnknown, NotFoundError),
    },
    requestBody=_body({"schema": ref(reader.ChatRunRequest), "examples": MESSAGE_EXAMPLES}),
    security=_KEYED,
)
CHAT_STREAM = _operation(
    "chat_stream",
    "Ask, as either, and read the answer while it is made",
    "questions",
    ["idempotency"],
    {
        "200": {
            "description": "Events. Readers get named ones, developers get `data` with a `type`. A failure after the "
            "first event is the last event.",
            "headers": _headers(*_ASKED),
            "content": {
                "text/event-stream": {
                    "itemSchema": _events(*_QUERY_EVENTS, *_MESSAGE_EVENTS),
                    "examples": {"developer": {"value": QUERY_STREAM}, "reader": {"value": MESSAGE_STREAM}},
                }
            },
        },
        **_errors(_BOTH, PathUnknown, NotFoundError),
    },
    requestBody=_body(
        {
            "schema": {"oneOf": [ref(developer.ChatRequest), ref(reader.ChatRunRequest)]},
            "examples": QUERY_EXAMPLES | MESSAGE_EXAMPLES,
        }
    ),
    security=_KEYED,
)
_UNASKED = (*_OF_BODIES, *_SERVICES, PathUnknown, NotFoundError, Unauthorized, NotAcceptable, LimitReached)
_health_down = _replied(resources.HealthResponse, "The index or the database is down")
HEALTH = _operation(
    "health",
    "How each part is",
    "health",
    [],
    {
        "200": _replied(resources.HealthResponse, "Healthy, or degraded"),
        "503": _health_down,
        **_errors(_DEVELOPER, *_UNASKED),
    },
)
LIVE = _operation(
    "live",
    "That the process runs",
    "health",
    [],
    {"200": _replied(resources.LiveResponse, "It runs"), **_errors(_DEVELOPER, *_UNASKED)},
)
READY = _operation(
    "ready",
    "Whether to send it questions",
    "health",
    [],
    {
        "200": _replied(resources.ReadyResponse, "Ready"),
        "503": _replied(resources.ReadyResponse, "Not ready"),
        **_errors(_DEVELOPER, *_UNASKED),
    },
)
METRICS = _operation(
    "metrics",
    "Numbers for Prometheus",
    "health",
    [],
    {
        "200": {
            "description": "In Prometheus's text format",
            "headers": _headers(),
            "content": {"text/plain": {"schema": {"type": "string"}}},
        },
        **_errors(_DEVELOPER, *(error for error in _UNASKED if error is not Unauthorized)),
    },
    security=_KEYED,
)
_STORED = (PayloadTooLarge, SlowBody, Conflict, PathUnknown)
SESSION = _operation(
    "session",
    "Read a conversation back",
    "sessions",
    ["session_id", "limit", "before"],
    {"200": _replied(resources.SessionResponse, "Turns", *_LIMITS), **_errors(_DEVELOPER, *_STORED)},
    security=_KEYED,
)
DELETE_SESSION = _operation(
    "delete_session",
    "Forget a conversation",
    "sessions",
    ["session_id"],
    {
        "200": _replied(resources.DeletedResponse, "Forgotten", *_LIMITS),
        **_errors(_DEVELOPER, *_STORED, NotFoundError),
    },
    security=_KEYED,
)
FEEDBACK = _operation(
    "feedback",
    "Say whether an answer helped",
    "sessions",
    ["session_id", "turn_id"],
    {
        "204": {"description": "Noted", "headers": _headers(*_LIMITS)},
        **_errors(_DEVELOPER, Conflict, PathUnknown),
    },
    requestBody=_body(
        {
            "schema": ref(resources.FeedbackRequest),
            "examples": {"up": {"value": {"rating": "up", "comment": "Just what I needed."}}},
        }
    ),
    security=_KEYED,
)
_READ = (PayloadTooLarge, SlowBody, Conflict, PathUnknown, LimitReached)
PAGES = _operation(
    "pages",
    "The book's table of contents",
    "book",
    [],
    {
        "200": {
            "description": "Pages in the order of the book",
            "headers": _headers(),
            "content": {"application/json": {"schema": {"type": "array", "items": ref(resources.PageListEntry)}}},
        },
        **_errors(_DEVELOPER, *_READ, InvalidInputError, NotFoundError),
    },
    security=_KEYED,
)
PAGE = _operation(
    "page",
    "A page of the book",
    "book",
    ["url"],
    {"200": _replied(resources.PageResponse, "The page as Markdown"), **_errors(_DEVELOPER, *_READ)},
    security=_KEYED,
)
QUESTIONS = _operation(
    "questions",
    "Questions to begin with, from the book's headings",
    "book",
    [],
    {
        "200": {
            "description": "At most four, in the order of the book; each is one that the search finds",
            "headers": _headers(),
            "content": {"application/json": {"schema": {"type": "array", "items": {"type": "string"}}}},
        },
        **_errors(_DEVELOPER, *_READ, InvalidInputError, NotFoundError),
    },
    security=_KEYED,
)
_completion = _replied(openai.Completion, "The answer, or with `stream` its chunks", *_ASKED)
_completion["content"]["text/event-stream"] = {"schema": {"type": "string"}, "example": COMPLETION_STREAM}
COMPLETIONS = _operation(
    "completions",
    "Ask, as a client of the OpenAI protocol; citations are annotations",
    "other protocols",
    ["idempotency"],
    {"200": _completion, **_errors(_OPENAI, PathUnknown, NotFoundError)},
    requestBody=_body({"schema": ref(openai.CompletionRequest), "examples": COMPLETION_EXAMPLES}),
    security=_KEYED,
)
MODELS = _operation(
    "models",
    "The one model there is: the book",
    "other protocols",
    [],
    {
        "200": _replied(openai.ModelList, "Models", *_LIMITS),
        **_errors(_OPENAI, *_OF_BODIES, *_SERVICES, PathUnknown, NotFoundError),
    },
    security=_KEYED,
)
MODEL_BY_ID = _operation(
    "model",
    "The one model by its name",
    "other protocols",
    ["model"],
    {
        "200": _replied(openai.ModelEntry, "The model", *_LIMITS),
        **_errors(_OPENAI, *_OF_BODIES, *_SERVICES, PathUnknown),
    },
    security=_KEYED,
)
