"""The book's table of contents, cached for a few seconds, and its pages by address."""

import re
import time

from citewell.api.options import ReadableBook
from citewell.api.suggestions import Suggestions
from citewell.errors import CitewellError, NotFoundError
from citewell.values import Page, PageEntry

CONTENTS_SECONDS = 5.0
_HOST = re.compile(r"^(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*")


class BookContents:
    """The table of contents, kept for a few seconds."""

    def __init__(self, book: ReadableBook) -> None:
        self._book = book
        self._contents: list[PageEntry] = []
        self._paths: dict[str, PageEntry] = {}
        self._read_at: float | None = None
        self._suggestions = Suggestions(book)

    async def contents(self) -> list[PageEntry]:
        if self._read_at is None or time.monotonic() - self._read_at > CONTENTS_SECONDS:
            self._contents = await self._book.pages()
            self._paths = {_path(page.url): page for page in self._contents}
            self._read_at = time.monotonic()
        return self._contents

    async def page(self, url: str) -> Page:
        """Raises NotFoundError."""
        await self.contents()
        entry = next((page for page in self._contents if page.url == url), None) or self._paths.get(_path(url))
        page = await self._book.page(entry.url) if entry else None
        if page is None:
            raise NotFoundError("The book has no such page.")
        return page

    async def questions(self, url: str = "") -> list[str]:
        """Questions to begin with: of the page at this address, if it has some, else of the book.

        Raises what reading and searching raise.
        """
        contents = await self.contents()
        entry = self._paths.get(_path(url)) if url else None
        own = await self._suggestions.of_page(contents, entry) if entry else []
        return own or await self._suggestions.of(contents)

    async def root_title(self) -> str:
        """The title of the page at the book's root, else of the one page before all modules; else empty."""
        contents = await self.contents()
        roots = [self._paths[path] for path in ("/", "/index", "/docs") if path in self._paths]
        before = [page for page in contents if not page.module]
        front = before if len(before) == 1 < len(contents) and before[0] == contents[0] else []
        return next((page.title for page in (*roots, *front)), "")

    async def has(self, path: str) -> bool:
        """Whether a page of the book lives at this path. An index that is away has no pages."""
        try:
            await self.contents()
        except CitewellError:
            return False
        return _path(path) in self._paths


def _path(url: str) -> str:
    """The path of a URL, without its host. Not urlsplit, which raises on some of what clients send."""
    return re.split(r"[?#]", _HOST.sub("", url), maxsplit=1)[0].rstrip("/") or "/"
