"""Windows of evidence: whole blocks of a passage under its headings, as long as the judge was trained to read. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from citewell.document import Block, Heading, Table, read_plain, split_sentences, table_row
from citewell.values import Passage

LONGEST: Final = 1600
"""Characters. Longer passages are cut between blocks; a block that is longer, between sentences."""


@dataclass(frozen=True, slots=True)
class Window:
    """`passage.text[start:end]`, and how the judge reads it: under its headings, a table with its header."""

    text: str
    start: int
    end: int


def windows(passage: Passage) -> tuple[Window, ...]:
    whole = passage.embedded_text
    if len(whole) <= LONGEST:
        # The very text that was embedded: what the reader has read of it need not be read again.
        return (Window(whole, 0, len(passage.text)),)
    headings = whole[: len(whole) - len(passage.text)][-LONGEST // 4 :]
    room = LONGEST - len(headings)
    blocks = passage.blocks or read_plain(passage.text)
    return tuple(
        Window(headings + _header(blocks, start) + passage.text[start:end], start, end)
        for start, end in _stretches(passage.text, blocks, room)
    )


def _stretches(text: str, blocks: Sequence[Block], room: int) -> Iterator[tuple[int, int]]:
    """Whole blocks while they fit. A heading begins a stretch: it is never the end of one."""
    start = end = None
    for piece in _pieces(text, blocks, room):
        first, last, heading = piece
        if start is None or end is None:
            start, end = first, last
        elif last - start <= room and not (heading and last - start > room // 2):
            end = last
        else:
            yield start, end
            start, end = first, last
    if start is not None and end is not None:
        yield start, end


def _pieces(text: str, blocks: Sequence[Block], room: int) -> Iterator[tuple[int, int, bool]]:
    """Blocks; of those that do not fit the rows, lines or sentences, and at last so many characters."""
    for block in blocks:
        if block.end - block.start <= room:
            yield block.start, block.end, isinstance(block, Heading)
            continue
        parts = [(row.start, row.end) for row in block.rows] if isinstance(block, Table) else []
        for start, end in parts or split_sentences(text, block.start, block.end):
            for cut in range(start, end, room):
                yield cut, min(cut + room, end), False


def _header(blocks: Sequence[Block], start: int) -> str:
    """The header of the table in whose midst a window begins."""
    for block in blocks:
        divided = block.divided is not None and block.divided[0] > 1
        if isinstance(block, Table) and block.header and block.start < start + divided and start < block.end:
            return f"{table_row(block.header)}\n|{' --- |' * len(block.header)}\n"
    return ""
