"""The same engine for other clients: the OpenAI protocol under /v1, the Model Context Protocol at /mcp."""

import time
from collections.abc import Mapping

from fastapi import APIRouter, Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from citewell.api.body import parse
from citewell.api.documents import COMPLETIONS, MODEL_BY_ID, MODELS
from citewell.api.exchange import exchange_of
from citewell.api.openai_dialect import MODEL, ModelEntry, ModelList, OpenAIDialect
from citewell.api.routes import admitted, answered, raw_body
from citewell.api.state import state_of
from citewell.errors import CitewellError, NotFoundError

more_router = APIRouter(default_response_class=Response)


@more_router.post("/v1/chat/completions", openapi_extra=COMPLETIONS)
async def completions(request: Request) -> Response:
    await admitted(request)
    raw = await raw_body(request)
    body = parse(raw)
    exchange_of(request).dialect = OpenAIDialect(created=int(time.time()))
    streaming = isinstance(body, Mapping) and body.get("stream") is True
    return await answered(request, raw, body, streaming=streaming)


@more_router.get("/v1/models", openapi_extra=MODELS)
async def models(request: Request) -> Response:
    await admitted(request)
    return Response(ModelList(data=[await _model(request)]).model_dump_json(), media_type="application/json")


@more_router.get("/v1/models/{model}", openapi_extra=MODEL_BY_ID)
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


@more_router.api_route("/mcp", methods=["GET", "POST", "DELETE"], include_in_schema=False)
async def mcp(request: Request) -> Response:
    await admitted(request)
    state = state_of(request)
    exchange_of(request).held.callback(state.slots.take())
    return _Handed(await state.mcp.opened())


class _Handed(Response):
    """A reply that another ASGI app gives."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
