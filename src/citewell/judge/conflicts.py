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
        """The likeliest conflict, and how likely it is."""
        said = sorted(statements, key=lambda one: -one.answers)[:_PASSAGES]
        told: list[tuple[Statement, str, Statement]] = []
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
