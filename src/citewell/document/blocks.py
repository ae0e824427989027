"""The blocks that a page is made of: what each is, where it stands in the page's text, and what holds it. Pure."""

from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

Part = Literal["body", "objectives", "exercise", "quiz", "summary", "navigation", "contents", "changelog", "references"]
"""What a block is for: the body of the book, or something around it."""


class Span(NamedTuple):
    """A stretch of a text, end exclusive."""

    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Placed:
    """What every block has. `text[start:end]` is the block as it is written in the page's text."""

    start: int
    end: int
    anchor: str = ""
    """Where a link to the block lands: its own id, or that of the definition or heading it stands under."""
    part: Part = "body"
    within: tuple[int, ...] = ()
    """The blocks of the page that hold this one (items, definitions, admonitions, tabs), outermost first."""
    divided: tuple[int, int] | None = None
    """Piece i of n, counted from 1, of a block that is too long for one passage."""


@dataclass(frozen=True, slots=True)
class Heading(Placed):
    level: int
    title: str
    """One line without marks."""


@dataclass(frozen=True, slots=True)
class Paragraph(Placed):
    pass


@dataclass(frozen=True, slots=True)
class ListItem(Placed):
    """The marker and the first paragraph of an item; what follows in it are blocks of their own."""

    level: int
    """0 is the outermost list."""
    marker: str
    """ "-", or "3." in a numbered list."""


@dataclass(frozen=True, slots=True)
class Definition(Placed):
    """A term and the first paragraph of what it means."""

    term: str


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table, with its line."""

    cells: tuple[str, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Table(Placed):
    header: tuple[str, ...]
    """Empty for a table without one. Known in each piece of a table that was divided."""
    rows: tuple[Row, ...]
    """Without the header."""


@dataclass(frozen=True, slots=True)
class Code(Placed):
    language: str = ""
    caption: str = ""


@dataclass(frozen=True, slots=True)
class Formula(Placed):
    pass


@dataclass(frozen=True, slots=True)
class Admonition(Placed):
    """The line that names a box; what is in the box are blocks of their own."""

    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class Tab(Placed):
    """The line that names a tab; what is in it are blocks of their own."""

    label: str


@dataclass(frozen=True, slots=True)
class Caption(Placed):
    """What is written under or over a figure, a table or a listing."""


Block = Heading | Paragraph | ListItem | Definition | Table | Code | Formula | Admonition | Tab | Caption


def moved(block: Block, by: int) -> Block:
    """The block in a text that begins `by` characters earlier; backwards when `by` is negative."""
    if not by:
        return block
    if isinstance(block, Table):
        rows = tuple(Row(row.cells, row.start + by, row.end + by) for row in block.rows)
        return replace(block, start=block.start + by, end=block.end + by, rows=rows)
    return replace(block, start=block.start + by, end=block.end + by)


def announces(text: str, block: Block) -> bool:
    """Whether the block says what comes next, and so is read together with it."""
    if isinstance(block, Heading | Admonition | Tab):
        return True
    return isinstance(block, Paragraph | ListItem) and text[block.end - 1 : block.end] in (":", "：")
