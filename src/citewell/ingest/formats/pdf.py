"""PDF files into one page with page numbers. The only module that imports pypdf."""

import io
import re
from collections.abc import Iterable
from dataclasses import replace

from citewell.errors import MissingExtraError
from citewell.ingest.bounds import UnreadablePage
from citewell.ingest.formats.pdf_text import PdfText, PrintedLine, PrintedPage, PrintedPiece, assembled, lines_of
from citewell.ingest.pagetext import plain
from citewell.ingest.share import letters

try:
    from pypdf import PageObject, PdfReader
    from pypdf.errors import PyPdfError
    from pypdf.generic import Destination, DictionaryObject
except ModuleNotFoundError as error:
    raise MissingExtraError("pdf", error) from error

MAX_PAGES = 20_000
MAX_HEADINGS = 20_000
_MAX_OUTLINE_DEPTH = 6
_FIXED = re.compile(r"mono|courier|consol|typewriter|(?:cm|lm|ec|sf)tt", re.IGNORECASE)
# What pypdf lets through when a file is not what it says.
_DAMAGE = (PyPdfError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OverflowError)


class UnreadablePdf(UnreadablePage):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code

    def __reduce__(self) -> tuple[type["UnreadablePdf"], tuple[str, str]]:
        return UnreadablePdf, (self.code, str(self))


def read_pdf(data: bytes) -> PdfText:
    """Raises UnreadablePdf."""
    try:
        reader = PdfReader(io.BytesIO(data))
        if reader.is_encrypted and not reader.decrypt(""):
            raise UnreadablePdf("encrypted", "The PDF is encrypted. Save it without a password.")
        count = len(reader.pages)
        title = plain(str(reader.metadata.title or "")) if reader.metadata else ""
    except UnreadablePdf:
        raise
    except _DAMAGE as error:
        raise UnreadablePdf("damaged", "The file is not a PDF that can be read.") from error
    if count > MAX_PAGES:
        raise UnreadablePdf("too_large", f"The PDF has {count:,} pages; the limit is {MAX_PAGES:,}.")
    pages: list[PrintedPage] = []
    unreadable: list[int] = []
    for number in range(count):
        try:
            pages.append(_printed(reader.pages[number]))
        except _DAMAGE:
            pages.append(PrintedPage([]))
            unreadable.append(number + 1)
    stands = sum(letters(line.text) for page in pages for line in page.lines)
    return replace(assembled(pages, _outline(reader), title), unreadable_pages=tuple(unreadable), letters=stands)


def _printed(page: PageObject) -> PrintedPage:
    pieces: list[PrintedPiece] = []
    fixed: dict[int, bool] = {}

    def seen(text: str, around: list[float], matrix: list[float], font: object, size: float) -> None:
        if id(font) not in fixed:
            fixed[id(font)] = _is_fixed(font)
        shown = round(size * abs(matrix[3] * around[3]) or size, 1)
        left, height = matrix[4] * around[0] + around[4], matrix[5] * around[3] + around[5]
        pieces.append(PrintedPiece(text, shown, left, height, fixed[id(font)]))

    page.extract_text(visitor_text=seen)
    lines = lines_of(pieces)
    try:
        layout = page.extract_text(extraction_mode="layout") if _may_have_table(lines) else ""
    except _DAMAGE:
        layout = ""
    return PrintedPage(lines, layout.split("\n"))


def _is_fixed(font: object) -> bool:
    """Whether all letters of a font are equally wide, as it says itself or is named."""
    if not isinstance(font, DictionaryObject):
        return False
    inner = font.get("/DescendantFonts")
    about = (inner[0].get_object() if inner else font).get("/FontDescriptor")
    flags = about.get_object().get("/Flags", 0) if about else 0
    return bool(flags & 1) or _FIXED.search(str(font.get("/BaseFont"))) is not None


def _may_have_table(lines: list[PrintedLine]) -> bool:
    """Cells come as short lines or as lines of few words; a page of prose has hardly any."""
    widest = max((len(line.text) for line in lines), default=0)
    return sum(len(line.text) < widest / 2 for line in lines) >= 3


def _outline(reader: PdfReader) -> dict[int, list[tuple[int, str]]]:
    """Bookmarks by page number: their levels and titles."""
    found: dict[int, list[tuple[int, str]]] = {}
    count = 0

    def gather(entries: Iterable[object], level: int) -> None:
        nonlocal count
        for entry in entries:
            if isinstance(entry, list):
                if level < _MAX_OUTLINE_DEPTH:
                    gather(entry, level + 1)
            elif isinstance(entry, Destination) and entry.title and count < MAX_HEADINGS:
                count += 1
                number = reader.get_destination_page_number(entry)
                if number is not None:
                    found.setdefault(number, []).append((level, plain(str(entry.title))))

    try:
        gather(reader.outline, 1)
    except _DAMAGE:
        return found
    return found
