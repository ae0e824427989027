"""The MCP server, loaded and opened lazily when the first request asks for it."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

from starlette.types import ASGIApp

from citewell.api.options import Answering, ApiParts, ReadableBook


class McpEndpoint:
    """Opens the MCP server at its first request, so that its library is not loaded for those who never ask."""

    def __init__(self, parts: ApiParts) -> None:
        self._parts = parts
        self._wanted = asyncio.Event()
        self._app: asyncio.Future[ASGIApp] = asyncio.get_running_loop().create_future()

    async def keep(self) -> None:
        """Runs as long as the server does."""
        await self._wanted.wait()
        endpoint = await asyncio.to_thread(_endpoint)  # its library takes a second to load
        async with endpoint(self._parts.engine, self._parts.book) as app:
            self._app.set_result(app)
            await asyncio.Event().wait()

    async def opened(self) -> ASGIApp:
        self._wanted.set()
        return await asyncio.shield(self._app)


def _endpoint() -> Callable[[Answering, ReadableBook], AbstractAsyncContextManager[ASGIApp]]:
    from citewell.api.mcp_server import endpoint

    return endpoint
