"""What every command begins with."""

from typing import TYPE_CHECKING

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
