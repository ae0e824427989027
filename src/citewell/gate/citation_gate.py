"""The citation gate: model text goes in as it comes, checked Markdown comes out, sentence by sentence.

A sentence is held until it is whole. What the shown passages do not support is dropped, and so are markers of
passages never shown. The result depends on the text alone, not on how it was cut into deltas.
"""

import asyncio
from collections.abc import Mapping
from typing import Final

from citewell.document import table_lines
from citewell.gate.checker import Checker, Decision
from citewell.gate.markers import visible
from citewell.gate.output import Layout
from citewell.gate.pieces import (
    BlockBegun,
    CodeRead,
    GivenUp,
    HeadingRead,
    MarkdownStream,
    Piece,
    Place,
    RowRead,
    SentenceRead,
    TableBegun,
    TableEnded,
)
from citewell.gate.surrogates import Surrogates
from citewell.instructions import asks_about_instructions
from citewell.judge import Judge
from citewell.values import Passage

_LABEL_LEVEL: Final = 7
_STRETCH: Final = 500
"""Characters of a long delta that are looked at before others on the event loop have their turn."""


class CitationGate:
    def __init__(self, judge: Judge, question: str = "", *, ahead: bool = False) -> None:
        """`ahead`: a model writes the text, and the judge reads meanwhile what is shown.
        What addresses the model is not released, unless the `question` is about such things."""
        self._checker = Checker(judge, ahead=ahead, may_instruct=asks_about_instructions(question))
        self._stream = MarkdownStream()
        self._surrogates = Surrogates()
        self._layout = Layout()
        self._at_once = judge.at_once
        self._pieces: list[Piece] = []
        """Read, but not judged: with a judge that sees whole answers, all of them."""
        self._head: tuple[str, ...] | None = None
        """Cells of the present table's header; empty when it may not stand."""
        self._numbers: tuple[int, ...] = ()
        """What the piece released last cites."""
        self._fell = False
        """The sentence before, in the same block, was dropped."""
        self._drops: list[str] = []
        self._supports: list[float] = []

    def show(self, number: int, passage: Passage) -> None:
        """Passage `number` was shown to the model. Its headings are evidence too, but are never quoted."""
        self._checker.show(number, passage)

    async def feed(self, delta: str) -> str:
        """What this delta releases. Raises ModelError when the judge cannot judge."""
        text, released = visible(self._surrogates.feed(delta)), ""
        for start in range(0, len(text), _STRETCH):
            if start:
                await asyncio.sleep(0)
            self._pieces += self._stream.feed(text[start : start + _STRETCH])
            released += "" if self._at_once else await self._released()
        return released

    async def finish(self) -> str:
        """Check and release what is held; the text is over."""
        self._pieces += [*self._stream.feed(self._surrogates.finish()), *self._stream.finish()]
        text = await self._released()
        self._layout.finish()
        return text + self._layout.taken()

    @property
    def released(self) -> str:
        return self._layout.text

    @property
    def dropped(self) -> int:
        return len(self._drops)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why each dropped piece was dropped."""
        return tuple(self._drops)

    @property
    def supports(self) -> tuple[float, ...]:
        """The scores of what was released with a citation."""
        return tuple(self._supports)

    @property
    def cited(self) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Marker to the places in that passage that support the answer."""
        return self._checker.cited

    async def _released(self) -> str:
        pieces, self._pieces = self._pieces, []
        for piece, decision in zip(pieces, await self._checker.decide(pieces), strict=True):
            self._put(piece, decision)
        return self._layout.taken()

    def _put(self, piece: Piece, decision: Decision) -> None:
        match piece:
            case BlockBegun(place):
                self._layout.begin(place)
                self._fell = False
                if place.kind != "item" and not place.indent:
                    self._checker.list_ended()
            case SentenceRead():
                self._sentence(piece, decision)
            case HeadingRead(level=level):
                self._checker.list_ended()
                self._layout.heading(level, f"{'#' * level} {decision.text}" if decision.kind == "label" else "")
            case TableBegun():
                self._begin_table(decision)
            case RowRead():
                self._row(decision)
            case TableEnded():
                self._layout.end_table()
            case CodeRead(indent=indent):
                self._code(decision, indent)
            case GivenUp(reason):
                self._drops.append(reason)

    def _sentence(self, piece: SentenceRead, decision: Decision) -> None:
        decision = self._checker.in_context(piece, decision, fell=self._fell)
        self._fell = decision.kind == "drop" or (self._fell and decision.kind == "nothing")
        match decision.kind:
            case "release":
                self._release(decision)
            case "wait":
                self._layout.wait(decision.text)
            case "lead_in":
                self._layout.wait(decision.text, lead_in=True)
                self._numbers = decision.numbers or self._numbers
            case "label" if piece.first and piece.last and not piece.item:
                self._layout.heading(_LABEL_LEVEL, decision.text)
            case "label":
                self._layout.wait(decision.text, block_only=True)
            case "drop":
                self._drops.append(decision.reason)

    def _release(self, decision: Decision) -> None:
        self._layout.release(decision.text)
        self._numbers = decision.numbers
        self._supports.append(decision.score)
        self._checker.used(decision)

    def _begin_table(self, decision: Decision) -> None:
        self._layout.begin(Place("row", blank_before=True))
        self._head = decision.cells if decision.kind == "label" else ()
        if self._head:
            self._layout.table_head("\n".join(table_lines([self._head])))

    def _row(self, decision: Decision) -> None:
        if decision.kind == "nothing":
            return
        if not self._head:
            self._drops.append("a row under a header that is not in evidence")
        elif decision.kind == "release":
            self._release(decision)
        else:
            self._drops.append(decision.reason)

    def _code(self, decision: Decision, indent: int) -> None:
        if decision.kind == "drop":
            self._drops.append(decision.reason)
            return
        before = self._numbers
        self._release(decision)
        if not set(decision.numbers) <= set(before):
            self._layout.begin(Place("paragraph", indent))
            self._layout.release("".join(f"[{n}]" for n in decision.numbers))
