"""The reader, extractive question answering: how likely each passage answers, and which sentences, items and rows do.

The scores come from the trained model of `inference`. It reads English; elsewhere the search's own scores stand in.
"""

import asyncio
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import repeat
from typing import Protocol

from citewell.document import Block, Code, Definition, Formula, Heading, Span, read_plain, sentences
from citewell.inference import Asked
from citewell.text import content_stems
from citewell.values import Passage, ScoredPassage

ANSWERING = 0.5
"""From here on a unit belongs to what answers."""
LOOKED_AT = 3.0
"""How far below the best a passage may lie, in log-odds, and still have its parts asked."""
STEADY = 6.0
"""Log-odds beyond this say no more."""
FIRST = 2
"""Passages that are read at once; the others only when none of these surely answers."""
SURE = 1.0
"""Log-odds from which one surely does: two thirds of what a book answers end there by the small model, half by both."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The least that is quoted: a sentence, a row of a table, a line of code. Places are in the passage's text."""

    start: int
    end: int
    score: float
    """How likely it belongs to what answers, 0–1."""


@dataclass(frozen=True, slots=True)
class PassageReading:
    """What a question sees in one passage."""

    passage: Passage
    answers: float
    """How likely the passage answers, 0–1."""
    units: tuple[tuple[Unit, ...], ...]
    """For each block of the passage."""

    @property
    def best(self) -> float:
        return max((unit.score for block in self.units for unit in block), default=0.0)

    def said(self, most: int) -> tuple[str, ...]:
        """The sentences, items and rows that answer, best first. Code says nothing."""
        found = sorted(
            (-unit.score, unit.start, unit.end)
            for block, units in zip(blocks_of(self.passage), self.units, strict=True)
            for unit in units
            if unit.score > ANSWERING and not isinstance(block, Code | Formula)
        )
        return tuple(self.passage.text[start:end] for _, start, end in found[:most])

    @property
    def weight(self) -> float:
        """To tell passages apart: how likely it answers, and its best unit, in log-odds."""
        return log_odds(self.answers) + log_odds(self.best)


class Reader(Protocol):
    """The seam: the trained reader, or one that follows a script."""

    @property
    def name(self) -> str:
        """Which model reads, by name and checksum: the same name gives the same scores."""
        ...

    async def warm(self) -> None:
        """Load what reading needs, so that no question waits for it."""
        ...

    async def read(self, question: str, found: Sequence[ScoredPassage]) -> list[PassageReading]:
        """In the order of the search; what stands behind a sure answer may be left unread."""
        ...


class QuestionModel(Protocol):
    """The seam below: the shipped model, or its readings kept on disk."""

    name: str

    async def warm(self) -> None: ...

    async def read(
        self, question: str, texts: Sequence[str], units: Sequence[Sequence[tuple[int, int]]] = ()
    ) -> list[Asked]:
        """Logits for each text and its units (`text[start:end]`)."""
        ...


class TrainedReader:
    """Reads with the shipped model, off the event loop: `turns` questions at once, in the order they came."""

    def __init__(self, model: QuestionModel, turns: int = os.cpu_count() or 1) -> None:
        self._model = model
        # Reading all at once would serve each as late as the last.
        self._turns = asyncio.Semaphore(turns)
        self.name = model.name

    async def warm(self) -> None:
        await self._model.warm()

    async def read(self, question: str, found: Sequence[ScoredPassage]) -> list[PassageReading]:
        async with self._turns:
            return await self._read(question, found)

    async def _read(self, question: str, found: Sequence[ScoredPassage]) -> list[PassageReading]:
        known = [item.passage for item in found if is_english(question, item.passage)]
        looked_at = await self._look(question, known[:FIRST])
        answers = {id_: asked.answers for id_, asked in looked_at.items()}
        if max(answers.values(), default=0.0) < SURE:
            rest = known[FIRST:]
            answers |= zip((passage.id for passage in rest), await self.weigh(question, rest), strict=True)
            near = [passage for passage in rest if answers[passage.id] >= max(answers.values()) - LOOKED_AT]
            looked_at |= await self._look(question, near)
        least = max(answers.values(), default=0.0) - LOOKED_AT
        unread = {passage.id for passage in known if passage.id not in answers}

        def read(item: ScoredPassage) -> PassageReading:
            id_ = item.passage.id
            if id_ not in answers:
                return by_words(question, item)
            return _scored(item.passage, answers[id_], looked_at[id_].units if answers[id_] >= least else None)

        return await asyncio.to_thread(lambda: [read(item) for item in found if item.passage.id not in unread])

    async def _look(self, question: str, passages: Sequence[Passage]) -> dict[str, Asked]:
        """The passages and their parts, by the passage's id."""
        places = await asyncio.to_thread(lambda: [_places(passage) for passage in passages])
        asked = await self._model.read(question, [passage.embedded_text for passage in passages], places)
        return dict(zip((passage.id for passage in passages), asked, strict=True))

    async def weigh(self, query: str, passages: Sequence[Passage]) -> list[float]:
        """The log-odds that each passage answers, without looking at its parts."""
        asked = await self._model.read(query, [passage.embedded_text for passage in passages])
        return [one.answers for one in asked]


def blocks_of(passage: Passage) -> tuple[Block, ...]:
    """The blocks of a passage; of one that came without them, such as a selection, as far as its text tells."""
    return passage.blocks or read_plain(passage.text)


def is_english(question: str, passage: Passage) -> bool:
    """Whether the model was trained for it. A page says its language; letters of another script tell it too."""
    if not passage.language.lower().startswith("en"):
        return False
    return all(_is_latin(text) for text in (question, passage.text))


def by_words(question: str, item: ScoredPassage) -> PassageReading:
    """Without the model: the passage counts by its similarity, a unit by the share of the question's words it has."""
    asked = set(content_stems(question))

    def score(text: str) -> float:
        return len(asked & set(content_stems(text))) / len(asked) if asked else 0.0

    text = item.passage.text
    units = tuple(
        tuple(Unit(start, end, score(text[start:end])) for start, end in _units(text, block))
        for block in blocks_of(item.passage)
    )
    return PassageReading(item.passage, item.score, units)


def probability(logit: float) -> float:
    return 1.0 / (1.0 + math.exp(-min(max(logit, -30.0), 30.0)))


def log_odds(probability: float) -> float:
    inside = min(max(probability, 1e-9), 1 - 1e-9)
    return min(max(math.log(inside / (1 - inside)), -STEADY), STEADY)


def _units(text: str, block: Block) -> list[Span]:
    """Code and formulas are read as a whole: a line of them says little alone. A heading only announces."""
    match block:
        case Heading():
            return []
        case Code() | Formula():
            return [Span(block.start, block.end)]
        case Definition():
            first, *rest = sentences(text, block)
            return [Span(block.start, first.end), *rest]  # read without its term, a meaning is anything's
        case _:
            return sentences(text, block)


def _places(passage: Passage) -> list[tuple[int, int]]:
    """The units of all blocks, in the text that the model reads: the passage under its headings."""
    before = len(passage.embedded_text) - len(passage.text)
    units = (unit for block in blocks_of(passage) for unit in _units(passage.text, block))
    return [(before + start, before + end) for start, end in units]


def _scored(passage: Passage, answers: float, relevance: Sequence[float] | None) -> PassageReading:
    """Without `relevance` the parts were not looked at: none of them is quoted for itself."""
    scores = repeat(0.0) if relevance is None else map(probability, relevance)
    units = tuple(
        tuple(Unit(start, end, next(scores)) for start, end in _units(passage.text, block))
        for block in blocks_of(passage)
    )
    return PassageReading(passage, probability(answers), units)


def _is_latin(text: str) -> bool:
    letters = [c for c in text[:400] if c.isalpha()]
    return sum(c < "\u0250" for c in letters) * 2 >= len(letters)
