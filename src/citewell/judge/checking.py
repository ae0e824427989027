"""Fact checking of any text: each sentence supported, contradicted or not stated by passages, with its place."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from citewell.document import ListItem, read_plain, sentences
from citewell.errors import InvalidInputError
from citewell.judge.claims import Claim, claim_of
from citewell.judge.shown import Finding, Shown
from citewell.judge.verdict import Judge, Outcome
from citewell.values import Passage

MAX_CHECKED: Final = 50_000
"""Characters of a text."""
_MARKER: Final = re.compile(r"\s?\[(\d{1,4})\]")

Search = Callable[[str], Awaitable[Sequence[Passage]]]


@dataclass(frozen=True, slots=True)
class CheckedSentence:
    """A sentence, item, row or line of the text: `text` is what stands at `start` to `end`."""

    text: str
    start: int
    end: int
    outcome: Outcome
    score: float
    """How likely it is that the passages support it."""
    passage: int | None
    """The number, from 1, of the passage that says it, or says most of it."""
    quote_start: int | None
    """Where in that passage."""
    quote_end: int | None
    reason: str


@dataclass(frozen=True, slots=True)
class Checked:
    """Every sentence of a text in order, and the passages that their numbers count from 1."""

    sentences: tuple[CheckedSentence, ...]
    passages: tuple[Passage, ...]


def checkable(text: str) -> None:
    if not 1 <= len(text.strip()) <= MAX_CHECKED:
        raise InvalidInputError(
            f"The text has {len(text.strip()):,} characters; it needs 1 to {MAX_CHECKED:,}.", field="text"
        )


async def check(text: str, passages: Sequence[Passage], judge: Judge) -> list[CheckedSentence]:
    """Every sentence of the text, in order, against the passages, which `[1]`, `[2]` … in the text cite."""
    shown = Shown(judge)

    def read() -> list[tuple[int, int, Claim]]:
        for number, passage in enumerate(passages, start=1):
            shown.show(number, passage)
        return list(_claims(text, shown.known))

    found = await asyncio.to_thread(read)
    claims = [claim for _, _, claim in found]
    findings = await shown.find(claims)

    def told() -> list[CheckedSentence]:
        places = ((text, start, end) for start, end, _ in found)
        return _with_lead_ins([_checked(*at, made) for at, made in zip(places, findings, strict=True)], claims)

    return await asyncio.to_thread(told)


def _checked(text: str, start: int, end: int, finding: Finding) -> CheckedSentence:
    best = next(iter(finding.places), None)
    first, last = (finding.places[best] if best is not None else None) or (None, None)
    return CheckedSentence(
        text[start:end], start, end, finding.outcome, finding.score, best, first, last, finding.reason
    )


def _with_lead_ins(checked: list[CheckedSentence], claims: Sequence[Claim]) -> list[CheckedSentence]:
    """ "It has:" says nothing by itself: it stands or falls with what it announces."""
    for i in range(len(checked) - 2, -1, -1):
        if claims[i].fragment and claims[i].said.rstrip("*_ ").endswith(":") and checked[i].outcome != "supported":
            after = checked[i + 1]
            checked[i] = replace(checked[i], outcome=after.outcome, score=after.score, reason="a lead-in")
    return checked


async def check_with(search: Search, text: str, judge: Judge) -> Checked:
    """The same against what a search finds for each sentence; equal ones are searched once."""
    passages: dict[str, Passage] = {}
    found = await asyncio.to_thread(lambda: list(_claims(text, lambda stem: True)))
    for sentence in dict.fromkeys(text[start:end] for start, end, _ in found):
        for passage in await search(sentence):
            passages.setdefault(passage.id, passage)
    return Checked(tuple(await check(text, list(passages.values()), judge)), tuple(passages.values()))


def passage_of(text: str, number: int, title: str = "") -> Passage:
    """Text from anywhere, as a passage."""
    return Passage(str(number), "", title, text, number - 1, 0, len(text))


def _claims(text: str, known: Callable[[str], bool]) -> Iterator[tuple[int, int, Claim]]:
    lead = ""
    for block in read_plain(text):
        is_item = isinstance(block, ListItem)
        if not is_item and not block.within:
            lead = ""
        for start, end in sentences(text, block):
            said = text[start:end]
            cited = tuple(int(n) for n in _MARKER.findall(said))
            clean = _MARKER.sub("", said)
            yield start, end, claim_of(clean, lead=lead if is_item else "", cited=cited, known=known)
            if not is_item and clean.endswith(":"):
                lead = clean
