"""What every command begins with."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from citewell.errors import InvalidInputError

if TYPE_CHECKING:
    from citewell.book import Book
    from citewell.settings import Settings


def settings() -> "Settings":
    """The settings, with logs on standard error: a command speaks for itself, so only errors unless LOG_LEVEL asks."""
    from citewell.logs import configure
    from citewell.settings import Settings

    made = Settings.from_environment()
    configure(made.log_level if "log_level" in made.model_fields_set else "error")
    return made


def open_book() -> "Book":
    """The book that the settings name."""
    from citewell.book import open as opened

    return opened(settings=settings())


def text_of(path: Path) -> str:
    """What a file says; - is standard input."""
    try:
        return sys.stdin.read() if str(path) == "-" else path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInputError(f"{path} cannot be read: {error}.") from error
