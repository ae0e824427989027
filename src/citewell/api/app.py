"""The app: parts opened in its lifespan, routes, the one handler of failures. Built by `create_app`, not at import."""

import asyncio
import gc
from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import asdict
from importlib.util import find_spec

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from citewell.answering.budget import LocalCounts, ModelBudget
from citewell.api import checks, health, mcp, openai, pages, questions, search, sessions
from citewell.api.admission.api_keys import ApiKeys
from citewell.api.admission.concurrency import ConcurrencyLimiter
from citewell.api.admission.idempotency import IdempotencyStore
from citewell.api.admission.rate_limits import Policy, RateLimiter
from citewell.api.admission.shared import SharedCounts, SharedState
from citewell.api.app_state import ApiState, state_of
from citewell.api.body import invalid
from citewell.api.book_contents import BookContents
from citewell.api.dialects.completions import OPENAI_DIALECT
from citewell.api.dialects.message import MESSAGE_DIALECT
from citewell.api.dialects.protocol import Dialect
from citewell.api.headers import Origins, page_policy
from citewell.api.health_checks import HealthChecks
from citewell.api.http_errors import MethodNotAllowed
from citewell.api.mcp_endpoint import McpEndpoint
from citewell.api.metrics import Metrics
from citewell.api.middleware import ExchangeMiddleware, exchange_of, failure_response
from citewell.api.openapi import DESCRIPTION, DocumentedApp
from citewell.api.options import ApiOptions, ApiParts, OpenParts
from citewell.api.static_files import StaticFolder, static_router
from citewell.api.streams import OpenRuns
from citewell.api.widget import WidgetFiles, widget_router
from citewell.errors import CitewellError
from citewell.logs import log, log_repeats

DIALECTS: tuple[tuple[str, Dialect], ...] = (("/chat/run", MESSAGE_DIALECT), ("/v1/", OPENAI_DIALECT))
"""Paths whose failures have another shape than the developer's."""
WARM_UP_DELAY = 0.25
"""The server listens a moment after the lifespan began; nothing tells the app when."""


def create_app(open_parts: OpenParts, options: ApiOptions | None = None) -> FastAPI:
    """An app whose lifespan opens the parts and closes them."""
    chosen = options or ApiOptions()
    metrics = Metrics()
    page = StaticFolder("page", page_policy(chosen.embed_origins))
    app = DocumentedApp(
        title="Citewell",
        version=chosen.version,
        description=DESCRIPTION,
        docs_url=None,
        redoc_url=None,
        redirect_slashes=False,
        generate_unique_id_function=lambda route: route.name,
        # What is measured is at /metrics; nothing leaves the process, whatever the environment says.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        lifespan=_lifespan(open_parts, chosen, metrics),
    )
    app.add_middleware(ExchangeMiddleware, origins=Origins(chosen.asking_origins), metrics=metrics, dialects=DIALECTS)
    for subject in (questions, search, openai, health, sessions, pages, checks):
        app.include_router(subject.router)
    if find_spec("mcp") is not None:  # an extra: without it there is no such path
        app.include_router(mcp.router)
    app.include_router(widget_router(WidgetFiles()))
    app.include_router(static_router(page, StaticFolder("apidocs")))

    async def failed(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException) and "index.html" in page and await _is_page_of_book(request, error):
            return page.response("index.html")
        if isinstance(error, HTTPException) and error.status_code == 404 and _is_opened_in_a_browser(request):
            return page.response("index.html", 404)
        if isinstance(error, HTTPException) and error.status_code == 405:
            error = MethodNotAllowed(app.methods_of(request.url.path) or (error.headers or {}).get("Allow", ""))
        if isinstance(error, RequestValidationError):
            # A place begins with where it was: the body, the query or the path.
            error = invalid([found | {"loc": found["loc"][1:]} for found in error.errors()])
        return failure_response(exchange_of(request), error)

    app.add_exception_handler(HTTPException, failed)
    app.add_exception_handler(CitewellError, failed)
    app.add_exception_handler(RequestValidationError, failed)
    return app


async def _is_page_of_book(request: Request, error: HTTPException) -> bool:
    """A citation's URL, opened in the browser, lands on the demo page, which shows that page of the book."""
    if error.status_code != 404 or request.method != "GET":
        return False
    return await state_of(request).book.has(request.url.path)


def _is_opened_in_a_browser(request: Request) -> bool:
    """Who follows a wrong link gets the page, which says so and shows the way back."""
    return request.method == "GET" and "text/html" in request.headers.get("accept", "")


Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[Mapping[str, ApiState]]]


def _lifespan(open_parts: OpenParts, options: ApiOptions, metrics: Metrics) -> Lifespan:
    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncGenerator[Mapping[str, ApiState]]:
        async with open_parts() as parts, _shared(options) as shared, asyncio.TaskGroup() as group:
            state = _state(parts, options, shared, metrics)
            if parts.budget is not None:
                _count(parts.budget, metrics, shared, options.workers)
            running = [group.create_task(_warm_up(state, app)), group.create_task(state.mcp.keep())]
            yield {"citewell": state}
            for task in running:
                task.cancel()
            log_repeats(all_of_them=True)

    return lifespan


def _count(budget: ModelBudget, metrics: Metrics, shared: SharedState | None, workers: int) -> None:
    """What the hosted model costs: counted over all workers, or in shares, and told to the metrics."""
    alone = LocalCounts(workers)
    budget.counts = alone if shared is None else SharedCounts(shared, alone)
    budget.told = metrics.model_called
    budget.refused = metrics.budget_spent
    metrics.budgeted("all", asdict(budget.in_all))
    metrics.budgeted("key", asdict(budget.by_key))


@asynccontextmanager
async def _shared(options: ApiOptions) -> AsyncGenerator[SharedState | None]:
    if options.redis_url is None:
        yield None
        return
    async with SharedState(options.redis_url, wait=options.redis_wait).opened() as shared:
        yield shared


def _state(parts: ApiParts, options: ApiOptions, shared: SharedState | None, metrics: Metrics) -> ApiState:
    limits: dict[Policy, int] = {
        "address": options.address_limit,
        "session": options.session_limit,
        "book": options.address_limit * options.pages_for_each,
    }
    share = max(1, options.at_once // options.workers)
    # What a worker that died had taken is free again when no answer of its time can be open any more.
    held_seconds = options.answer_seconds + options.send_seconds
    return ApiState(
        options=options,
        parts=parts,
        keys=ApiKeys(options.keys, options.bound_keys),
        rate_limiter=RateLimiter(limits, shared=shared, workers=options.workers),
        concurrency=ConcurrencyLimiter(options.at_once, share=share, shared=shared, slot_seconds=held_seconds),
        idempotency=IdempotencyStore(
            most=options.keep_replies, seconds=options.keep_seconds, claim_seconds=held_seconds, shared=shared
        ),
        open_runs=OpenRuns(answer_seconds=options.answer_seconds, stop_seconds=options.stop_seconds),
        health=HealthChecks(
            parts.probes if shared is None else {**parts.probes, "rate_limits": shared.status},
            probe_seconds=options.probe_seconds,
            cache_seconds=options.health_cache_seconds,
        ),
        metrics=metrics,
        book=BookContents(parts.book),
        mcp=McpEndpoint(parts),
        warm=asyncio.Event(),
    )


async def _warm_up(state: ApiState, app: FastAPI) -> None:
    if state.parts.warm_up is not None:
        await asyncio.sleep(WARM_UP_DELAY)
        try:
            await state.parts.warm_up()
        except CitewellError as error:
            log("startup", "could not warm up", level="warning", error=f"{error.code}: {error}")
        else:
            log("startup", "warmed up")
        await asyncio.to_thread(app.openapi)  # kept; the first who asks would wait, and all others with them
        # What is loaded now stays: walking it at each full collection, or once here, would hold the event loop.
        gc.freeze()
    state.warm.set()
