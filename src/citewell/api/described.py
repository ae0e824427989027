"""What every operation is described with in OpenAPI: models, headers, parameters, replies and errors. Pure."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel

from citewell.api.dialects import completions as openai
from citewell.api.dialects import message as reader
from citewell.api.dialects import query as developer
from citewell.api.dialects.protocol import Dialect
from citewell.api.examples import (
    EXAMPLE_ID,
    SAMPLES,
)
from citewell.api.http_errors import (
    TABLE,
    Conflict,
    ErrorRow,
    MethodNotAllowed,
    PayloadTooLarge,
    SlowBody,
    failure_of,
)
from citewell.errors import CitewellError, InvalidInputError

Document = dict[str, Any]
"""A piece of OpenAPI; what FastAPI merges into its own."""

DESCRIPTION = """Questions answered from one book, every sentence checked and cited.

Two dialects speak to one engine: developers send a `query`, readers send a `message`. `POST /chat/stream` tells them
apart by the body. A failure has the shape of the dialect that asked; what cannot be parsed gets the developer's."""


def ref(model: type[BaseModel] | str) -> Document:
    return {"$ref": f"#/components/schemas/{model if isinstance(model, str) else model.__name__}"}


HEADERS: Document = {
    "X-Request-ID": {"description": "The request's id, in logs and errors too", "schema": {"type": "string"}},
    "RateLimit": {"description": 'Where you stand, for example `"address";r=59;t=60`', "schema": {"type": "string"}},
    "RateLimit-Policy": {"description": 'The limits, for example `"address";q=60;w=60`', "schema": {"type": "string"}},
    "Retry-After": {"description": "Seconds to wait", "schema": {"type": "integer"}},
    "Idempotency-Replayed": {
        "description": "`true` when a kept answer is given again",
        "schema": {"type": "string", "enum": ["true"]},
    },
}


def headers_of(*names: str) -> Document:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-ID", *names)}


LIMITS = ("RateLimit", "RateLimit-Policy")
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


def errors_of(dialects: Sequence[Dialect], *but: type[CitewellError]) -> Document:
    """The rows of the table as replies, each with an example, by status."""
    found: dict[str, Document] = {}
    for row in TABLE:
        if row.error in but or row.error is MethodNotAllowed:  # an operation is a method
            continue
        for dialect in dialects:
            status = str(dialect.status(failure_of(_sample(row))))
            reply = found.setdefault(status, _error_reply(dialects))
            reply["headers"] |= headers_of(*(("Retry-After",) if row.wait or status in ("409", "429") else ()))
            example = json.loads(dialect.failure(failure_of(_sample(row)), EXAMPLE_ID))
            code = row.reader_code if dialect.name == "reader" else row.code
            reply["content"]["application/json"]["examples"][f"{code}_{row.error.__name__}"] = {"value": example}
            if code not in reply["description"]:
                reply["description"] = f"{reply['description']} `{code}`".strip()
    return found


def _sample(row: ErrorRow) -> CitewellError:
    return next((sample for sample in SAMPLES if type(sample) is row.error), None) or _of(row)


def _of(row: ErrorRow) -> CitewellError:
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
        "headers": headers_of(),
        "content": {"application/json": {"schema": schema, "examples": {}}},
    }


DEVELOPER: tuple[Dialect, ...] = (developer.QUERY_DIALECT,)
READER: tuple[Dialect, ...] = (reader.MESSAGE_DIALECT,)
OPENAI: tuple[Dialect, ...] = (openai.OPENAI_DIALECT,)
BOTH = (*DEVELOPER, *READER)
OF_BODIES = (InvalidInputError, PayloadTooLarge, SlowBody, Conflict)
SERVICES = tuple(row.error for row in TABLE if row.message and row.error is not CitewellError)


def operation(
    name: str, summary: str, tag: str, parameters: Sequence[str], responses: Document, **more: Any
) -> Document:
    given = [_PARAMETERS[parameter] for parameter in (*parameters, "request_id", "traceparent")]
    return {"operationId": name, "summary": summary, "tags": [tag], "parameters": given, "responses": responses, **more}


def replied(model: type[BaseModel] | str, description: str, *headers: str) -> Document:
    return {
        "description": description,
        "headers": headers_of(*headers),
        "content": {"application/json": {"schema": ref(model)}},
    }


def body_of(content: Document) -> Document:
    return {"required": True, "content": {"application/json": content}}


KEYED: list[Document] = [{}, {"ApiKey": []}]
ASKED = ("Idempotency-Replayed", *LIMITS)


def events_of(*models: type[BaseModel]) -> Document:
    """Each event of a stream, as OpenAPI 3.2 describes them."""
    data = {
        "type": "string",
        "contentMediaType": "application/json",
        "contentSchema": {"oneOf": [ref(model) for model in models]},
    }
    properties = {"id": {"type": "string"}, "event": {"type": "string"}, "data": data}
    return {"type": "object", "required": ["data"], "properties": properties}
