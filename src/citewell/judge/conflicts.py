"""Conflicts: passages that contradict each other on what was asked, told by the same judge. Precision first.

What a passage says to the question is what the reading model finds answering; only that is held against the others.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from citewell.document import Code, Formula, Heading, Span, read_plain, sentences
from citewell.inference import ReadingModel
from citewell.judge.trained import Lines
from citewell.judge.verdict import Judge, Pair
from citewell.values import Passage

_PASSAGES: Final = 4
"""That answer best; the others do not speak of what was asked."""
_SENTENCES: Final = 2
"""Of each passage."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sentences that cannot both be true. `first` and `second` are places among the passages."""

    first: int
    first_sentence: str
    second: int
    second_sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Said:
    place: int
    passage: Passage
    answers: float
    sentences: tuple[str, ...]

    @property
    def section(self) -> tuple[str, ...]:
        return (self.passage.url, *self.passage.heading_path) if self.passage.url else ()


class Conflicts:
    def __init__(self, model: ReadingModel, judge: Judge, lines: Lines | None = None) -> None:
        self._model = model
        self._judge = judge
        self._line = (lines or Lines.load()).conflict

    async def find(self, question: str, passages: Sequence[Passage]) -> Conflict | None:
        """The two sentences that contradict each other most, when the judge is sure enough; None when none do."""
        found = await self.weighed(question, passages)
        return found[0] if found is not None and found[1] >= self._line else None

    async def weighed(self, question: str, passages: Sequence[Passage]) -> tuple[Conflict, float] | None:
        """The likeliest conflict, and how likely it is."""
        said = await self._answering(question, passages)
        told: list[tuple[_Said, str, _Said]] = []
        for one, other in itertools.combinations(said, 2):
            if one.section and one.section == other.section:
                continue  # the parts of one section add to each other
            told += [(one, sentence, other) for sentence in one.sentences]
            told += [(other, sentence, one) for sentence in other.sentences]
        pairs: list[Pair] = [(sentence, (against.passage.embedded_text,)) for _, sentence, against in told]
        verdicts = await self._judge.judge(pairs) if pairs else []
        best: tuple[float, Conflict] | None = None
        for (one, sentence, other), verdict in zip(told, verdicts, strict=True):
            if best is None or verdict.contradicted > best[0]:
                conflict = Conflict(one.place, sentence, other.place, other.sentences[0], "contradicted")
                best = verdict.contradicted, conflict
        return (best[1], best[0]) if best else None

    async def _answering(self, question: str, passages: Sequence[Passage]) -> list[_Said]:
        encoded = await self._model.encode([passage.embedded_text for passage in passages])
        units = [_units(passage) for passage in passages]
        asked = await self._model.ask_all(question, encoded, [[*u] for u in units])
        said = []
        for place, (passage, spans, reply) in enumerate(zip(passages, units, asked, strict=True)):
            shift = len(passage.embedded_text) - len(passage.text)
            ranked = sorted(zip(reply.units, spans, strict=True), key=lambda each: -each[0])
            chosen = tuple(
                passage.text[span.start - shift : span.end - shift] for score, span in ranked[:_SENTENCES] if score > 0
            )
            if chosen:
                said.append(_Said(place, passage, reply.answers, chosen))
        return sorted(said, key=lambda s: -s.answers)[:_PASSAGES]


def _units(passage: Passage) -> list[Span]:
    """The sentences of a passage, as places in its text under its headings. Two examples in code are no conflict."""
    shift = len(passage.embedded_text) - len(passage.text)
    return [
        Span(start + shift, end + shift)
        for block in passage.blocks or read_plain(passage.text)
        if not isinstance(block, Heading | Code | Formula)
        for start, end in sentences(passage.text, block)
    ]
