"""Every schema that OpenAPI's operations refer to."""

from pydantic import BaseModel
from pydantic.json_schema import models_json_schema

from citewell.api import health, pages, sessions
from citewell.api.described import HEADERS, Document
from citewell.api.dialects import completions as openai
from citewell.api.dialects import message as reader
from citewell.api.dialects import query as developer

_REQUESTS: tuple[type[BaseModel], ...] = (
    developer.ChatRequest,
    reader.ChatRunRequest,
    sessions.FeedbackRequest,
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
    health.HealthResponse,
    health.LiveResponse,
    health.ReadyResponse,
    sessions.SessionResponse,
    sessions.DeletedResponse,
    pages.PageListEntry,
    pages.PageResponse,
    openai.Completion,
    openai.CompletionError,
    openai.ModelList,
    openai.ModelEntry,
)


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
        "headers": HEADERS,
    }
