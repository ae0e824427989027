"""Extractive answering, built in: passages are read for a question, and what answers it is quoted, part by part."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from citewell.answering.confidence import ANSWER_FROM, Confidence, features_of
from citewell.answering.evidence import Evidence
from citewell.answering.refusals import PART_NOT_IN_BOOK
from citewell.answering.topics import topic
from citewell.judge import Conflict, Statement
from citewell.reader import Inquiry, PassageReading, Quote, Reader, choose, compose, opening
from citewell.retrieval import Retriever
from citewell.values import Passage, ScoredPassage

PAGES = 2
"""Pages that are looked at as a whole: lists, steps and code go on beyond the passage that was found."""
_SENTENCES = 2
"""Of each passage, that are held against those of others."""
_ITSELF = 0.9
"""For "explain this": the text itself is the answer, and no question of the fit is like it."""


@dataclass(frozen=True, slots=True)
class Composition:
    """What was read, how likely it answers, and what would be quoted."""

    readings: tuple[PassageReading, ...] = ()
    probability: float = 0.0
    groups: tuple[tuple[Quote, ...], ...] = ()
    found: tuple[ScoredPassage, ...] = ()
    unanswered: tuple[str, ...] = field(default=())
    """What is said of parts of the question that nothing answers."""

    def text(self, evidence: Evidence, conflict: Conflict | None = None) -> str:
        """The answer with the numbers of the evidence, which what is quoted becomes a part of."""

        def number(passage: Passage) -> int:
            return evidence.number(self._scored(passage))

        if conflict is not None:
            sides = ((conflict.first, conflict.first_sentence), (conflict.second, conflict.second_sentence))
            lines = [f"- {' '.join(said.split())} [{number(self.found[at].passage)}]" for at, said in sides]
            return "The sources disagree.\n\n" + "\n".join(lines)
        return compose(self.groups, number)

    def _scored(self, passage: Passage) -> ScoredPassage:
        """A passage that was not found itself has the scores of one of its page that was."""
        same = [item for item in self.found if item.passage.id == passage.id]
        beside = [item for item in self.found if item.passage.url == passage.url]
        return replace((same or beside or self.found)[0], passage=passage)


class Composer:
    def __init__(self, retriever: Retriever, reader: Reader, confidence: Confidence) -> None:
        self._retriever = retriever
        self._reader = reader
        self._confidence = confidence

    async def of_selection(self, question: str, selection: ScoredPassage) -> Composition:
        """From the selection alone; the index is out of reach here."""
        inquiry = Inquiry(question)
        readings = await self._reader.read(question, [selection])
        if inquiry.about_text:
            return Composition(tuple(readings), _ITSELF, (tuple(opening([selection.passage])),), (selection,))
        seen = await asyncio.to_thread(features_of, question, readings, [selection], background=1.0)
        probability = self._confidence.probability(seen, confined=True)
        groups = await asyncio.to_thread(choose, inquiry, readings, {})
        return Composition(tuple(readings), probability, _frozen(groups), (selection,))

    async def of_book(self, parts: Sequence[str], found: Sequence[ScoredPassage], background: float) -> Composition:
        """`parts` are the questions in the question, each of which stands alone."""
        made = [await self._part(part, found, background) for part in parts]
        answered = [one for one in made if one.probability >= ANSWER_FROM]
        if len(parts) == 1 or not answered:
            return max(made, key=lambda one: one.probability)
        missing = [part for part, one in zip(parts, made, strict=True) if one not in answered]
        return Composition(
            readings=answered[0].readings,
            probability=sum(one.probability for one in answered) / len(answered),
            groups=_joined(answered),
            found=tuple(found),
            unanswered=tuple(PART_NOT_IN_BOOK.format(topic(part)) for part in missing),
        )

    async def _part(self, question: str, found: Sequence[ScoredPassage], background: float) -> Composition:
        readings = await self._reader.read(question, found)
        seen = await asyncio.to_thread(features_of, question, readings, found, background)
        probability = self._confidence.probability(seen, confined=False) if readings else 0.0
        pages = await self._pages(readings) if probability >= ANSWER_FROM else {}
        groups = await asyncio.to_thread(choose, Inquiry(question), readings, pages)
        return Composition(tuple(readings), probability if groups else 0.0, _frozen(groups), tuple(found))

    async def _pages(self, readings: Sequence[PassageReading]) -> Mapping[str, Sequence[Passage]]:
        best = sorted(readings, key=lambda reading: -reading.weight)
        urls = list(dict.fromkeys(reading.passage.url for reading in best))[:PAGES]
        return {url: await self._retriever.passages_of(url) for url in urls}


def statements_of(readings: Sequence[PassageReading]) -> list[Statement]:
    """What each passage says to the question, to be held against the others."""
    told = [(place, reading, reading.said(_SENTENCES)) for place, reading in enumerate(readings)]
    return [Statement(place, reading.passage, reading.answers, said) for place, reading, said in told if said]


def _frozen(groups: Sequence[Sequence[Quote]]) -> tuple[tuple[Quote, ...], ...]:
    return tuple(tuple(group) for group in groups)


def _joined(parts: Sequence[Composition]) -> tuple[tuple[Quote, ...], ...]:
    """The parts one after the other; what one has quoted the next does not."""
    said: set[tuple[str, int]] = set()
    groups: list[tuple[Quote, ...]] = []
    for part in parts:
        for group in part.groups:
            fresh = tuple(q for q in group if (q.piece.passage.url, q.piece.number) not in said)
            said |= {(q.piece.passage.url, q.piece.number) for q in group}
            if fresh:
                groups.append(fresh)
    return tuple(groups)
