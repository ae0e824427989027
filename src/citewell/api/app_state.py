"""Application state: what lives as long as the server, made in the app's lifespan, read by the routes."""

import asyncio
from dataclasses import dataclass
from datetime import datetime

from starlette.requests import Request

from citewell.api.admission.api_keys import ApiKeys
from citewell.api.admission.concurrency import ConcurrencyLimiter
from citewell.api.admission.idempotency import IdempotencyStore
from citewell.api.admission.rate_limits import RateLimiter
from citewell.api.book_contents import BookContents
from citewell.api.health_checks import HealthChecks
from citewell.api.mcp_endpoint import McpEndpoint
from citewell.api.metrics import Metrics
from citewell.api.options import ApiOptions, ApiParts
from citewell.api.streams import OpenRuns
from citewell.errors import CitewellError


@dataclass(frozen=True, slots=True)
class ApiState:
    options: ApiOptions
    parts: ApiParts
    keys: ApiKeys
    rate_limiter: RateLimiter
    concurrency: ConcurrencyLimiter
    idempotency: IdempotencyStore
    open_runs: OpenRuns
    health: HealthChecks
    metrics: Metrics
    book: BookContents
    mcp: McpEndpoint
    warm: asyncio.Event
    """Set when the first question need not wait for anything to be loaded."""

    async def published_at(self) -> datetime | None:
        """When the book was published; None when that cannot be told."""
        try:
            return (await self.parts.generation()).created_at if self.parts.generation else None
        except CitewellError:
            return None


def state_of(request: Request) -> ApiState:
    state: ApiState = request.scope["state"]["citewell"]
    return state
