"""The book's pages for the demo page, and the page's own files: the names found at the start, nothing else."""

import mimetypes
import re
import time
from collections.abc import Callable
from importlib.resources import files
from importlib.resources.abc import Traversable

from starlette.responses import Response

from citewell.api.headers import PAGE_POLICY
from citewell.api.options import Book
from citewell.api.suggestions import Suggestions
from citewell.errors import CitewellError, NotFoundError
from citewell.models import PageEntry

CONTENTS_SECONDS = 5.0
_HOST = re.compile(r"^(?:[A-Za-z][A-Za-z0-9+.-]*:)?//[^/?#]*")
_TYPES = {".js": "text/javascript", ".mjs": "text/javascript", ".css": "text/css", ".html": "text/html"}


class BookPages:
    """The table of contents, kept for a few seconds."""

    def __init__(self, book: Book, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._book = book
        self._clock = clock
        self._contents: list[PageEntry] = []
        self._paths: dict[str, PageEntry] = {}
        self._read_at: float | None = None
        self._suggestions = Suggestions(book)

    async def contents(self) -> list[PageEntry]:
        if self._read_at is None or self._clock() - self._read_at > CONTENTS_SECONDS:
            self._contents = await self._book.pages()
            self._paths = {_path(page.url): page for page in self._contents}
            self._read_at = self._clock()
        return self._contents

    async def page(self, url: str) -> tuple[PageEntry, str]:
        """A page and its text. Raises NotFoundError."""
        await self.contents()
        entry = next((page for page in self._contents if page.url == url), None) or self._paths.get(_path(url))
        text = await self._book.page(entry.url) if entry else None
        if entry is None or text is None:
            raise NotFoundError("The book has no such page.")
        return entry, text

    async def questions(self) -> list[str]:
        """Questions to begin with. Raises what reading and searching raise."""
        return await self._suggestions.of(await self.contents())

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


class PageFiles:
    """The files of one folder of the package's assets, read once: no path of a request ever reaches the disk."""

    def __init__(self, folder: str) -> None:
        self._files: dict[str, tuple[bytes, str]] = {}
        root = files("citewell").joinpath("assets", folder)
        if root.is_dir():
            self._read(root, "")

    def _read(self, folder: Traversable, prefix: str) -> None:
        for file in folder.iterdir():
            if file.is_dir():
                self._read(file, f"{prefix}{file.name}/")
            elif not file.name.startswith((".", "_")):
                suffix = "." + file.name.rpartition(".")[2]
                media_type = _TYPES.get(suffix) or mimetypes.guess_type(file.name)[0] or "application/octet-stream"
                self._files[prefix + file.name] = (file.read_bytes(), media_type)

    def __contains__(self, name: str) -> bool:
        return name in self._files

    def response(self, name: str) -> Response:
        if name not in self._files:
            raise NotFoundError("There is nothing at this path.")
        body, media_type = self._files[name]
        headers = {"content-security-policy": PAGE_POLICY, "cache-control": "no-cache"}
        return Response(body, headers=headers, media_type=media_type)
