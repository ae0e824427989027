"""OpenAPI: what FastAPI cannot read off a typed route. Failures by the table, events of streams, headers, the key."""

import json
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import Depends, FastAPI, Header, Security
from fastapi.security import APIKeyHeader
from pydantic import BaseModel
from pydantic.json_schema import SkipJsonSchema, models_json_schema
from starlette.routing import compile_path

from citewell.api.dialects.completions import OPENAI_DIALECT
from citewell.api.dialects.message import MESSAGE_DIALECT
from citewell.api.dialects.protocol import Dialect
from citewell.api.dialects.query import QUERY_DIALECT
from citewell.api.examples import EXAMPLE_ID, example_reply, example_stream
from citewell.api.http_errors import (
    TABLE,
    ApiFailure,
    ErrorRow,
    KeyConflict,
    LimitReached,
    NotAcceptable,
    PayloadTooLarge,
    SlowBody,
    Unauthorized,
)
from citewell.errors import CitewellError, InvalidInputError, NotFoundError

Document = dict[str, Any]
Responses = dict[int | str, Document]
"""Replies of a route by status, as FastAPI takes them."""

DESCRIPTION = """Questions answered from one book, every sentence checked and cited.

Two dialects speak to one engine: developers send a `query`, readers send a `message`. `POST /chat/stream` tells them
apart by the body. A failure has the shape of the dialect that asked; what cannot be parsed gets the developer's."""

DIALECTS: tuple[Dialect, ...] = (QUERY_DIALECT, MESSAGE_DIALECT, OPENAI_DIALECT)
Kinds = tuple[type[CitewellError], ...]
GUARD: Kinds = (Unauthorized, NotAcceptable, LimitReached)
BODY: Kinds = (InvalidInputError, PayloadTooLarge, SlowBody)
SERVICES: Kinds = tuple(row.error for row in TABLE if row.message and row.error is not CitewellError)
_SAID: dict[type[CitewellError], str] = {
    InvalidInputError: "query exceeds maximum length of 2000 characters (it has 2431); please shorten it.",
    PayloadTooLarge: "The body is larger than 64 KiB (65536 bytes).",
    SlowBody: "The body did not arrive within 10 seconds.",
    Unauthorized: "A valid key is required in the header X-API-Key.",
    NotAcceptable: "This server speaks version 1: Accept: application/vnd.api.v1+json.",
    NotFoundError: "There is no such turn in this session.",
    KeyConflict: "This Idempotency-Key was used with another body.",
    LimitReached: "Rate limit exceeded: 60 requests a minute.",
}
"""Examples of failures that speak of the request."""
LIMITS = ("RateLimit", "RateLimit-Policy")
ASKED = ("Idempotency-Replayed", *LIMITS)
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


async def _request_headers(
    x_request_id: Annotated[
        str | SkipJsonSchema[None],
        Header(alias="X-Request-ID", description="Taken over when it is harmless, else a new one is made"),
    ] = None,
    traceparent: Annotated[str | SkipJsonSchema[None], Header(description="W3C trace context, passed on")] = None,
) -> None:
    """Read by the middleware; declared for the description."""


IdempotencyKey = Annotated[
    str | SkipJsonSchema[None],
    Header(
        alias="Idempotency-Key",
        description="The same key and body get the finished answer again; another body is a conflict",
        json_schema_extra={"minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"},
    ),
]
_KEY = APIKeyHeader(
    name="X-API-Key", scheme_name="ApiKey", description="Only when the server has API_KEYS set", auto_error=False
)
HEADERS = [Depends(_request_headers)]
KEYED = [*HEADERS, Security(_KEY)]


def reply(description: str, *headers: str, status: int = 200, **more: Any) -> Responses:
    return {status: {"description": description, "headers": _header_refs(*headers), **more}}


def _header_refs(*names: str) -> Document:
    return {name: {"$ref": f"#/components/headers/{name}"} for name in ("X-Request-ID", *names)}


def answer(description: str, *dialects: Dialect, one: bool = True, stream: bool = True) -> Responses:
    """The reply to a question: in one piece, as events, or as either, with an example of each dialect."""
    content: Document = {}
    if one:
        content["application/json"] = {"examples": {"answer": _example_ref(f"{dialects[0].name}_answer")}}
    if stream:
        events = _event_schema([model for dialect in dialects for model in dialect.event_models])
        content["text/event-stream"] = {
            "schema": {
                "type": "array",
                "items": events,
            },  # for tools that do not know itemSchema yet
            "itemSchema": events,
            "examples": {dialect.name: {"value": example_stream(dialect)} for dialect in dialects},
        }
    return reply(description, *ASKED, content=content)


def failures(*kinds: type[CitewellError], dialects: Sequence[Dialect] = (QUERY_DIALECT,)) -> Responses:
    """The rows of the table as replies by status, each with an example. What nobody foresaw is always among them."""
    found: Responses = {}
    for row in TABLE:
        if row.error not in (*kinds, CitewellError):
            continue
        for dialect in dialects:
            failure = _example(row)
            shown = found.setdefault(dialect.status(failure), _failure_reply(dialects))
            if failure.wait is not None:
                shown["headers"] |= _header_refs("Retry-After")
            code = row.reader_code if dialect.name == "reader" else row.code
            name = f"{dialect.name}_{row.error.__name__}"
            shown["content"]["application/json"]["examples"][name] = _example_ref(name)
            if code not in shown["description"]:
                shown["description"] = f"{shown['description']} `{code}`".strip()
    return found


def _example(row: ErrorRow) -> ApiFailure:
    said = row.status in (409, 429)  # the body says how long to wait too
    wait = row.wait or (12 if said else None)
    return ApiFailure(row, row.message or _SAID[row.error], row.code, retry_after=wait if said else None, wait=wait)


def _failure_reply(dialects: Sequence[Dialect]) -> Document:
    schemas = [_ref(dialect.failure_model) for dialect in dialects]
    schema = schemas[0] if len(schemas) == 1 else {"oneOf": schemas}
    content = {"application/json": {"schema": schema, "examples": {}}}
    return {"description": "", "headers": _header_refs(), "content": content}


def _event_schema(models: Sequence[type[BaseModel]]) -> Document:
    """An event of a stream, as OpenAPI 3.2 describes it."""
    data: Document = {"type": "string"}
    if models:
        data |= {"contentMediaType": "application/json", "contentSchema": {"oneOf": [_ref(m) for m in models]}}
    properties = {"id": {"type": "string"}, "event": {"type": "string"}, "data": data}
    return {"type": "object", "required": ["data"], "properties": properties}


def _ref(model: type[BaseModel]) -> Document:
    return {"$ref": f"#/components/schemas/{model.__name__}"}


def _example_ref(name: str) -> Document:
    return {"$ref": f"#/components/examples/{name}"}


def _examples() -> Document:
    """Every reply and failure as each dialect tells it, by the names that `answer` and `failures` refer to."""
    found = {f"{dialect.name}_answer": example_reply(dialect) for dialect in DIALECTS} | {
        f"{dialect.name}_{row.error.__name__}": json.loads(dialect.failure(_example(row), EXAMPLE_ID))
        for dialect in DIALECTS
        for row in TABLE
        if row.message or row.error in _SAID
    }
    return {name: {"value": value} for name, value in found.items()}


class DocumentedApp(FastAPI):
    """FastAPI, whose description also has the models of failures and events, and no 422: we never send one."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema:
            return self.openapi_schema
        schema = super().openapi()
        for path in schema["paths"].values():
            for operation in path.values():
                operation["responses"].pop("422", None)
                if "security" in operation:
                    operation["security"].insert(0, {})  # a key is asked for only when the server has keys
        unseen = {model for dialect in DIALECTS for model in (dialect.failure_model, *dialect.event_models)}
        _, found = models_json_schema(
            [(model, "serialization") for model in sorted(unseen, key=lambda model: model.__name__)],
            ref_template="#/components/schemas/{model}",
        )
        components = schema["components"]
        components["schemas"] = dict(sorted({**found["$defs"], **components["schemas"]}.items()))
        for name in ("HTTPValidationError", "ValidationError"):
            components["schemas"].pop(name, None)
        components["headers"] = _HEADERS
        components["examples"] = _examples()  # here, because FastAPI drops what is null
        self.openapi_schema = schema
        return schema

    def methods_of(self, path: str) -> str:
        """Every method of a path; the router tells only those of the first route that fits."""
        paths: dict[str, dict[str, Any]] = self.openapi()["paths"]
        found = (methods for known, methods in paths.items() if compile_path(known)[0].match(path))
        return ", ".join(method.upper() for methods in found for method in methods)
