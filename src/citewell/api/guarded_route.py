"""The route class: the guard first, then a bounded and strictly parsed body, then FastAPI with what it is typed with.

FastAPI itself would read a body of any size before any check, and its errors would repeat it.
"""

from collections.abc import Callable, Coroutine
from typing import Any, ClassVar

from fastapi import Request, Response
from fastapi.routing import APIRoute

from citewell.api.admission.rate_limits import Policy
from citewell.api.body import Json, parsed
from citewell.api.guard import Audience, admitted, raw_body


class ParsedRequest(Request):
    """A request whose body was read already."""

    def __init__(self, request: Request, raw: bytes, parsed: Json) -> None:
        super().__init__(request.scope, request.receive)
        self._raw, self._parsed = raw, parsed

    async def body(self) -> bytes:
        return self._raw

    async def json(self) -> Any:
        return self._parsed


class GuardedRoute(APIRoute):
    policy: ClassVar[Policy] = "address"
    """Which limit counts its requests."""
    audience: ClassVar[Audience] = "owner"

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            return await handle(await self.checked(request))

        return guarded

    async def checked(self, request: Request) -> Request:
        """Raises what the table of statuses knows."""
        await admitted(request, self.policy, self.audience)
        if self.body_field is None:
            return request
        raw = await raw_body(request)
        return ParsedRequest(request, raw, await parsed(raw))


class ReaderRoute(GuardedRoute):
    """What readers do: a publishable key is good enough."""

    audience = "reader"


class BookRoute(ReaderRoute):
    """Reading the book costs less than a question, so there may be more of it."""

    policy = "book"
