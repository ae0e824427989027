"""The OpenAI protocol under /v1: chat completions, and the book as the one model."""

import time
from typing import Annotated

from fastapi import APIRouter, Body, Path, Request, Response

from citewell.api.app_state import state_of
from citewell.api.dialects.completions import (
    MODEL,
    OPENAI_DIALECT,
    Completion,
    CompletionRequest,
    ModelEntry,
    ModelList,
    OpenAIDialect,
)
from citewell.api.dialects.wire import encoded
from citewell.api.examples import COMPLETION_EXAMPLES
from citewell.api.guarded_route import GuardedRoute
from citewell.api.http_errors import KeyConflict
from citewell.api.middleware import exchange_of, json_reply
from citewell.api.openapi import (
    BODY,
    GUARD,
    KEYED,
    LIMITS,
    SERVICES,
    IdempotencyKey,
    answer,
    failures,
    reply,
)
from citewell.api.questions import answered
from citewell.conversations.session_ids import new_session_id
from citewell.errors import NotFoundError

router = APIRouter(tags=["other protocols"], dependencies=KEYED, route_class=GuardedRoute)


@router.post(
    "/v1/chat/completions",
    summary="Ask, as a client of the OpenAI protocol; citations are annotations",
    response_model=Completion,
    responses=answer("The answer, or with `stream` its chunks", OPENAI_DIALECT)
    | failures(*GUARD, *BODY, KeyConflict, *SERVICES, dialects=(OPENAI_DIALECT,)),
)
async def completions(
    request: Request,
    asked: Annotated[CompletionRequest, Body(openapi_examples=COMPLETION_EXAMPLES)],
    idempotency_key: IdempotencyKey = None,
) -> Response:
    exchange = exchange_of(request)
    # Where the book's own addresses can be opened: a client elsewhere knows no other site.
    base = state_of(request).options.public_url or str(request.base_url)
    exchange.dialect = dialect = OpenAIDialect(created=int(time.time()), base=base)
    question = dialect.question(asked, new_session_id=new_session_id(), request_id=exchange.request_id)
    return await answered(request, question, idempotency_key, streaming=asked.stream)


@router.post("/v1/responses", include_in_schema=False)
async def responses(request: Request) -> Response:
    """Where some clients go by default."""
    del request
    raise NotFoundError("This server speaks chat completions: POST /v1/chat/completions, not /v1/responses.")


@router.get(
    "/v1/models",
    summary="The one model there is: the book",
    response_model=ModelList,
    responses=reply("Models", *LIMITS) | failures(*GUARD, dialects=(OPENAI_DIALECT,)),
)
async def models(request: Request) -> Response:
    return json_reply(encoded(ModelList(data=[await _model(request)])))


@router.get(
    "/v1/models/{model}",
    summary="The one model by its name",
    response_model=ModelEntry,
    responses=reply("The model", *LIMITS) | failures(*GUARD, NotFoundError, dialects=(OPENAI_DIALECT,)),
)
async def model(
    request: Request, model: Annotated[str, Path(json_schema_extra={"minLength": 1}, examples=[MODEL])]
) -> Response:
    if model != MODEL:
        raise NotFoundError(f"There is one model here: {MODEL}.")
    return json_reply(encoded(await _model(request)))


async def _model(request: Request) -> ModelEntry:
    published_at = await state_of(request).published_at()
    return ModelEntry(created=int(published_at.timestamp() if published_at else time.time()))
