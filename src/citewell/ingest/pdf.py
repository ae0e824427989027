"""PDF files into one page with page numbers. The only module that imports pypdf."""

import io
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace

from citewell.document import Block, read_plain
from citewell.errors import MissingExtraError
from citewell.ingest.pagetext import plain

try:
    from pypdf import PdfReader
    from pypdf.errors import PyPdfError
    from pypdf.generic import Destination
except ModuleNotFoundError as error:
    raise MissingExtraError("pdf", error) from error

MAX_PAGES = 20_000
MAX_HEADINGS = 20_000
_MAX_OUTLINE_DEPTH = 6
# What pypdf lets through when a file is not what it says.
_DAMAGE = (PyPdfError, ValueError, KeyError, TypeError, IndexError, AttributeError, RecursionError, OverflowError)
_SPACE = re.compile(r"[ \t\u00a0]+")
_DIGITS = re.compile(r"\d+")
_ITEM = re.compile(r"^(?:[•▪◦‣–-]\s+|\d{1,3}[.)]\s+|\([a-z0-9]\)\s+)")
_MARGIN_LINES = 2


class UnreadablePdf(ValueError):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class PdfText:
    text: str
    title: str
    page_starts: tuple[int, ...]
    blocks: tuple[Block, ...]
    unreadable_pages: tuple[int, ...]


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
    pages: list[list[str]] = []
    unreadable: list[int] = []
    for number in range(count):
        try:
            text = reader.pages[number].extract_text() or ""
        except _DAMAGE:
            text = ""
            unreadable.append(number + 1)
        pages.append([_SPACE.sub(" ", line).strip() for line in text.splitlines()])
    return _assembled(_without_margins(pages), _outline(reader), title, tuple(unreadable))


def _without_margins(pages: list[list[str]]) -> list[list[str]]:
    """Running headers, footers and page numbers go: margin lines that are the same, but for digits, on most pages."""
    pages = [[line for line in page if line] for page in pages]
    if len(pages) < 4:
        return [[line for line in page if not line.isdigit()] for page in pages]
    seen = Counter(key for page in pages for key in {_DIGITS.sub("#", line) for line in _margins(page)})
    running = {key for key, count in seen.items() if count > len(pages) / 2 or key == "#"}
    kept: list[list[str]] = []
    for page in pages:
        edge = set(range(_MARGIN_LINES)) | set(range(len(page) - _MARGIN_LINES, len(page)))
        kept.append([line for i, line in enumerate(page) if i not in edge or _DIGITS.sub("#", line) not in running])
    return kept


def _margins(page: list[str]) -> list[str]:
    return [*page[:_MARGIN_LINES], *page[-_MARGIN_LINES:]]


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


def _assembled(
    pages: list[list[str]], outline: dict[int, list[tuple[int, str]]], title: str, unreadable: tuple[int, ...]
) -> PdfText:
    parts: list[str] = []
    starts: list[int] = []
    length = 0

    def append(block: str, separator: str) -> int:
        nonlocal length
        separator = separator if parts else ""
        parts.append(separator + block)
        length += len(separator) + len(block)
        return length - len(block)

    width = _line_width(pages)
    for number, lines in enumerate(pages):
        due = list(outline.get(number, []))
        starts.append(length + (2 if parts else 0))
        goes_on = bool(parts) and not parts[-1].rstrip().endswith((".", "!", "?", ":"))
        paragraphs = _paragraphs(lines, [heading for _, heading in due], width)
        unseen = [d for d in due if not any(_same(d[1], paragraph) for paragraph in paragraphs)]
        for paragraph in [*(heading for _, heading in unseen), *paragraphs]:
            entry = next((d for d in due if _same(d[1], paragraph)), None)
            if entry is not None:
                due.remove(entry)
                append(f"{'#' * min(entry[0] + 1, 6)} {entry[1]}", "\n\n")
            else:
                joins = goes_on and paragraph[:1].islower()
                at = append(paragraph, " " if joins else "\n\n")
                if joins:
                    starts[-1] = at
            goes_on = False
    text = "".join(parts)
    page_starts = tuple(min(start, len(text)) for start in starts)
    blocks = [replace(block, anchor=f"page={bisect_right(page_starts, block.start)}") for block in read_plain(text)]
    return PdfText(text, title, page_starts, tuple(blocks), unreadable)


def _same(heading: str, paragraph: str) -> bool:
    def letters(text: str) -> str:
        return re.sub(r"[\W\d_]+", "", text).lower()

    return letters(heading) == letters(paragraph) and len(paragraph) < 250


def _line_width(pages: list[list[str]]) -> int:
    lengths = sorted(len(line) for page in pages for line in page)
    return lengths[len(lengths) * 3 // 4] if lengths else 0


def _paragraphs(lines: list[str], headings: list[str], width: int) -> list[str]:
    """Lines joined again: a paragraph ends at a short line that closes a sentence, at a heading, and before an item."""
    found: list[str] = []
    current = ""
    for line in lines:
        is_heading = any(_same(heading, line) for heading in headings)
        if current and (is_heading or _ITEM.match(line)):
            found.append(current)
            current = ""
        if not current:
            current = line
        elif current.endswith("-") and line[:1].islower():
            current = current[:-1] + line
        else:
            current = f"{current} {line}"
        if is_heading or (len(line) < 0.8 * width and line.endswith((".", "!", "?", ":"))):
            found.append(current)
            current = ""
    return [*found, current] if current else found
