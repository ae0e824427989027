"""`citewell serve` and `citewell mcp`."""

from typing import Annotated

import typer


def add_to(app: typer.Typer) -> None:
    app.command("serve")(serve)
    app.command("mcp")(mcp)


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=64, help="Processes that serve side by side")] = 1,
) -> None:
    """Serve the API, and the book with a page to try."""
    from functools import partial

    from citewell.api.main import app_of
    from citewell.api.server import serve as run
    from citewell.config import Settings

    run(partial(app_of, Settings.from_environment()), host=host, port=port, workers=workers)


def mcp() -> None:
    """Serve the book to editors and assistants over the Model Context Protocol, on standard input and output."""
    import asyncio

    from citewell.api.mcp_server import serve_stdio
    from citewell.config import Settings

    asyncio.run(serve_stdio(Settings.from_environment()))
