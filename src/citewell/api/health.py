"""Health and metrics: their routes and every name that they have on the wire."""

from datetime import UTC, datetime
from typing import Literal

from fastapi import APIRouter, Request, Response
from fastapi.responses import PlainTextResponse
from pydantic import Field

from citewell.api.app_state import ApiState, state_of
from citewell.api.dialects.wire import WholeReply, Wire, dumped, encoded
from citewell.api.guarded_route import GuardedRoute
from citewell.api.health_checks import Findings
from citewell.api.middleware import json_reply
from citewell.api.openapi import GUARD, HEADERS, KEYED, LIMITS, failures, reply

router = APIRouter(tags=["health"], dependencies=HEADERS)


class ServiceReply(Wire):
    status: Literal["up", "down", "degraded"]
    latency_ms: float | None = None
    message: str | None = Field(None, description="What is wrong, or what serves in its place")


class HealthResponse(Wire):
    status: Literal["healthy", "degraded", "unhealthy"]
    version: str
    services: dict[str, ServiceReply] = Field(
        description="qdrant, cohere, gemini, database and, with Redis, rate_limits"
    )
    timestamp: datetime
    reason: str | None = Field(None, description="Why it is unhealthy")


class LiveResponse(WholeReply):
    status: Literal["alive"] = "alive"


class ReadyResponse(WholeReply):
    status: Literal["ready", "not_ready"]
    reason: str | None = None


@router.get(
    "/health",
    summary="How each part is",
    response_model=HealthResponse,
    responses=reply("Healthy, or degraded")
    | reply("The index or the database is down", status=503, model=HealthResponse)
    | failures(),
)
async def health(request: Request) -> Response:
    state = state_of(request)
    found = await state.health.look()
    body = health_reply(found, state.options.version)
    return json_reply(body, 503 if found.status == "unhealthy" else 200)


@router.get(
    "/health/live",
    summary="That the process runs",
    response_model=LiveResponse,
    responses=reply("It runs") | failures(),
)
async def live(request: Request) -> Response:
    del request
    return json_reply(encoded(LiveResponse()))


@router.get(
    "/health/ready",
    summary="Whether to send it questions",
    response_model=ReadyResponse,
    responses=reply("Ready") | reply("Not ready", status=503, model=ReadyResponse) | failures(),
)
async def ready(request: Request) -> Response:
    state = state_of(request)
    reason = await _not_ready(state)
    reply = ReadyResponse(status="not_ready" if reason else "ready", reason=reason)
    return json_reply(encoded(reply), 503 if reason else 200)


class MeteredRoute(GuardedRoute):
    """Read often, by whoever has a secret key."""

    policy = "book"


metered = APIRouter(dependencies=KEYED, route_class=MeteredRoute)


@metered.get(
    "/metrics",
    summary="Numbers for Prometheus",
    response_class=PlainTextResponse,
    responses=reply("In Prometheus's text format", *LIMITS) | failures(*GUARD),
)
async def metrics(request: Request) -> Response:
    state = state_of(request)
    published_at = await state.published_at()
    age = (datetime.now(UTC) - published_at).total_seconds() if published_at else None
    body = state.metrics.exposition(generation_age=age)
    return Response(body, headers={"content-type": state.metrics.content_type})


router.include_router(metered)


async def _not_ready(state: ApiState) -> str | None:
    if state.open_runs.stops_at is not None:
        return "The server is stopping"
    if not state.warm.is_set():
        return "The server is warming up"
    return (await state.health.look()).reason


def health_reply(found: Findings, version: str) -> bytes:
    services = {
        name: ServiceReply(status=s.status, latency_ms=s.latency_ms, message=s.message)
        for name, s in found.services.items()
    }
    reply = HealthResponse(status=found.status, version=version, services=services, timestamp=found.timestamp)
    if found.reason is not None:
        reply.reason = found.reason
    return dumped(reply, exclude_unset=True).encode()
