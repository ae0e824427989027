"""Chosen blocks as a Markdown answer: word for word, each followed by the marker of its passage. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from citewell.document import (
    Code,
    Definition,
    Formula,
    ListItem,
    Table,
    content,
    prose,
    table_row,
)
from citewell.reader.choosing import Quote
from citewell.values import Passage

Number = Callable[[Passage], int]
"""The number of a passage among the evidence."""
_QUOTED = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_BLANKS = re.compile(r"\s*\n\s*")
_BACKTICKS = re.compile("`{3,}")


def compose(groups: Sequence[Sequence[Quote]], number: Number) -> str:
    """The answer; "" for no quotes."""
    parts = ["\n".join(_lines(group, number)).strip("\n") for group in groups]
    return "\n\n".join(part for part in parts if part)


def _lines(group: Sequence[Quote], number: Number) -> Iterator[str]:
    """Block by block. The pieces of a block that was divided are one block again."""
    items = [quote for quote in group if isinstance(quote.piece.block, ListItem)]
    alone = len(items) == 1 and len(group) == 1
    texts: dict[int, int] = {}
    """Where the text of each item begins, so that what it holds stands below it."""
    previous: Quote | None = None
    for _, pieces in groupby(group, key=lambda quote: quote.piece.number):
        quotes = list(pieces)
        block = quotes[0].piece.block
        if previous is not None and not _tight(previous, quotes[0]):
            yield ""
        depth = max((texts.get(n, 0) for n in block.within), default=0)
        if isinstance(block, ListItem) and not alone:
            texts[quotes[0].piece.number] = depth + len(block.marker) + 1
        markers = [f"[{number(quote.piece.passage)}]" for quote in quotes]
        for line in _rendered(quotes, markers, alone=alone):
            yield " " * depth + line if line else ""
        previous = quotes[-1]


def _tight(previous: Quote, quote: Quote) -> bool:
    """Items of a list stand line by line."""
    blocks = (previous.piece.block, quote.piece.block)
    return bool(quote.label) or all(isinstance(block, ListItem) for block in blocks)


def _rendered(quotes: Sequence[Quote], markers: Sequence[str], *, alone: bool) -> list[str]:
    """The lines of one block, of which there may be several pieces; each piece has its own marker."""
    first = quotes[0]
    if first.label:
        return [f"- **{first.label}**: {_flat(_texts(first)[0])} {markers[0]}"]
    told = " ".join(f"{_told(quote)} {marker}" for quote, marker in zip(quotes, markers, strict=True))
    match first.piece.block:
        case Table() as table:
            return [*_table_head(table), *_table_rows(quotes, markers)]
        case Code(language=language):
            return _fenced("\n".join(prose(q.piece.passage.text, q.piece.block) for q in quotes), language)
        case ListItem(marker=sign) if not alone:
            return [f"{sign} {told}"]
        case Definition(term=term):
            return [f"**{term.strip('*')}**: {told}"]
        case _:
            return [told]


def _told(quote: Quote) -> str:
    """What is quoted, on one line and without the marks of its block."""
    text, block = quote.piece.passage.text, quote.piece.block
    match block:
        case ListItem() | Definition():
            return _flat(content(text, block))
        case Formula():
            return quote.piece.text
        case _:
            return " ".join(map(_flat, _texts(quote)))


def _texts(quote: Quote) -> list[str]:
    return [quote.piece.passage.text[start:end] for start, end in quote.spans]


def _table_head(table: Table) -> list[str]:
    columns = len(table.header) or max((len(row.cells) for row in table.rows), default=1)
    return [table_row(table.header or [""] * columns), "|" + " --- |" * columns]


def _table_rows(quotes: Sequence[Quote], markers: Sequence[str]) -> Iterator[str]:
    for quote, marker in zip(quotes, markers, strict=True):
        for text in _texts(quote):
            yield f"{text.strip().removesuffix('|').rstrip()} {marker} |"


def _fenced(code: str, language: str) -> list[str]:
    fence = "`" * max(3, *(len(run) + 1 for run in _BACKTICKS.findall(code)), 3)
    return [f"{fence}{language}", *_dedented(code), fence]


def _dedented(code: str) -> list[str]:
    lines = code.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[indent:] if line.strip() else "" for line in lines]


def _flat(text: str) -> str:
    return _BLANKS.sub(" ", _QUOTED.sub("", text)).strip()
