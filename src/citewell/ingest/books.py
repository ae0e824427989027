"""A book file, PDF or EPUB, as a source of pages."""

import asyncio
import contextlib
import hashlib
from collections.abc import AsyncGenerator, Mapping
from dataclasses import replace
from pathlib import Path

from citewell.errors import IngestError
from citewell.ingest.bounds import SMALL, UnreadablePage, Worker
from citewell.ingest.files import UnreadableFile, read_bytes
from citewell.ingest.formats.epub import EpubBook, UnreadableEpub, read_document
from citewell.ingest.pagetext import spoken
from citewell.ingest.routes import joined, label_of
from citewell.ingest.sources import Failure, Outcome, PageRead, Validators, page_read
from citewell.values import Page

MAX_BOOK_BYTES = 300_000_000
BOOK_SECONDS = 900
"""Of CPU that a PDF of many pages may take."""


class BookSource:
    """A PDF is one page with page numbers; an EPUB has one page for each of its documents."""

    def __init__(self, path: Path, base_url: str) -> None:
        self.folder: Path | None = path
        self.base_url = base_url
        self.discovered = 0
        self._path = path

    async def fingerprint(self) -> str:
        data = await asyncio.to_thread(self._data)
        return hashlib.sha256(self.base_url.encode() + b"\n" + data).hexdigest()

    async def read(self, known: Mapping[str, Validators]) -> AsyncGenerator[Outcome, None]:
        data = await asyncio.to_thread(self._data)
        if self._path.suffix.lower() == ".pdf":
            self.discovered = 1
            with contextlib.closing(Worker(BOOK_SECONDS)) as worker:
                yield await self._pdf(worker, data)
            return
        try:
            book = EpubBook(data)
        except UnreadableEpub as error:
            raise IngestError(f"{self._path.name} cannot be read: {error}") from error
        self.discovered = len(book.hrefs)
        with contextlib.closing(Worker()) as worker:
            for href in book.hrefs:
                yield await self._epub(worker, book, href)

    def _data(self) -> bytes:
        try:
            return read_bytes(self._path, self._path.resolve().parent, MAX_BOOK_BYTES)
        except UnreadableFile as error:
            raise IngestError(f"{self._path.name} cannot be read: {error}") from error

    async def _pdf(self, worker: Worker, data: bytes) -> Outcome:
        from citewell.ingest.formats.pdf import read_pdf

        url = joined(self.base_url, "", "/" + self._path.name)
        try:
            read = await worker.run(read_pdf, data)
        except UnreadablePage as error:
            return Failure(url, error.code, str(error))
        if not read.text.strip():
            return Failure(url, "empty_page", "The PDF has no text; it may be a scan. Recognize its text first.")
        title = read.title or label_of(self._path.stem)
        page = Page(
            url, title, read.text, read.blocks, module=title, language=spoken(read.text), page_starts=read.page_starts
        )
        problems = [
            Failure(url, "unreadable_page", f"Page {number} of the PDF cannot be read.", is_lost=False)
            for number in read.unreadable_pages
        ]
        return PageRead(page, tuple(problems), letters=read.letters)

    async def _epub(self, worker: Worker, book: EpubBook, href: str) -> Outcome:
        url = joined(self.base_url, self._path.name, "/" + href)
        try:
            source = await asyncio.to_thread(book.document, href)
            run = asyncio.to_thread if len(source) <= SMALL else worker.run
            read = await run(read_document, source)
        except UnreadablePage as error:
            return Failure(url, error.code, str(error))
        if not read.text.blocks:
            return Failure(url, "empty_page", "The document has no text.", is_lost=False)
        title = read.title or book.title or label_of(self._path.stem)
        content = replace(read, title=title, module=book.title, language=read.language or book.language)
        return page_read(url, content)
