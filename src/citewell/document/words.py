"""What a block says: its words without Markdown's marks, its sentences, and a passage as Markdown that stands alone."""

import re
from collections.abc import Iterable, Sequence

from citewell.document.blocks import (
    Admonition,
    Block,
    Caption,
    Code,
    Definition,
    Formula,
    Heading,
    ListItem,
    Paragraph,
    Span,
    Tab,
    Table,
)
from citewell.document.splitter import split_sentences, trimmed

_FENCE = re.compile(r"[ \t]*(`{3,}|~{3,})")
_BACKTICKS = re.compile("`+")
_MARKER = re.compile(r"[ \t]*(?:[-*+•]|\d{1,9}[.)])[ \t]*")
_MEANING = re.compile(r"^[ \t]*:[ \t]+", re.MULTILINE)


def prose(text: str, block: Block) -> str:
    """The words of a block, without bullet, bars, fence and signs of a heading. `text` is what its places are in."""
    match block:
        case Heading(title=title) | Admonition(title=title):
            return title
        case Tab(label=label):
            return label
        case Table(header=header, rows=rows):
            lines = [header, *(row.cells for row in rows)] if header else [row.cells for row in rows]
            return "\n".join(", ".join(cell for cell in cells if cell) for cells in lines)
        case Code() | Formula():
            return text[slice(*_inner(text, block))]
        case Definition(term=term):
            meaning = " ".join(text[_meaning(text, block) : block.end].split())
            return f"{term}: {meaning}" if meaning else term
        case ListItem():
            return " ".join(text[_after_marker(text, block) : block.end].split())
        case Paragraph() | Caption():
            return " ".join(text[block.start : block.end].split())


def content(text: str, block: Block) -> str:
    """What a block holds, as inline Markdown or source, for who shows it: the rest of it is in its fields."""
    match block:
        case Heading() | Admonition() | Tab():
            return text[block.start : block.end].lstrip("# ")
        case Definition():
            return _unindented(text[_meaning(text, block) : block.end])
        case ListItem():
            return _unindented(text[_after_marker(text, block) : block.end])
        case Paragraph() | Caption():
            return _unindented(text[block.start : block.end])
        case Code() | Formula():
            return prose(text, block)
        case Table():
            return ""


def _unindented(text: str) -> str:
    return "\n".join(line.strip() for line in text.split("\n")).strip()


def sentences(text: str, block: Block) -> list[Span]:
    """Places of the sentences of a block in `text`; of code its lines, of a formula the whole, of a table its rows."""
    match block:
        case Table(rows=rows):
            return [Span(row.start, row.end) for row in rows]
        case Code():
            return _lines(text, *_inner(text, block))
        case Formula():
            return trimmed(text, *_inner(text, block))
        case Definition():
            meaning = _meaning(text, block)
            return split_sentences(text, meaning, block.end) or [Span(block.start, block.end)]
        case ListItem():
            return split_sentences(text, _after_marker(text, block), block.end)
        case Heading() | Admonition() | Tab():
            return [Span(block.start, block.end)]
        case Paragraph() | Caption():
            return split_sentences(text, block.start, block.end)


def standing_alone(text: str, blocks: Sequence[Block]) -> str:
    """A passage as Markdown: pieces of a table under its header, pieces of code between fences."""
    parts: list[str] = []
    at = 0
    for block in blocks:
        if block.divided is None:
            continue
        written = text[block.start : block.end]
        if isinstance(block, Table) and block.header and block.divided[0] > 1:
            written = "\n".join((*table_lines([block.header]), written))
        elif isinstance(block, Code):
            start, end = _inner(text, block)
            written = fenced(text[start:end], block.language)
        parts += [text[at : block.start], written]
        at = block.end
    return "".join([*parts, text[at:]])


def fenced(code: str, info: str = "") -> str:
    """Code as a block, between as many backticks as it needs."""
    fence = "`" * max(3, max(map(len, _BACKTICKS.findall(code)), default=0) + 1)
    return f"{fence}{info}\n{code}\n{fence}"


def table_row(cells: Iterable[str]) -> str:
    """A row as it is written."""
    return "|" + "".join(f" {_cell(cell)} |" for cell in cells)


def table_lines(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table as it is written; the first row is its header."""
    header, *others = map(table_row, rows)
    return [header, "|" + " --- |" * len(rows[0]), *others]


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("\\|", "|").replace("|", "\\|")


def _after_marker(text: str, block: Block) -> int:
    if block.divided is not None and block.divided[0] > 1:
        return block.start
    marker = _MARKER.match(text, block.start, block.end)
    return marker.end() if marker else block.start


def _meaning(text: str, block: Block) -> int:
    """Where the meaning of a definition begins; the block's end when it has none of its own."""
    if block.divided is not None and block.divided[0] > 1:
        return block.start
    meaning = _MEANING.search(text, block.start, block.end)
    return meaning.end() if meaning else block.end


def _inner(text: str, block: Block) -> tuple[int, int]:
    """What stands between the fences. A piece of a block has the first fence, the last, or none."""
    start, end = block.start, block.end
    piece, pieces = block.divided or (1, 1)
    first = text.find("\n", start, end)
    opens = _opens(text, start, end)
    if piece == 1 and opens:
        start = first + 1 if first >= 0 else end
    last = text.rfind("\n", start - 1 if start else 0, end)
    if piece == pieces and last >= start - 1 and (opens or pieces > 1) and _opens(text, last + 1, end):
        end = max(start, last)
    return start, end


def _opens(text: str, start: int, end: int) -> bool:
    return _FENCE.match(text, start, end) is not None or text.startswith("$$", start, end)


def _lines(text: str, start: int, end: int) -> list[Span]:
    found: list[Span] = []
    while start < end:
        stop = text.find("\n", start, end)
        stop = end if stop < 0 else stop
        found.extend(trimmed(text, start, stop))
        start = stop + 1
    return found
