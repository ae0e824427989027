"""Lines as they are printed, put together again: words, paragraphs, headings, tables, footnotes. Pure."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from citewell.document import Block, Heading, Part, part_of, read_plain, table_row
from citewell.ingest.pagetext import plain

_SPACE = re.compile(r"[ \t\u00a0]+")
_DIGITS = re.compile(r"\d+")
_ITEM = re.compile(r"^(?:[•▪◦‣–-]\s+|\d{1,3}[.)]\s+|\([a-z0-9]\)\s+|\[\d{1,3}\]\s+)")
_NOTE = re.compile(r"^(?:\d{1,3}|[*†‡§])\s*\S")
_LIGATURES = {ord(k): v for k, v in zip("ﬀﬁﬂﬃﬄﬅﬆ", ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)}
_WORD = re.compile(r"[^\W\d_]+")
_SPLIT = re.compile(r"\b([A-Z]) ([A-Z]{1,5}|[a-z]{2,})\b")
_GAP = re.compile(r"\s{2,}")
_NO_TITLE = re.compile(
    r"^(?:untitled.*|microsoft word.*|\(anonymous\)|.*\.(?:docx?|tex|dvi|indd|pdf|pages|odt))$", re.IGNORECASE
)
_REFERENCES = frozenset(("references", "literature", "works cited", "literature cited"))
_MARGIN_LINES = 2
_LARGER = 1.12
"""Times the size of the body: a heading."""
_SMALLER = 0.92
_LONGEST_HEADING = 150
_LONGEST_CELL = 25
"""On average: columns of prose are no table."""


@dataclass(frozen=True, slots=True)
class PrintedLine:
    text: str
    size: float = 0.0
    """Of its letters, 0 when unknown."""


@dataclass(frozen=True, slots=True)
class PrintedPage:
    lines: list[PrintedLine]
    layout: list[str] = field(default_factory=list)
    """The same page with its columns kept apart by blanks; empty where no table can be."""


@dataclass(frozen=True, slots=True)
class Assembled:
    text: str
    title: str
    page_starts: tuple[int, ...]
    blocks: tuple[Block, ...]


def lines_of(pieces: Iterable[tuple[str, float]]) -> list[PrintedLine]:
    """Pieces of text with their sizes into lines, each with the size of most of its letters."""
    found: list[PrintedLine] = []
    text: list[str] = []
    sizes: Counter[float] = Counter()
    for piece, size in pieces:
        first, *others = piece.split("\n")
        text.append(first)
        sizes[size] += len(first.strip())
        for part in others:
            _close(found, text, sizes)
            text.append(part)
            sizes[size] += len(part.strip())
    _close(found, text, sizes)
    return found


def _close(found: list[PrintedLine], text: list[str], sizes: Counter[float]) -> None:
    whole = _SPACE.sub(" ", "".join(text)).strip().translate(_LIGATURES)
    if whole:
        found.append(PrintedLine(whole, sizes.most_common(1)[0][0]))
    text.clear()
    sizes.clear()


def assembled(pages: Sequence[PrintedPage], outline: Mapping[int, list[tuple[int, str]]], title: str) -> Assembled:
    tables = [_tables(page) for page in pages]
    kept = _without_margins([page.lines for page in pages])
    kept = _joined_capitals(kept)
    body = _body_size(kept)
    headings = _HeadingSizes.of(kept, body) if not outline else _HeadingSizes({})
    assembly = _Assembly(_line_width(kept), body, headings)
    for number, lines in enumerate(kept):
        assembly.page(_with_tables(lines, tables[number]), list(outline.get(number, [])))
    text = "".join(assembly.parts)
    starts = tuple(min(start, len(text)) for start in assembly.starts)
    blocks = [replace(block, anchor=f"page={bisect_right(starts, block.start)}") for block in read_plain(text)]
    return Assembled(text, _title(title, kept), starts, tuple(_with_parts(blocks)))


def _with_parts(blocks: Iterable[Block]) -> Iterable[Block]:
    """References and the like are marked from their heading to the next of the same level."""
    part: Part = "body"
    level = 0
    for block in blocks:
        if isinstance(block, Heading) and (part == "body" or block.level <= level):
            words = _DIGITS.sub("", block.title).strip(" .").lower()
            part = "references" if words in _REFERENCES else part_of(block.title) or "body"
            level = block.level
        yield replace(block, part=part)


def _title(given: str, pages: Sequence[Sequence[PrintedLine]]) -> str:
    """What the document calls itself, else its largest line on the first page that has one."""
    if given and not _NO_TITLE.match(given):
        return given
    for lines in pages[:3]:
        largest = max((line.size for line in lines), default=0)
        shown = [line.text for line in lines if line.size == largest]
        if largest and 0 < len(shown) <= 4 and len(shown) < len(lines):
            return plain(" ".join(shown))
    return ""


def _without_margins(pages: Sequence[Sequence[PrintedLine]]) -> list[list[PrintedLine]]:
    """Running heads, footers and page numbers go: lines at the edge that come, but for digits, again and again."""
    if len(pages) < 4:
        return [[line for line in page if not line.text.isdigit()] for page in pages]
    inner = Counter(key for page in pages for key in {_key(line) for line in _margins(page)})
    outer = Counter(key for page in pages for key in {_key(line) for line in (*page[:1], *page[-1:])})
    running = {key for key, count in inner.items() if count > len(pages) / 2 or key == "#"}
    running |= {key for key, count in outer.items() if count >= 3}
    kept: list[list[PrintedLine]] = []
    for page in pages:
        edge = {*range(_MARGIN_LINES), *range(len(page) - _MARGIN_LINES, len(page))}
        kept.append([line for i, line in enumerate(page) if i not in edge or _key(line) not in running])
    return kept


def _key(line: PrintedLine) -> str:
    return _DIGITS.sub("#", line.text)


def _margins(page: Sequence[PrintedLine]) -> list[PrintedLine]:
    return [*page[:_MARGIN_LINES], *page[-_MARGIN_LINES:]]


def _joined_capitals(pages: Sequence[Sequence[PrintedLine]]) -> list[list[PrintedLine]]:
    """Narrow letters stand so far apart that they read as words: "T able", "A WS". The document's own words decide."""
    words = Counter(word for page in pages for line in page for word in _WORD.findall(line.text))
    known = {word.lower() for word in words if len(word) > 1}
    split = Counter(m.groups() for page in pages for line in page for m in _SPLIT.finditer(line.text))

    def joined(found: re.Match[str]) -> str:
        first, rest = found.groups()
        whole = first + rest
        if rest.isupper():
            is_only_split = len(rest) <= 2 and words[rest] == split[first, rest] > 1
            return whole if words[whole] or is_only_split else found.group()
        # "I am" and "A cat" are two words wherever "iam" and "acat" are none.
        return whole if whole.lower() in known and first not in ("A", "I") else found.group()

    return [[PrintedLine(_SPLIT.sub(joined, line.text), line.size) for line in page] for page in pages]


def _body_size(pages: Sequence[Sequence[PrintedLine]]) -> float:
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


@dataclass(frozen=True, slots=True)
class _HeadingSizes:
    """What a document without bookmarks prints larger than its body, by level."""

    levels: Mapping[float, int]

    @classmethod
    def of(cls, pages: Sequence[Sequence[PrintedLine]], body: float) -> "_HeadingSizes":
        sizes = {line.size for page in pages for line in page if body and line.size > _LARGER * body}
        return cls({size: min(i, 4) for i, size in enumerate(sorted(sizes, reverse=True), 1)})

    def level(self, line: PrintedLine) -> int:
        """0: no heading."""
        is_short = len(line.text) <= _LONGEST_HEADING and any(c.isalpha() for c in line.text)
        return self.levels.get(line.size, 0) if is_short else 0


@dataclass(slots=True)
class _Assembly:
    width: int
    body: float
    headings: _HeadingSizes
    parts: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    _length: int = 0
    _goes_on: bool = False

    def page(self, lines: Sequence[PrintedLine], due: list[tuple[int, str]]) -> None:
        self.starts.append(self._length + (2 if self.parts else 0))
        body, notes = self._notes(lines)
        paragraphs = self._paragraphs(body, [title for _, title in due])
        unseen = [d for d in due if not any(_same(d[1], text) for _, text in paragraphs)]
        is_first = True
        for level, text in [*unseen, *paragraphs]:
            entry = next((d for d in due if _same(d[1], text)), None)
            if entry is not None:
                due.remove(entry)
                self._append(f"{'#' * min(entry[0] + 1, 6)} {entry[1]}", "\n\n")
            elif level:
                self._append(f"{'#' * min(level, 6)} {text}", "\n\n")
            else:
                joins = is_first and self._goes_on and text[:1].islower()
                at = self._append(text, " " if joins else "\n\n")
                if joins:
                    self.starts[-1] = at
            is_first = False
        if paragraphs:
            self._goes_on = not paragraphs[-1][1].endswith((".", "!", "?", ":", "|"))
        for note in notes:
            self._goes_on = False
            self._append(note, "\n\n")

    def _append(self, block: str, separator: str) -> int:
        separator = separator if self.parts else ""
        self.parts.append(separator + block)
        self._length += len(separator) + len(block)
        return self._length - len(block)

    def _notes(self, lines: Sequence[PrintedLine]) -> tuple[Sequence[PrintedLine], list[str]]:
        """The small print at the foot of a page, apart from the text above it."""
        first = len(lines)
        while first and 0 < lines[first - 1].size < _SMALLER * self.body:
            first -= 1
        if first == 0 or first == len(lines) or not _NOTE.match(lines[first].text):
            return lines, []
        notes: list[str] = []
        for line in lines[first:]:
            if _NOTE.match(line.text) or not notes:
                notes.append(line.text)
            else:
                notes[-1] = _continued(notes[-1], line.text)
        return lines[:first], notes

    def _paragraphs(self, lines: Sequence[PrintedLine], titles: list[str]) -> list[tuple[int, str]]:
        """Lines joined again, with the level of those that are headings.

        A paragraph ends at a short line that closes a sentence, at a heading, and before an item.
        """
        found: list[tuple[int, str]] = []
        current = ""
        level_before = 0
        for line in lines:
            level = self.headings.level(line)
            is_alone = level or line.text.startswith("| ") or any(_same(title, line.text) for title in titles)
            if current and (is_alone or _ITEM.match(line.text)):
                found.append((0, current))
                current = ""
            if level and level == level_before and self._is_full(found[-1][1], line.size):
                found[-1] = (level, f"{found[-1][1]} {line.text}")
            elif is_alone:
                found.append((level, line.text))
            else:
                current = _continued(current, line.text)
                if len(line.text) < 0.8 * self.width and line.text.endswith((".", "!", "?", ":")):
                    found.append((0, current))
                    current = ""
            level_before = level
        return [*found, (0, current)] if current else found

    def _is_full(self, text: str, size: float) -> bool:
        """Whether a line of larger letters goes as far as lines do, so that the next may go on with it."""
        return len(text) * size >= 0.6 * self.width * self.body


def _continued(text: str, line: str) -> str:
    if not text:
        return line
    return text[:-1] + line if text.endswith("-") and line[:1].islower() else f"{text} {line}"


def _same(heading: str, paragraph: str) -> bool:
    def bare(text: str) -> str:
        return re.sub(r"[\W\d_]+", "", text).lower()

    return bare(heading) == bare(paragraph) and len(paragraph) < 250


def _line_width(pages: Sequence[Sequence[PrintedLine]]) -> int:
    lengths = sorted(len(line.text) for page in pages for line in page)
    return lengths[len(lengths) * 3 // 4] if lengths else 0


def _tables(page: PrintedPage) -> list[list[list[str]]]:
    """Three or more lines one under another with as many short cells each, which begin at about the same places."""
    found: list[list[list[str]]] = []
    rows: list[list[str]] = []
    starts: list[int] = []
    for line in [*page.layout, ""]:
        cells, places = _cells(line)
        is_next = bool(rows) and len(cells) == len(rows[0]) and _aligned(places, starts)
        if not is_next:
            if len(rows) >= 3:
                found.append(rows)
            rows, starts = [], []
        if len(cells) >= 2:
            rows.append(cells)
            starts = starts or places
    return [rows for rows in found if _is_table(rows)]


def _cells(line: str) -> tuple[list[str], list[int]]:
    cells: list[str] = []
    places: list[int] = []
    at = 0
    for part in _GAP.split(line.strip()):
        at = line.find(part, at) if part else at
        if part:
            cells.append(part.translate(_LIGATURES))
            places.append(at)
            at += len(part)
    return cells, places


def _aligned(places: Sequence[int], starts: Sequence[int]) -> bool:
    return sum(abs(a - b) <= 2 for a, b in zip(places, starts, strict=True)) * 2 >= len(starts)


def _is_table(rows: list[list[str]]) -> bool:
    cells = [cell for row in rows for cell in row]
    return sum(map(len, cells)) <= _LONGEST_CELL * len(cells)


def _with_tables(lines: Sequence[PrintedLine], tables: Sequence[list[list[str]]]) -> list[PrintedLine]:
    """The lines that make up a table, as one; where they stand in another order, they stay lines."""
    kept = list(lines)
    for rows in tables:
        wanted = _bare("".join(cell for row in rows for cell in row))
        bare = [_bare(line.text) for line in kept]
        for first in range(len(kept)):
            last, seen = first, ""
            while last < len(kept) and wanted.startswith(seen + bare[last]) and seen != wanted:
                seen += bare[last]
                last += 1
            if seen == wanted:
                shown = [table_row(rows[0]), "|" + " --- |" * len(rows[0]), *(table_row(row) for row in rows[1:])]
                kept[first:last] = [PrintedLine("\n".join(shown), kept[first].size)]
                break
    return kept


def _bare(text: str) -> str:
    return "".join(text.split())
