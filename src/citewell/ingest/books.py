"""A book file, PDF or EPUB, as a source of pages."""

import asyncio
import hashlib
from collections.abc import AsyncGenerator, Mapping
from pathlib import Path

from citewell.errors import IngestError
from citewell.ingest.epub import EpubBook, EpubDocument, UnreadableEpub
from citewell.ingest.files import UnreadableFile, read_bytes
from citewell.ingest.pagetext import spoken
from citewell.ingest.pdf import UnreadablePdf, read_pdf
from citewell.ingest.routes import joined, label_of
from citewell.ingest.sources import Failure, Outcome, PageRead, Validators
from citewell.models import Page

MAX_BOOK_BYTES = 300_000_000


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
            yield await asyncio.to_thread(self._pdf, data)
            return
        try:
            book = EpubBook(data)
        except UnreadableEpub as error:
            raise IngestError(f"{self._path.name} cannot be read: {error}") from error
        self.discovered = len(book.hrefs)
        documents = book.documents()
        while (document := await asyncio.to_thread(next, documents, None)) is not None:
            yield self._epub(book, document)

    def _data(self) -> bytes:
        try:
            return read_bytes(self._path, self._path.resolve().parent, MAX_BOOK_BYTES)
        except UnreadableFile as error:
            raise IngestError(f"{self._path.name} cannot be read: {error}") from error

    def _pdf(self, data: bytes) -> Outcome:
        url = joined(self.base_url, "", "/" + self._path.name)
        try:
            read = read_pdf(data)
        except UnreadablePdf as error:
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
        return PageRead(page, tuple(problems))

    def _epub(self, book: EpubBook, document: EpubDocument) -> Outcome:
        url = joined(self.base_url, self._path.name, "/" + document.href)
        read = document.page
        if read is None:
            return Failure(url, "unreadable_document", document.problem)
        text = read.text.text
        if not text.strip():
            return Failure(url, "empty_page", "The document has no text.", is_lost=False)
        title = read.title or book.title or label_of(self._path.stem)
        language = read.language or book.language or spoken(text)
        return PageRead(
            Page(url, title, text, tuple(read.text.blocks), module=book.title, language=language),
            letters=read.letters,
        )
