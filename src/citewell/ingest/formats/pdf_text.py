"""Lines as they are printed, put together again: words, paragraphs, headings, tables, footnotes. Pure."""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby, pairwise
from textwrap import dedent

from citewell.document import Block, Heading, Part, fenced, part_of, read_plain, table_lines
from citewell.ingest.pagetext import plain

_SPACE = re.compile(r"[ \t\u00a0]+")
_NOT_LETTERS = re.compile(r"[\W\d_]+")
_DIGITS = re.compile(r"\d+")
_ITEM = re.compile(r"^(?:[•▪◦‣–-]\s+|\d{1,3}[.)]\s+|\([a-z0-9]\)\s+|\[\d{1,3}\]\s+)")
_NOTE = re.compile(r"^(?:\d{1,3}|[*†‡§])\s*\S")
_LIGATURES = {ord(k): v for k, v in zip("ﬀﬁﬂﬃﬄﬅﬆ", ("ff", "fi", "fl", "ffi", "ffl", "st", "st"), strict=True)}
_WORD = re.compile(r"[^\W\d_]+")
_SPLIT = re.compile(r"\b([A-Z]) ([A-Z]{1,5}|[a-z]{2,})\b")
_CELL = re.compile(r"\S+(?:\s\S+)*")
_NO_TITLE = re.compile(
    r"^(?:untitled.*|microsoft word.*|\(anonymous\)|.*\.(?:docx?|tex|dvi|indd|pdf|pages|odt))$", re.IGNORECASE
)
_REFERENCES = frozenset(("references", "literature", "works cited", "literature cited"))
_MARGIN_LINES = 2
_TITLE_LINES = 4
_FIXED_WIDTH = 0.6
"""Of a letter of code, in its size."""
_LARGER = 1.12
"""Times the size of the body: a heading."""
_SMALLER = 0.92
_ENDS = (".", "!", "?", ":", "…")
_LONGEST_HEADING = 150
_LONGEST_CELL = 25
"""On average: columns of prose are no table."""


@dataclass(frozen=True, slots=True)
class PrintedPiece:
    """Of a line, as the page is printed."""

    text: str
    size: float
    left: float = 0.0
    height: float = 0.0
    is_fixed: bool = False
    """In letters that are all equally wide, as code is."""


@dataclass(frozen=True, slots=True)
class PrintedLine:
    text: str
    size: float = 0.0
    """Of its letters, 0 when unknown."""
    code: str = ""
    """The line as it is indented, when all of it is code."""
    height: float = 0.0
    """Of its place on the page."""


@dataclass(frozen=True, slots=True)
class PrintedPage:
    lines: list[PrintedLine]
    layout: list[str] = field(default_factory=list)
    """The same page with its columns kept apart by blanks; empty where no table can be."""


@dataclass(frozen=True, slots=True)
class PdfText:
    text: str
    title: str
    page_starts: tuple[int, ...]
    blocks: tuple[Block, ...]
    unreadable_pages: tuple[int, ...] = ()
    letters: int = 0
    """That stand on the pages, running heads included."""


def lines_of(pieces: Iterable[PrintedPiece]) -> list[PrintedLine]:
    """Pieces of text into lines, each with the size of most of its letters."""
    lines: list[list[PrintedPiece]] = [[]]
    for piece in pieces:
        first, *others = piece.text.split("\n")
        lines[-1].append(replace(piece, text=first))
        lines += [[replace(piece, text=part)] for part in others]
    return [_line(line) for line in lines if any(piece.text.strip() for piece in line)]


def _line(pieces: Sequence[PrintedPiece]) -> PrintedLine:
    sizes: Counter[float] = Counter()
    for piece in pieces:
        sizes[piece.size] += len(piece.text.strip())
    size = sizes.most_common(1)[0][0]
    text = "".join(piece.text for piece in pieces)
    first = next(piece for piece in pieces if piece.text)
    is_code = all(piece.is_fixed for piece in pieces if piece.text.strip())
    code = " " * round(first.left / (_FIXED_WIDTH * size)) + text.rstrip() if is_code and size else ""
    return PrintedLine(_SPACE.sub(" ", text).strip().translate(_LIGATURES), size, code, round(first.height))


def assembled(pages: Sequence[PrintedPage], outline: Mapping[int, list[tuple[int, str]]], title: str) -> PdfText:
    tables = [_tables(page) for page in pages]
    kept = [list(_code_apart(page)) for page in _joined_capitals(_without_margins([page.lines for page in pages]))]
    said = [[line for line in page if not line.code] for page in kept]
    body = _body_size(said)
    headings = _heading_sizes(said, body) if not outline else {}
    assembly = _Assembly(_line_width(said), body, headings)
    for number, lines in enumerate(kept):
        assembly.page(_with_tables(lines, tables[number]), outline.get(number, []))
    text = "".join(assembly.parts)
    starts = tuple(min(start, len(text)) for start in assembly.starts)
    blocks = [replace(block, anchor=f"page={bisect_right(starts, block.start)}") for block in read_plain(text)]
    return PdfText(text, _title(title, kept), starts, tuple(_with_parts(blocks)))


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
    margins = [_margins(page) for page in pages]
    near = _seen_on(margins)
    outer = _seen_on([(*page[:1], *page[-1:]) for page in pages])
    running = {key for key, count in near.items() if count > max(1, len(pages) / 2) or key == "#"}
    # Left and right pages differ, and so do chapters.
    running |= {key for key, count in outer.items() if count >= max(2, min(3, len(pages) / 3))}
    return [
        [line for line in page if line not in margin or _key(line) not in running]
        for page, margin in zip(pages, margins, strict=True)
    ]


def _margins(page: Sequence[PrintedLine]) -> set[PrintedLine]:
    """What comes first and last, and what stands highest and lowest: some print the text before its margins."""
    heights = {line.height for line in page}
    edges = {max(heights), min(heights)} if len(heights) > 2 else set()
    return {*page[:_MARGIN_LINES], *page[-_MARGIN_LINES:], *(line for line in page if line.height in edges)}


def _seen_on(edges: Iterable[Iterable[PrintedLine]]) -> Counter[str]:
    """On how many pages a line stands at the edge."""
    return Counter(key for lines in edges for key in {_key(line) for line in lines})


def _key(line: PrintedLine) -> str:
    return _DIGITS.sub("#", line.text)


def _code_apart(page: Sequence[PrintedLine]) -> Iterator[PrintedLine]:
    """A line of code in the middle of a sentence is a name that happens to stand alone."""
    for above, line, below in zip((None, *page), page, (*page[1:], None), strict=False):
        is_inside = above and below and not (above.code or below.code) and below.text[:1].islower()
        yield replace(line, code="") if is_inside and above and not above.text.endswith(_ENDS) else line


def _joined_capitals(pages: Sequence[Sequence[PrintedLine]]) -> list[list[PrintedLine]]:
    """Narrow letters stand so far apart that they read as words: "T able", "A WS". The document's own words decide."""
    text = "\n".join(line.text for page in pages for line in page)
    words, split = Counter(_WORD.findall(text)), Counter(_SPLIT.findall(text))
    known = {word.lower() for word in words if len(word) > 1}

    def joined(found: re.Match[str]) -> str:
        first, rest = found.groups()
        whole = first + rest
        if rest.isupper():
            is_only_split = len(rest) <= 2 and words[rest] == split[first, rest] > 1
            return whole if words[whole] or is_only_split else found.group()
        # "I am" and "A cat" are two words wherever "iam" and "acat" are none.
        return whole if whole.lower() in known and first not in ("A", "I") else found.group()

    return [[replace(line, text=_SPLIT.sub(joined, line.text)) for line in page] for page in pages]


def _body_size(pages: Sequence[Sequence[PrintedLine]]) -> float:
    sizes: Counter[float] = Counter()
    for page in pages:
        for line in page:
            sizes[line.size] += len(line.text)
    return sizes.most_common(1)[0][0] if sizes else 0.0


def _heading_sizes(pages: Sequence[Sequence[PrintedLine]], body: float) -> dict[float, int]:
    """The levels of what a document without bookmarks prints larger than its body."""
    sizes = {line.size for page in pages for line in page if body and line.size > _LARGER * body}
    return {size: min(i, 4) for i, size in enumerate(sorted(sizes, reverse=True), 1)}


@dataclass(slots=True)
class _Assembly:
    width: int
    body: float
    headings: Mapping[float, int]
    """The levels of sizes."""
    parts: list[str] = field(default_factory=list)
    starts: list[int] = field(default_factory=list)
    _length: int = 0
    _goes_on: bool = False

    def page(self, lines: Sequence[PrintedLine], due: Sequence[tuple[int, str]]) -> None:
        """`due` are the levels and titles of the bookmarks that lead to this page."""
        self.starts.append(self._length + (2 if self.parts else 0))
        waiting: dict[str, list[tuple[int, str]]] = {}
        for entry in due:
            if key := _title_key(entry[1]):
                waiting.setdefault(key, []).append(entry)
        body, notes = self._notes(_with_titles(lines, waiting))
        paragraphs = [(level, text, _title_key(text)) for level, text in self._paragraphs(body, waiting)]
        seen = {key for _, _, key in paragraphs if key}
        unseen = [(level + 1, title, "") for level, title in due if _title_key(title) not in seen]
        for number, (level, text, key) in enumerate([*unseen, *paragraphs]):
            if waiting.get(key):
                above, title = waiting[key].pop(0)
                self._write(above + 1, title)
            else:
                self._write(level, text, is_first=not number)
        for note in notes:
            self._goes_on = False
            self._append(note, "\n\n")

    def _write(self, level: int, text: str, *, is_first: bool = False) -> None:
        """A heading, or with level 0 a paragraph, which as the first of its page may go on with the last one."""
        joins = is_first and not level and self._goes_on and text[:1].islower()
        at = self._append(f"{'#' * min(level, 6)} {text}" if level else text, " " if joins else "\n\n")
        if joins:
            self.starts[-1] = at
        self._goes_on = not (level or text.endswith((*_ENDS, "|", "`")))

    def _append(self, block: str, separator: str) -> int:
        separator = separator if self.parts else ""
        self.parts.append(separator + block)
        self._length += len(separator) + len(block)
        return self._length - len(block)

    def _notes(self, lines: Sequence[PrintedLine]) -> tuple[Sequence[PrintedLine], list[str]]:
        """The small print at the foot of a page, apart from the text above it."""
        first = len(lines)
        while first and 0 < lines[first - 1].size < _SMALLER * self.body and not lines[first - 1].code:
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

    def _paragraphs(self, lines: Sequence[PrintedLine], titles: Container[str]) -> list[tuple[int, str]]:
        """Lines joined again, with the level of those that are headings."""
        found: list[tuple[int, str]] = []
        before: PrintedLine | None = None
        for is_code, run in groupby(lines, lambda line: bool(line.code)):
            if is_code:
                found.append((0, _listing(list(run))))
                before = None
                continue
            for line in run:
                level = self._level(line)
                is_alone = level > 0 or line.text.startswith("| ") or _title_key(line.text) in titles
                if before is not None and self._joins(found[-1], before, line, level, is_alone=is_alone):
                    found[-1] = (level, _continued(found[-1][1], line.text))
                else:
                    found.append((level, line.text))
                before = line
                if is_alone and not level:
                    before = None
        return found

    def _joins(
        self, paragraph: tuple[int, str], before: PrintedLine, line: PrintedLine, level: int, *, is_alone: bool
    ) -> bool:
        """Whether a line goes on with the paragraph above it."""
        if level or paragraph[0]:
            return level == paragraph[0] and self._is_full(paragraph[1], line.size)
        if is_alone or _ITEM.match(line.text):
            return False
        if len(before.text) < 0.8 * self.width and before.text.endswith(_ENDS):
            return False
        # Where a line ends although the next word would have had room, something else begins.
        had_room = len(before.text) + 1 + len(line.text.split()[0]) < 0.6 * self.width
        return not had_room or line.text[:1].islower()

    def _level(self, line: PrintedLine) -> int:
        """0: no heading."""
        is_short = len(line.text) <= _LONGEST_HEADING and any(c.isalpha() for c in line.text)
        return self.headings.get(line.size, 0) if is_short else 0

    def _is_full(self, text: str, size: float) -> bool:
        """Whether a line of larger letters goes as far as lines do, so that the next may go on with it."""
        return len(text) * size >= 0.6 * self.width * self.body


def _listing(lines: Sequence[PrintedLine]) -> str:
    """Lines of code as a block; where one is left out on the page, so it is here."""
    gaps = [above.height - below.height for above, below in pairwise(lines)]
    step = min((gap for gap in gaps if gap > 0), default=0)
    shown = [lines[0].code]
    for line, gap in zip(lines[1:], gaps, strict=True):
        shown += ["", line.code] if gap > 1.5 * step > 0 else [line.code]
    return fenced(dedent("\n".join(shown)))


def _with_titles(lines: Sequence[PrintedLine], titles: Container[str]) -> list[PrintedLine]:
    """Lines that together are the title of a bookmark, as one."""
    keys = [_title_key(line.text) for line in lines]
    kept: list[PrintedLine] = []
    at = 0
    while at < len(lines):
        counts = (n for n in range(2, _TITLE_LINES + 1) if keys[at] and "".join(keys[at : at + n]) in titles)
        count = 1 if keys[at] in titles else next(counts, 1)
        whole = " ".join(line.text for line in lines[at : at + count])
        kept.append(lines[at] if count == 1 else PrintedLine(whole, lines[at].size))
        at += count
    return kept


def _continued(text: str, line: str) -> str:
    return text[:-1] + line if text.endswith("-") and line[:1].islower() else f"{text} {line}"


def _title_key(text: str) -> str:
    """What a bookmark and the heading that is printed have in common: their letters; empty for what is no title."""
    return _NOT_LETTERS.sub("", text).lower() if len(text) < 250 else ""


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
    found = list(_CELL.finditer(line))
    return [cell.group().translate(_LIGATURES) for cell in found], [cell.start() for cell in found]


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
                kept[first:last] = [PrintedLine("\n".join(table_lines(rows)), kept[first].size)]
                break
    return kept


def _bare(text: str) -> str:
    return "".join(text.split())
