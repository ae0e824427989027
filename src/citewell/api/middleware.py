"""Middleware: the ASGI layer that every request passes through, and its exchange: id, dialect, what it holds.

Whatever a request takes (a slot, an engine's stream) is freed when the exchange ends, however it ends.
"""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from typing import ParamSpec

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from citewell.api.admission.rate_limits import RateLimitStatus, rate_limit_headers
from citewell.api.dialects.protocol import Dialect
from citewell.api.dialects.query import QUERY_DIALECT
from citewell.api.headers import API_HEADERS, Origins, request_id_of, traceparent_of
from citewell.api.http_errors import LimitReached, PathUnknown, failure_of
from citewell.api.metrics import Metrics
from citewell.logs import Level, log, log_failure, request_context

Given = ParamSpec("Given")

MOST_TOLD = 100
"""Refused origins that are logged; anybody can make up more."""


class ReaderGone(Exception):
    """The client closed the connection; there is nobody to reply to."""


class ReaderStalled(ReaderGone):
    """The client does not read; the connection is cut."""


@dataclass(slots=True)
class Exchange:
    """Also holds what the reply's headers will say of the limits."""

    request_id: str
    dialect: Dialect
    held: AsyncExitStack
    begun: float = field(default_factory=time.perf_counter)
    rate_limits: list[RateLimitStatus] = field(default_factory=list)
    status: int = 0
    limited: str | None = None
    """Which limit refused it."""

    @property
    def elapsed_ms(self) -> float:
        return (time.perf_counter() - self.begun) * 1000


def exchange_of(request: Request) -> Exchange:
    exchange: Exchange = request.scope["citewell.exchange"]
    return exchange


class ExchangeMiddleware:
    """Outermost: gives the request its id, every reply its headers, every failure its shape, every end its line."""

    def __init__(
        self, app: ASGIApp, *, origins: Origins, metrics: Metrics, dialects: Sequence[tuple[str, Dialect]]
    ) -> None:
        """`dialects` are those of paths, by their beginnings; everywhere else failures speak the developer's."""
        self._app = app
        self._dialects = dialects
        self._origins = origins
        self._metrics = metrics
        self._told: set[str] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        dialect = next((d for path, d in self._dialects if scope["path"].startswith(path)), QUERY_DIALECT)
        async with AsyncExitStack() as held:
            exchange = Exchange(request_id_of(headers), dialect, held)
            scope["citewell.exchange"] = exchange
            if scope["method"] == "HEAD":
                scope = {**scope, "method": "GET"}  # the server leaves the body out
            with request_context(exchange.request_id, traceparent_of(headers)):
                await self._serve(exchange, headers, scope, receive, send)

    async def _serve(self, exchange: Exchange, headers: Headers, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_dressed(message: Message) -> None:
            if message["type"] == "http.response.start":
                exchange.status = message["status"]
                self._dress(exchange, headers, MutableHeaders(scope=message))
            await send(message)

        self._tell_of_refused(headers)
        try:
            if scope["method"] == "OPTIONS" and "access-control-request-method" in headers:
                preflight = self._origins.preflight(headers, scope["path"])
                await Response(status_code=204, headers=preflight)(scope, receive, send_dressed)
            else:
                await self._app(scope, receive, send_dressed)
        except ReaderStalled:
            log("response", "cut off a client that does not read", latency_ms=exchange.elapsed_ms)
            await _abort(scope)
        except (ReaderGone, ClientDisconnect):
            exchange.status = exchange.status or 499
        except Exception as error:  # noqa: BLE001 the last handler: nothing may pass it
            log_failure("response", "failed", error)
            if exchange.status:
                await _abort(scope)
            else:
                await failure_response(exchange, error)(scope, receive, send_dressed)
        finally:
            self._finish(exchange, scope)

    def _tell_of_refused(self, headers: Headers) -> None:
        """A site that is not allowed sees only a network failure; who runs the server reads why, once for each."""
        origin = self._origins.refused(headers)
        if origin is not None and origin not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(origin)
            remedy = "add it to ALLOWED_ORIGINS, or bind a key to it in PUBLISHABLE_KEYS"
            log("response", f"refused the origin {origin[:200]!r}: {remedy}", level="warning")

    def _dress(self, exchange: Exchange, request: Headers, reply: MutableHeaders) -> None:
        reply["x-request-id"] = exchange.request_id
        for name, value in API_HEADERS.items():
            reply.setdefault(name, value)
        reply.update(rate_limit_headers(exchange.rate_limits))
        reply.update(self._origins.headers(request))
        if traceparent := traceparent_of(request):
            reply["traceparent"] = traceparent

    def _finish(self, exchange: Exchange, scope: Scope) -> None:
        route = getattr(scope.get("route"), "path", "other")
        self._metrics.replied(route, scope["method"], exchange.status, exchange.elapsed_ms / 1000)
        if exchange.limited is not None:
            self._metrics.limited(exchange.limited)
        level: Level = "debug" if route.startswith(("/health", "/metrics")) else "info"
        log(
            "response",
            "response sent",
            level=level,
            latency_ms=exchange.elapsed_ms,
            method=scope["method"],
            route=route,
            status=exchange.status,
        )


async def _abort(scope: Scope) -> None:
    """Cut the connection: the reply has begun and cannot be finished, perhaps because nobody reads it."""
    abort = scope.get("extensions", {}).get("citewell.abort")
    if abort is None:
        return
    abort["call"]()
    await asyncio.sleep(0)  # lets the server notice, which else reports an unfinished reply


def json_reply(body: bytes, status: int = 200) -> Response:
    return Response(body, status, media_type="application/json")


async def rendered(render: Callable[Given, bytes], *given: Given.args, **named: Given.kwargs) -> Response:
    """A reply that may be of any length, written off the event loop."""
    return json_reply(await asyncio.to_thread(render, *given, **named))


def failure_response(exchange: Exchange, error: Exception) -> Response:
    """The one way from an error to a reply."""
    if isinstance(error, HTTPException):  # only the router raises these, for a path that it does not know
        error = PathUnknown("There is nothing at this path.")
    failure = failure_of(error)
    headers = {}
    if failure.wait is not None:
        headers["retry-after"] = str(failure.wait)
    if failure.allow:
        headers["allow"] = failure.allow
    status = exchange.dialect.status(failure)
    if status == 401:
        headers["www-authenticate"] = "ApiKey"
    if status in (408, 413):
        headers["connection"] = "close"
    if isinstance(error, LimitReached):
        exchange.limited = error.policy
    if status >= 500:
        log_failure("response", "failed", error)
    body = exchange.dialect.failure(failure, exchange.request_id)
    return Response(body, status, headers, media_type="application/json")
