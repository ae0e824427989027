"""The OpenAI protocol under /v1: chat completions, and the book as the one model."""

import time
from collections.abc import Mapping

from fastapi import APIRouter, Request, Response

from citewell.api.body import parse
from citewell.api.dialects.completions import MODEL, ModelEntry, ModelList, OpenAIDialect
from citewell.api.documents import COMPLETIONS, MODEL_BY_ID, MODELS
from citewell.api.guard import admitted, raw_body
from citewell.api.middleware import exchange_of
from citewell.api.questions import answered
from citewell.api.state import state_of
from citewell.errors import CitewellError, NotFoundError

router = APIRouter(default_response_class=Response)


@router.post("/v1/chat/completions", openapi_extra=COMPLETIONS)
async def completions(request: Request) -> Response:
    caller = await admitted(request)
    raw = await raw_body(request)
    body = parse(raw)
    exchange_of(request).dialect = OpenAIDialect(created=int(time.time()))
    streaming = isinstance(body, Mapping) and body.get("stream") is True
    return await answered(request, caller, raw, body, streaming=streaming)


@router.get("/v1/models", openapi_extra=MODELS)
async def models(request: Request) -> Response:
    await admitted(request)
    return Response(ModelList(data=[await _model(request)]).model_dump_json(), media_type="application/json")


@router.get("/v1/models/{model}", openapi_extra=MODEL_BY_ID)
async def model(request: Request) -> Response:
    await admitted(request)
    if request.path_params["model"] != MODEL:
        raise NotFoundError(f"There is one model here: {MODEL}.")
    return Response((await _model(request)).model_dump_json(), media_type="application/json")


async def _model(request: Request) -> ModelEntry:
    published = state_of(request).parts.generation
    try:
        created = (await published()).created_at.timestamp() if published else time.time()
    except CitewellError:
        created = time.time()
    return ModelEntry(created=int(created))
