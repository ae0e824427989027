"""Entailment by what was shown in a run: does it support a sentence? Quotes, vetoes, then the judge over windows.

Pure but for the judge. The windows that speak of the sentence are chosen by its words; whether they say it, the judge
says. A sentence may rest on two passages together.
"""

import asyncio
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from citewell.document import Block, Code, Definition, Span, read_plain, sentences
from citewell.instructions import is_instruction, is_instruction_in_code
from citewell.judge.claims import Claim, labelled
from citewell.judge.quotes import Place, Quotes
from citewell.judge.tables import Tables, only_named_rows
from citewell.judge.verdict import Judge, Outcome, Pair, Verdict
from citewell.judge.vetoes import Veto, Vetoes
from citewell.judge.windows import LONGEST, windows
from citewell.text import content_stems
from citewell.values import Passage

_CITED_JUDGED: Final = 3
_ABRIDGED: Final = 0.95
"""The score of a quote with words left out."""
_BY_ROWS: Final = 0.2
"""What a table supports has to be supported this much by the rows alone that the sentence names."""
_AT_ONCE: Final = 5
"""Windows that a judge sees together with a sentence, as it was trained to."""

_PART: Final = 0.15
"""The share of a sentence's words, by their weight, that a passage beside others has to bring to be cited for it."""


@dataclass(frozen=True, slots=True)
class Finding:
    outcome: Outcome
    score: float
    places: Mapping[int, Place | None] = field(default_factory=dict)
    """The passages that support, or at least speak of it, and where in each."""
    reason: str = ""
    contradicted: float = 0.0

    @property
    def supported(self) -> bool:
        return self.outcome == "supported"


@dataclass(frozen=True, slots=True)
class _EvidenceUnit:
    """A sentence, row or line of a passage."""

    start: int
    end: int
    stems: frozenset[str]


@dataclass(frozen=True, slots=True)
class _Window:
    number: int
    text: str
    stems: frozenset[str]
    units: tuple[_EvidenceUnit, ...]


class Shown:
    def __init__(self, judge: Judge, *, ahead: bool = False, without: frozenset[Veto] = frozenset()) -> None:
        """`ahead`: text of a model is on its way, so the judge reads what is shown meanwhile; quotes need no reading.
        A sentence that gives orders to a model is no evidence, unless that veto is left out."""
        self._ahead = ahead
        self.vetoes = Vetoes(without)
        self._may_order = "order" in without
        self.tables = Tables()
        self._judge = judge
        self._windows: list[_Window] = []
        self._quotes: dict[int, Quotes] = {}
        self._headings: dict[int, frozenset[str]] = {}
        self._counts: Counter[str] = Counter()
        """In how many windows a stem stands."""
        self._granted: list[tuple[str, Mapping[int, Place | None]]] = []
        """Sentences found supported so far, as many of the last ones as a judge reads, with their places."""
        self._granted_size = 0

    def __contains__(self, number: int) -> bool:
        return number in self._quotes

    def __len__(self) -> int:
        return len(self._quotes)

    def known(self, stem: str) -> bool:
        """Whether a stem stands in what was shown."""
        return stem in self._counts

    def show(self, number: int, passage: Passage) -> None:
        """Passage `number` is evidence from now on, with its headings."""
        blocks = passage.blocks or read_plain(passage.text)
        said = [(block, span) for block in blocks for span in sentences(passage.text, block)]
        orders = [span for block, span in said if not self._may_order and _orders(block, passage.text, span)]
        units = sorted({span for _, span in said} - set(orders))
        headings = passage.embedded_text[: len(passage.embedded_text) - len(passage.text)]
        self.vetoes.show(headings + _without(passage.text, Span(0, len(passage.text)), orders))
        self.tables.show(number, blocks)
        terms = [_term(passage.text, block) for block in blocks if isinstance(block, Definition)]
        self._headings[number] = frozenset(content_stems(headings))
        self._quotes[number] = Quotes(passage.text, sorted({*units, *terms} - set(orders)))
        made = self._windows_of(number, passage, units, orders)
        self._windows += made
        self._counts.update(stem for window in made for stem in window.stems)
        if self._ahead:
            self._judge.prepare([window.text for window in made])

    def _windows_of(
        self, number: int, passage: Passage, units: Sequence[Span], orders: Sequence[Span]
    ) -> list[_Window]:
        """The passage as the judge reads it, without the orders in it."""
        headings = passage.embedded_text[: len(passage.embedded_text) - len(passage.text)]
        read = [_EvidenceUnit(u.start, u.end, frozenset(content_stems(passage.text[u.start : u.end]))) for u in units]
        made = []
        for window in windows(passage):
            text = window.text
            if any(window.start <= o.start < window.end for o in orders):
                text = headings + _without(passage.text, Span(window.start, window.end), orders)
            inside = tuple(u for u in read if window.start <= u.start < window.end)
            made.append(_Window(number, text, frozenset(content_stems(text)), inside))
        return made

    async def find(self, claims: Sequence[Claim]) -> list[Finding]:
        """The best finding for each claim, in their order."""
        found = await asyncio.to_thread(lambda: [self._settled(claim) for claim in claims])
        rounds = (self._together,) if self._judge.at_once else (self._nearest, self._together)
        for choose in rounds:
            await self._round(claims, found, choose)
        settled = [f or Finding("not_stated", 0.0, reason="no passage was shown") for f in found]
        return (
            settled if self._judge.at_once else [await self._summed_up(*e) for e in zip(claims, settled, strict=True)]
        )

    async def _summed_up(self, claim: Claim, finding: Finding) -> Finding:
        """A sentence that sums up those before it rests on them: what they were found in supports it too."""
        if finding.supported:
            self._granted.append((claim.text, finding.places))
            self._granted_size += len(claim.text)
            while self._granted_size > LONGEST and len(self._granted) > 1:
                self._granted_size -= len(self._granted.pop(0)[0])
        elif not finding.reason and len(self._granted) > 1:
            said = "\n".join(text for text, _ in self._granted)[-LONGEST:]
            [verdict] = await self._judge.judge([(claim.text, (said,))])
            if verdict.outcome == "supported":
                return Finding("supported", verdict.score, self._rests_on(claim))
        return finding

    def _rests_on(self, claim: Claim) -> Mapping[int, Place | None]:
        """The places of the sentence before that shares most with the claim."""
        stems = frozenset(content_stems(claim.text))
        return max(self._granted, key=lambda each: self._share(stems, frozenset(content_stems(each[0]))))[1]

    async def _round(
        self, claims: Sequence[Claim], found: list[Finding | None], choose: "Callable[[Claim], list[_Seen]]"
    ) -> None:
        left = [i for i, f in enumerate(found) if f is None or (not f.supported and not f.reason)]
        asked = await asyncio.to_thread(lambda: [(i, seen) for i in left for seen in choose(claims[i])])
        pairs: list[Pair] = [(claims[i].text, tuple(w.text for w in seen)) for i, seen in asked]
        verdicts = await self._by_rows(pairs, await self._judge.judge(pairs)) if pairs else []

        def weigh() -> None:
            for (i, seen), verdict in zip(asked, verdicts, strict=True):
                found[i] = self._better(claims[i], found[i], seen, verdict)

        await asyncio.to_thread(weigh)

    async def _by_rows(self, pairs: Sequence[Pair], verdicts: Sequence[Verdict]) -> list[Verdict]:
        """A model takes what a cell says under another row's name for said; without the other rows it does not."""
        if self._judge.at_once:
            return list(verdicts)

        def named() -> dict[int, Pair]:
            found = {}
            for number, ((claim, seen), verdict) in enumerate(zip(pairs, verdicts, strict=True)):
                fewer = [only_named_rows(claim, window) for window in seen] if verdict.outcome == "supported" else []
                if any(fewer):
                    found[number] = claim, tuple(rows or window for rows, window in zip(fewer, seen, strict=True))
            return found

        again = await asyncio.to_thread(named)
        told = dict(zip(again, await self._judge.judge(list(again.values())) if again else (), strict=True))
        return [
            replace(verdict, outcome="not_stated", score=told[number].score)
            if number in told and told[number].score < _BY_ROWS
            else verdict
            for number, verdict in enumerate(verdicts)
        ]

    def _better(self, claim: Claim, before: Finding | None, seen: "_Seen", verdict: Verdict) -> Finding:
        supported = verdict.outcome == "supported"
        places = {w.number: self._place(claim.text, w) for w in self._speaking(claim.text, seen)}
        if before is None:
            return Finding(verdict.outcome, verdict.score, places, contradicted=verdict.contradicted)
        if before.supported and supported and len(seen) == 1:  # each of several cited passages supports it by itself
            return Finding("supported", max(before.score, verdict.score), {**before.places, **places})
        if before.supported or (not supported and before.score >= verdict.score):
            return before
        return Finding(verdict.outcome, verdict.score, places, contradicted=verdict.contradicted)

    def _settled(self, claim: Claim) -> Finding | None:
        """A quote, or a veto; None when it is for the judge."""
        said = claim.said or claim.text
        numbers = list(dict.fromkeys((*(n for n in claim.cited if n in self), *self._quotes)))
        for number in numbers:
            if place := self._quotes[number].find(said) or self._under_heading(number, said):
                return Finding("supported", 1.0, {number: place}, "word for word")
        if veto := self.vetoes.veto(said):
            return Finding("not_stated", 0.0, reason=f"{veto[0]} not in evidence: {veto[1]}")
        for number in numbers:
            if place := self._quotes[number].find_abridged(claim.text):
                return Finding("supported", _ABRIDGED, {number: place}, "with words left out")
        if claim.fragment:
            return Finding("not_stated", 0.0, reason="a fragment, not a sentence")
        return None

    def _under_heading(self, number: int, said: str) -> Place | None:
        """A quote behind a label that is the passage's own heading: "**Proxies**: Valid values: …"."""
        parts = labelled(said)
        if parts is None or not self._headings[number].issuperset(content_stems(parts[0])):
            return None
        return self._quotes[number].find(parts[1])

    def _nearest(self, claim: Claim) -> "list[_Seen]":
        """The nearest window of each passage that is cited, else the nearest of all."""
        ranked = self._ranked(claim.text)
        own = {w.number: w for w in reversed(ranked) if w.number in claim.cited}
        cited = [own[n] for n in dict.fromkeys(claim.cited) if n in own][:_CITED_JUDGED]
        return [(w,) for w in cited or ranked[:1]]

    def _together(self, claim: Claim) -> "list[_Seen]":
        """What it cites and what is nearest, all at once: a sentence may join what several passages say."""
        ranked = self._ranked(claim.text)
        own = [w for w in ranked if w.number in claim.cited]
        seen = tuple([*own, *(w for w in ranked if w not in own)][:_AT_ONCE])
        is_new = bool(seen) if self._judge.at_once else len(seen) > 1  # one window alone was asked before
        return [seen] if is_new else []

    def _speaking(self, text: str, seen: "_Seen") -> "_Seen":
        """Of windows seen together those that have a good part of what is said and of what none before them has."""
        left = frozenset(content_stems(text))
        least = _PART * self._share(left, frozenset().union(*(w.stems for w in seen)))
        found: _Seen = ()
        for window in seen:
            if not found or self._share(left, window.stems) > least:
                found = (*found, window)
                left -= window.stems
        return found

    def _ranked(self, text: str) -> list[_Window]:
        stems = frozenset(content_stems(text))
        return sorted(self._windows, key=lambda w: -self._share(stems, w.stems))

    def _share(self, stems: frozenset[str], held: frozenset[str]) -> float:
        # Exact: a plain sum of floats depends on the order of a set, which differs from run to run.
        return math.fsum(math.log(1 + len(self._windows) / self._counts.get(s, 1)) for s in stems & held)

    def _place(self, text: str, window: _Window) -> Place | None:
        """The sentence, row or line of the window that shares most with the claim."""
        stems = frozenset(content_stems(text))
        best = max(window.units, key=lambda u: self._share(stems, u.stems), default=None)
        return (best.start, best.end) if best else None


_Seen = tuple[_Window, ...]


def _term(text: str, definition: Definition) -> Span:
    """What is defined: it may be quoted with its meaning or not."""
    meaning = next(iter(sentences(text, definition)), None)
    return Span(definition.start, meaning.start if meaning else definition.end)


def _orders(block: Block, text: str, span: Span) -> bool:
    said = text[span.start : span.end]
    if isinstance(block, Code):
        return any(map(is_instruction_in_code, said.split("\n")))
    return is_instruction(said)


def _without(text: str, within: Span, holes: Sequence[Span]) -> str:
    """A stretch of the text without the holes in it."""
    parts, at = [], within.start
    for hole in holes:
        if within.start <= hole.start < within.end:
            parts.append(text[at : hole.start])
            at = hole.end
    return "".join([*parts, text[at : within.end]])
