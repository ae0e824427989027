"""`citewell demo`: the book that ships with Citewell, read, asked and served, from an empty folder."""

import asyncio
import socket
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from citewell.cli.start import open_book
from citewell.cli.start import settings as read_settings
from citewell.errors import CollectionNotFoundError, ConfigurationError

if TYPE_CHECKING:
    from citewell.book import Book

QUESTIONS = ("How many particles does AMCL keep by default?", "What is the capital of France?")
_FIRST_PAGE = "/docs/module-1-ros2/what-is-ros-2"
"""By this a demo that was read before is told from somebody's own book."""


def demo(
    host: Annotated[str, typer.Option(help="Address to listen on")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on")] = 8000,
    serve: Annotated[bool, typer.Option(help="Serve the book after reading it; --no-serve asks two questions")] = True,
) -> None:
    """Read the demo book, a small course on robots, and serve it with a page to try."""
    from citewell.cli import serving

    settings = read_settings()
    is_served = serve and find_spec("fastapi") is not None
    print(
        f"The demo book, 28 pages on robots, is read into {settings.citewell_data_dir}/ (once, about 20 seconds).",
        flush=True,
    )
    asyncio.run(_read(asks=not is_served))
    if is_served:
        threading.Thread(target=_tell_when_open, args=(host, port), daemon=True).start()
        serving.serve(host=host, port=port)
    elif serve:
        print("\nTo read and ask it in a browser: pip install 'citewell[server]', then: citewell demo")


def demo_book() -> Path:
    """In an installed package among the assets, in a checkout among the examples."""
    package = Path(__file__).parents[1]
    shipped = package / "assets" / "demo"
    return shipped if shipped.is_dir() else package.parents[1] / "examples" / "book"


async def _read(*, asks: bool) -> None:
    from citewell.cli.ask import answered
    from citewell.cli.progress import IngestProgress

    async with open_book() as book:
        await _check_folder(book)
        with IngestProgress() as progress:
            report = await book.ingest(demo_book(), progress=progress.show)
        print(report.summary, flush=True)
        for question in QUESTIONS if asks else ():
            print(f'\n$ citewell ask "{question}"', flush=True)
            await answered(book, question, {})


async def _check_folder(book: "Book") -> None:
    """Somebody's own book is never replaced by the demo."""
    try:
        pages = await book.pages()
    except CollectionNotFoundError:
        return
    if _FIRST_PAGE not in {page.url for page in pages}:
        raise ConfigurationError(
            f"{book.folder} holds another book. Run the demo in another folder, or set CITEWELL_DATA_DIR."
        )


def _tell_when_open(host: str, port: int) -> None:
    while True:
        try:
            socket.create_connection((host, port), timeout=1).close()
            break
        except OSError:
            time.sleep(0.1)
    print(f"Open http://{host}:{port} and ask. Ctrl+C stops it; `citewell ask` works here too.", flush=True)
