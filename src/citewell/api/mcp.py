"""The Model Context Protocol at /mcp: the route. `mcp_server` has the tools."""

from fastapi import APIRouter, Request, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from citewell.api.app_state import state_of
from citewell.api.guard import admitted
from citewell.api.middleware import exchange_of

router = APIRouter(default_response_class=Response)


@router.api_route("/mcp", methods=["GET", "POST", "DELETE"], include_in_schema=False)
async def mcp(request: Request) -> Response:
    await admitted(request)
    state = state_of(request)
    exchange_of(request).held.push_async_callback(await state.concurrency.take())
    return _Handed(await state.mcp.opened())


class _Handed(Response):
    """A reply that another ASGI app gives."""

    def __init__(self, app: ASGIApp) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, receive, send)
