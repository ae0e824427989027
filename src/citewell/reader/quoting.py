"""Chosen blocks as a Markdown answer: word for word, each followed by the marker of its passage. Pure."""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby

from citewell.document import (
    Caption,
    Code,
    Definition,
    Formula,
    ListItem,
    Paragraph,
    Table,
    prose,
    sentences,
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


def _rendered(quotes: Sequence[Quote], markers: Sequence[str], *, alone: bool) -> Iterator[str]:
    first = quotes[0].piece
    if quotes[0].label:
        yield f"- **{quotes[0].label}**: {_flat(_texts(quotes[0])[0])} {markers[0]}"
        return
    match first.block:
        case Table(header=header, rows=rows):
            columns = len(header) or max((len(row.cells) for row in rows), default=1)
            yield table_row(header or [""] * columns)
            yield "|" + " --- |" * columns
            for quote, marker in zip(quotes, markers, strict=True):
                for text in _texts(quote):
                    yield f"{text.strip().removesuffix('|').rstrip()} {marker} |"
        case Code(language=language):
            inner = "\n".join(prose(quote.piece.passage.text, quote.piece.block) for quote in quotes)
            fence = "`" * max(3, *(len(run) + 1 for run in _BACKTICKS.findall(inner)), 3)
            yield f"{fence}{language}"
            yield from _dedented(inner)
            yield fence
        case Formula():
            yield f"{first.text} {markers[0]}"
        case ListItem(marker=sign):
            told = " ".join(f"{_item_text(q)} {m}" for q, m in zip(quotes, markers, strict=True))
            yield told if alone else f"{sign} {told}"
        case Definition(term=term):
            told = " ".join(f"{_meaning(q)} {m}" for q, m in zip(quotes, markers, strict=True))
            yield f"**{term.strip('*')}**: {told}"
        case Paragraph() | Caption():
            yield " ".join(f"{_flat(t)} {m}" for q, m in zip(quotes, markers, strict=True) for t in _texts(q))
        case _:
            return


def _texts(quote: Quote) -> list[str]:
    return [quote.piece.passage.text[start:end] for start, end in quote.spans]


def _item_text(quote: Quote) -> str:
    text, block = quote.piece.passage.text, quote.piece.block
    units = sentences(text, block)
    return _flat(text[units[0].start if units else block.start : block.end])


def _meaning(quote: Quote) -> str:
    text, block = quote.piece.passage.text, quote.piece.block
    return _flat(" ".join(text[start:end] for start, end in sentences(text, block) if start > block.start))


def _dedented(code: str) -> list[str]:
    lines = code.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    return [line[indent:] if line.strip() else "" for line in lines]


def _flat(text: str) -> str:
    return _BLANKS.sub(" ", _QUOTED.sub("", text)).strip()
