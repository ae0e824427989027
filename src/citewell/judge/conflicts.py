"""Contradiction detection: passages that contradict each other on what was asked, by the same judge. Precision first.

What a passage says to the question is what the reader finds answering; only that is held against the others.
"""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from citewell.judge.trained import Lines
from citewell.judge.verdict import Judge, Pair
from citewell.values import Passage

_PASSAGES: Final = 4
"""That answer best; the others do not speak of what was asked."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sentences that cannot both be true. `first` and `second` are places among the passages."""

    first: int
    first_sentence: str
    second: int
    second_sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class Statement:
    """What a passage says to a question: the sentences that answer it. `place` is that among the passages."""

    place: int
    passage: Passage
    answers: float
    """How likely the passage answers."""
    sentences: tuple[str, ...]

    @property
    def section(self) -> tuple[str, ...]:
        return (self.passage.url, *self.passage.heading_path) if self.passage.url else ()


class Conflicts:
    def __init__(self, judge: Judge, lines: Lines | None = None) -> None:
        self._judge = judge
        self._line = (lines or Lines.load()).conflict

    async def find(self, statements: Sequence[Statement]) -> Conflict | None:
        """The two sentences that contradict each other most, when the judge is sure enough; None when none do."""
        found = await self.weighed(statements)
        return found[0] if found is not None and found[1] >= self._line else None

    async def weighed(self, statements: Sequence[Statement]) -> tuple[Conflict, float] | None:
        """The likeliest conflict, and how likely it is: what either side says contradicts the other's passage."""
        said = sorted(statements, key=lambda one: -one.answers)[:_PASSAGES]
        sides = [
            (one, other)
            for one, other in itertools.combinations(said, 2)
            if not one.section or one.section != other.section  # the parts of one section add to each other
        ]
        told = [
            (told, sentence, heard) for a, b in sides for told, heard in ((a, b), (b, a)) for sentence in told.sentences
        ]
        pairs: list[Pair] = [(sentence, (heard.passage.embedded_text,)) for _, sentence, heard in told]
        verdicts = await self._judge.judge(pairs) if pairs else []
        against: dict[tuple[int, int], tuple[float, str]] = {}
        for (speaker, sentence, heard), verdict in zip(told, verdicts, strict=True):
            place = speaker.place, heard.place
            against[place] = max(against.get(place, (-1.0, "")), (verdict.contradicted, sentence))
        found = [(against[a.place, b.place], against[b.place, a.place], a, b) for a, b in sides]
        if not found:
            return None
        there, back, first, second = max(found, key=lambda each: min(each[0][0], each[1][0]))
        return Conflict(first.place, there[1], second.place, back[1], "contradicted"), min(there[0], back[0])
