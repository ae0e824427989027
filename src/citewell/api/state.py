"""What lives as long as the server: made in the app's lifespan, read by the routes."""

import asyncio
from dataclasses import dataclass

from starlette.requests import Request

from citewell.api.book import BookPages
from citewell.api.headers import Keys
from citewell.api.health import Health
from citewell.api.idempotency import Replies
from citewell.api.limits import Slots, Windows
from citewell.api.mcp_door import McpDoor
from citewell.api.metrics import Metrics
from citewell.api.options import ApiOptions, ApiParts
from citewell.api.streams import Running


@dataclass(frozen=True, slots=True)
class ApiState:
    options: ApiOptions
    parts: ApiParts
    keys: Keys
    windows: Windows
    slots: Slots
    replies: Replies
    running: Running
    health: Health
    metrics: Metrics
    book: BookPages
    mcp: McpDoor
    warm: asyncio.Event
    """Set when the first question need not wait for anything to be loaded."""


def state_of(request: Request) -> ApiState:
    state: ApiState = request.scope["state"]["citewell"]
    return state
