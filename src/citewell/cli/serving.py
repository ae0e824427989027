"""`citewell serve`, `citewell widget` and `citewell mcp`."""

import asyncio
import socket
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.errors import ConfigurationError, MissingExtraError

if TYPE_CHECKING:
    from citewell.settings import Settings


def serve(
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on")] = 8000,
    workers: Annotated[
        int, typer.Option(min=1, max=64, help="Processes on one port; SIGHUP replaces them one by one")
    ] = 1,
) -> None:
    """Serve the API, and the book with a page to try."""
    from functools import partial

    from citewell.api.main import app_of
    from citewell.api.server import serve as run
    from citewell.cli.start import settings as read_settings

    settings = read_settings()
    _check_extras(settings)
    _check_port(host, port)
    _check_database(settings)
    run(partial(app_of, settings, workers), host=host, port=port, workers=workers)


def widget(
    server: Annotated[str, typer.Argument(help="The address of this server as readers reach it")] = "",
    title: Annotated[str, typer.Option(help="What the panel is called")] = "",
    key: Annotated[str, typer.Option(help="A publishable key")] = "",
) -> None:
    """Print the script tag that puts the widget on a site, and what the site's policy must allow."""
    from urllib.parse import urlsplit

    from citewell.api.widget import WidgetFiles
    from citewell.cli.start import settings as read_settings

    address = (server or read_settings().public_url or "http://localhost:8000").rstrip("/")
    parts = urlsplit(address)
    if parts.scheme not in ("http", "https") or not parts.netloc:
        raise ConfigurationError(f"{address!r:.80} is not an address such as https://answers.example.com.")
    print(WidgetFiles().tag(address, title=title, key=key))
    print(f"\nContent-Security-Policy: script-src {address}; connect-src {address}")
    print("The server must know the site: ALLOWED_ORIGINS=https://docs.example.com, or a key bound to it.")


def mcp() -> None:
    """Serve the book to editors and assistants over the Model Context Protocol, on standard input and output."""
    from citewell.api.mcp_server import serve_stdio
    from citewell.cli.start import open_book

    async def run() -> None:
        async with open_book() as book:
            await serve_stdio(await book.engine(), (await book.searching()).retriever)

    asyncio.run(run())


def _check_extras(settings: "Settings") -> None:
    """What the settings name and is not installed stops the start in one line, not the first request."""
    from citewell.wiring import conversations_address

    named = (
        ("agent", "agents", settings.gemini_api_key is not None),
        ("postgres", "asyncpg", conversations_address(settings).kind == "postgresql"),
        ("qdrant", "qdrant_client", settings.qdrant_url is not None),
        ("redis", "redis", settings.redis_url is not None),
    )
    for extra, module, is_named in named:
        if is_named and find_spec(module) is None:
            raise MissingExtraError(extra, ModuleNotFoundError(name=module))


def _check_port(host: str, port: int) -> None:
    """Say it before the start, in one line; the server itself would say it after everything is loaded."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((host, port))
    except OSError as error:
        reason = error.strerror or str(error)
        raise ConfigurationError(
            f"Cannot listen on {host} port {port} ({reason}). Choose another with --host or --port."
        ) from error


def _check_database(settings: "Settings") -> None:
    """A file that is damaged or cannot be made stops the start in one line. A server may come up later."""
    from citewell.wiring import conversations_address, migrate_conversations

    if conversations_address(settings).kind == "sqlite":
        asyncio.run(migrate_conversations(settings))
