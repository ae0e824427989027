"""The passages of a page laid side by side: which blocks belong together, whatever passage they stand in. Pure.

Structure decides here: a list is its items and what is in them, a lead-in is what stands before, a block that was
divided is all its pieces. Nothing here looks at words or scores.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

from citewell.document import (
    Admonition,
    Block,
    Caption,
    Code,
    Definition,
    Formula,
    Heading,
    ListItem,
    Paragraph,
    Tab,
    Table,
)
from citewell.reader.reading import PassageReading, Unit, blocks_of
from citewell.values import Passage

STRUCTURED = (ListItem, Table, Code, Formula, Definition)
"""What a paragraph can announce."""


@dataclass(frozen=True, slots=True)
class Piece:
    """A block where it stands: in its passage and on its page."""

    at: int
    """Place among the pieces of the spread."""
    passage: Passage
    block: Block
    number: int
    """Of the block on its page; the pieces of a divided block share it."""
    units: tuple[Unit, ...]
    """Empty in a passage that was not read."""
    answers: float
    """How likely the passage answers; 0 for one that was not read."""

    @property
    def text(self) -> str:
        return self.passage.text[self.block.start : self.block.end]

    @property
    def words(self) -> int:
        return len(self.text.split())


class Spread:
    def __init__(self, passages: Sequence[Passage], readings: Mapping[str, PassageReading]) -> None:
        """`passages` of one page; `readings` by the passages' ids, for those that were read."""
        self.pieces: list[Piece] = []
        self._lists: dict[int, list[Piece]] = {}
        """The siblings of each item that was asked about, by its place."""
        for passage in sorted(passages, key=lambda p: p.chunk_index):
            reading = readings.get(passage.id)
            for nth, block in enumerate(blocks_of(passage)):
                units = reading.units[nth] if reading else ()
                answers = reading.answers if reading else 0.0
                number = passage.first_block + nth
                self.pieces.append(Piece(len(self.pieces), passage, block, number, units, answers))
        self._headings = list(accumulate(int(isinstance(piece.block, Heading)) for piece in self.pieces))
        """How many headings there are up to each piece, itself included."""

    def whole(self, piece: Piece) -> list[Piece]:
        """All pieces of the block, of which the given one may be only a part."""
        if piece.block.divided is None:
            return [piece]
        first, last = piece.at, piece.at
        while first > 0 and self.pieces[first - 1].number == piece.number:
            first -= 1
        while last + 1 < len(self.pieces) and self.pieces[last + 1].number == piece.number:
            last += 1
        return self.pieces[first : last + 1]

    def holder(self, piece: Piece, kinds: type[Block] | tuple[type[Block], ...]) -> Piece | None:
        """The innermost block of these kinds that holds the piece, or the piece itself when it is one."""
        if isinstance(piece.block, kinds):
            return self.whole(piece)[0]
        for number in reversed(piece.block.within):
            for other in self._numbered(piece, number):
                if isinstance(other.block, kinds):
                    return other
        return None

    def unit(self, piece: Piece) -> list[Piece]:
        """What the piece stands in, however deep: the whole list, the whole box; or the block itself."""
        holders = [o for number in piece.block.within for o in self._numbered(piece, number)]
        top = next((o for o in (*holders, piece) if isinstance(o.block, ListItem | Definition | Admonition)), piece)
        return self.held(top) if isinstance(top.block, Admonition) else self.thing(top)

    def held(self, holder: Piece) -> list[Piece]:
        """A block with all that is in it: an item with its further paragraphs, code and nested items."""
        found = self.whole(holder)
        at = found[-1].at + 1
        while at < len(self.pieces) and holder.number in self.pieces[at].block.within:
            found.append(self.pieces[at])
            at += 1
        return found

    def siblings(self, item: Piece) -> list[Piece]:
        """The items of the list, or the definitions, that the given one stands among; what they hold is left out."""
        if item.at not in self._lists:
            found = [*reversed(list(self._beside(item, -1))), item, *self._beside(item, 1)]
            self._lists |= dict.fromkeys((one.at for one in found), found)
        return self._lists[item.at]

    def lead(self, piece: Piece) -> Piece | None:
        """The paragraph that stands right before, in the same section: what may announce the piece."""
        at = piece.at - 1
        if at >= 0 and isinstance(self.pieces[at].block, Caption):
            at -= 1
        if at < 0:
            return None
        before = self.pieces[at]
        alike = isinstance(before.block, Paragraph | ListItem | Definition) and self.same_section(before, piece)
        return before if alike and set(before.block.within) <= {*piece.block.within, before.number} else None

    def after(self, piece: Piece) -> Piece | None:
        """What stands right after in the same section, when a paragraph can announce it."""
        at = self.whole(piece)[-1].at + 1
        while at < len(self.pieces) and isinstance(self.pieces[at].block, Caption | Tab):
            at += 1
        if at >= len(self.pieces):
            return None
        following = self.pieces[at]
        fits = isinstance(following.block, STRUCTURED) and self.same_section(piece, following)
        return following if fits else None

    def thing(self, piece: Piece) -> list[Piece]:
        """The whole list, table, code block or formula that the piece belongs to."""
        match piece.block:
            case ListItem() | Definition():
                return [p for item in self.siblings(piece) for p in self.held(item)]
            case _:
                return self.whole(piece)

    def same_section(self, one: Piece, other: Piece) -> bool:
        same_path = one.passage.heading_path == other.passage.heading_path
        return same_path and self._headings[one.at] == self._headings[other.at]

    def _numbered(self, near: Piece, number: int) -> Iterator[Piece]:
        for at in range(near.at, -1, -1):
            if self.pieces[at].number == number:
                yield self.whole(self.pieces[at])[0]
                return
            if self.pieces[at].number < number:
                return

    def _beside(self, item: Piece, step: int) -> Iterator[Piece]:
        """Further items of the same list, going up or down; what other items hold is passed over."""
        at = item.at + step
        while 0 <= at < len(self.pieces):
            other = self.pieces[at]
            if not self.same_section(item, other):
                return
            if _alike(item.block, other.block):
                if other.block.divided is None or other.block.divided[0] == 1:
                    yield other
            elif len(other.block.within) <= len(item.block.within) and not isinstance(other.block, Admonition):
                return
            at += step


def _alike(one: Block, other: Block) -> bool:
    match one, other:
        case ListItem(), ListItem():
            numbered = one.marker[:1].isdigit() == other.marker[:1].isdigit()
            return one.within == other.within and one.level == other.level and numbered
        case Definition(), Definition():
            return one.within == other.within
        case _:
            return False
