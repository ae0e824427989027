"""What sinks a sentence whatever its words: a foreign number or name, a reversed polarity, exchanged roles, "all" for "most"."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from citewell.grounding.alignment import Alignment, counterparts, has_name, negation_differs, opposed
from citewell.grounding.claims import Reading, Word
from citewell.grounding.lexicon import lexicon
from citewell.grounding.quantities import Quantity, miscounted, unmatched

_NEGATED_SHARE: Final = 0.5
_PREDICATE_SHARE: Final = 0.75
_AMOUNT: Final = 3.0
"""What an amount weighs beside a word."""
_SHORT: Final = 8
"""Content words up to which a sentence is taken for one plain statement, whose subject and roles can be told."""
_COMPARABLE: Final = 0.55
"""How much of the claim the best sentence must hold before its polarity counts."""
_VERBS: Final = frozenset("is are was were has have had can could do does did will would must may might should".split())
_ALL: Final = frozenset("all every always everyone everything entirely completely".split())
_ONLY: Final = frozenset("only solely exclusively always never".split())
_PART: Final = frozenset("some most many few several sometimes often usually mostly partly may might typically".split())
_LIMITS: Final = frozenset(
    "only solely exclusively just alone always never every all each any must single sole except".split()
)
_PARTICIPLE: Final = re.compile(r"(?:ed|en|wn|built|sent|kept|held|made|done|set|put|read|led|fed|met|found|run)$")
_BE: Final = frozenset("is are was were be been being get gets".split())


def sunk(alignment: Alignment) -> str:
    """The reason why the sentence cannot stand; empty when nothing speaks against it."""
    claim, evidence = alignment.claim, alignment.evidence
    if missing := unmatched(claim.amounts, evidence.amounts, claim.text):
        return f"number {missing[0].text} not in evidence"
    if wrong := miscounted(claim.amounts, evidence.amounts):
        return f"number {wrong.text} counts something else in evidence"
    for name in claim.names:
        if not has_name(name, evidence):
            return f"name {name.text} not in evidence"
    return overstated(alignment) or foreign_subject(alignment) or reversed_polarity(alignment)


def reversed_polarity(alignment: Alignment) -> str:
    """An odd number of reversals: a negation, an opposite, an exchange of roles."""
    reasons: list[str] = []
    if float(alignment.weights @ alignment.by_sentence[:, alignment.window[0]]) < _COMPARABLE:
        return ""
    if negation_differs(alignment) >= _NEGATED_SHARE:
        reasons.append("negated on one side only")
    if opposites := opposed(alignment):
        reasons.append(f"{opposites[0][0].text} against {opposites[0][1].text}")
    if exchanged(alignment):
        reasons.append("roles are exchanged")
    return reasons[0] if len(reasons) % 2 else ""


def overstated(alignment: Alignment) -> str:
    """All for most, only for sometimes."""
    said = {w.text for w in alignment.claim.words}
    best = {w.text for w in alignment.evidence.readings[alignment.window[0]].words}
    there = {w.text for s in alignment.window for w in alignment.evidence.readings[s].words}
    if said & _ALL and best & _PART and not best & _ALL:
        return "all where the evidence has a part"
    if said & _ONLY and not there & _LIMITS:
        return f"{min(said & _ONLY)} where the evidence sets no limit"
    return ""


@dataclass(frozen=True, slots=True)
class _Part:
    """A clause, or a segment of one: its content words and amounts."""

    sentence: int
    words: tuple[Word, ...]
    amounts: tuple[Quantity, ...]
    states: bool
    """It has a verb that can be told, an amount, or a name that opens it."""

    @property
    def stems(self) -> set[str]:
        return {w.stem for w in self.words}


def _parts(reading: Reading, sentence: int, *, by_segment: bool) -> list[_Part]:
    groups: dict[int, list[Word]] = {}
    for word in reading.words:
        groups.setdefault(word.segment if by_segment else word.clause, []).append(word)
    found: list[_Part] = []
    for words in groups.values():
        start, end = words[0].start, words[-1].end
        amounts = tuple(q for q in reading.amounts if q.start < end and q.end > start)
        content = tuple(w for w in words if w.weight > 0)
        verb = any(w.text.removesuffix("n't") in _VERBS for w in words)
        found.append(_Part(sentence, content, amounts, verb or bool(amounts) or bool(content and content[0].name)))
    return found


def foreign_subject(alignment: Alignment) -> str:
    """What is said of one thing in the evidence is claimed of another: the payload of one arm for the other arm."""
    readings = alignment.evidence.readings
    plain = len(alignment.claim.content) <= _SHORT
    for by_segment in (False, True):
        parts = [p for i, r in enumerate(readings) for p in _parts(r, i, by_segment=by_segment) if p.words]
        for claimed in _parts(alignment.claim, 0, by_segment=by_segment):
            enough = claimed.words and len(claimed.words) + len(claimed.amounts) >= 2
            enough = enough and (plain or bool(claimed.amounts))
            if enough and (found := _taken_from(claimed, parts)):
                return found
    return ""


def _taken_from(claimed: _Part, parts: Sequence[_Part]) -> str:
    """All that is claimed stands in a part with another subject, while the claim's own subject opens a part beside it."""
    heads = 2 if len(claimed.words) > 2 or claimed.amounts else 1
    predicate = [w for i, w in enumerate(claimed.words) if i >= heads and not w.name] or list(claimed.words[heads:])
    scores = [_shared(predicate, claimed.amounts, p) for p in parts]
    top = max(range(len(parts)), key=scores.__getitem__)
    best, stems, opening = parts[top], claimed.stems, parts[top].words[0]
    whole = sum(w.weight for w in predicate) + _AMOUNT * sum(not a.weak for a in claimed.amounts)
    if not whole or scores[top] < _PREDICATE_SHARE * whole or opening.stem in stems:
        return ""
    if not best.states or not _can_be_subject(opening):
        return ""
    for word in claimed.words:
        if word.stem in best.stems or not (word.name or word in claimed.words[:heads]):
            continue
        for other in parts:
            opens = word.stem in {w.stem for w in other.words[:2]}
            if opens and opening.stem not in other.stems and _beside(best, other, stems):
                return f"{opening.text} in evidence, {word.text} in the claim"
    return ""


def _can_be_subject(word: Word) -> bool:
    return word.name or (
        word.row >= 0 and lexicon().parents[word.row] >= 0 and not word.text.endswith(("ing", "ed", "ly"))
    )


def _shared(words: Iterable[Word], amounts: Sequence[Quantity], part: _Part) -> float:
    held = part.stems
    same = sum(_AMOUNT for a in amounts if not a.weak and any(a.equals(b) for b in part.amounts))
    return same + sum(w.weight for w in words if w.stem in held)


def _beside(one: _Part, other: _Part, claimed: set[str]) -> bool:
    """Parts of one sentence, or of two that speak of the same things."""
    if one is other:
        return False
    kinds = {q.dimension for q in one.amounts} & {q.dimension for q in other.amounts}
    return one.sentence == other.sentence or bool(one.stems & other.stems & claimed or kinds)


def exchanged(alignment: Alignment) -> bool:
    """ "A is faster than B" for "B is faster than A", "A controls B" for "B controls A"."""
    reading = alignment.evidence.readings[alignment.window[0]]
    pairs = counterparts(alignment)
    if not pairs or len(alignment.claim.content) > _SHORT:
        return False
    claim = alignment.claim
    return any(_exchanged_at(claim, reading, a, b) for a, b in pairs if a.stem == b.stem) or _compared(claim, reading)


def _exchanged_at(claim: Reading, evidence: Reading, verb: Word, counterpart: Word) -> bool:
    left, right = _sides(claim, verb)
    left_there, right_there = _sides(evidence, counterpart)
    if not left or not left_there:
        return False
    if _passive(claim, verb) != _passive(evidence, counterpart):
        return bool(left <= left_there and right and right & right_there and not left & right_there)
    return not left & left_there and left <= right_there and left_there <= right


def _sides(reading: Reading, pivot: Word) -> tuple[set[str], set[str]]:
    """Content words before the pivot in its clause, and all that follow it."""
    before = {w.stem for w in reading.content if w.end <= pivot.start and w.clause == pivot.clause}
    return before, {w.stem for w in reading.content if w.start >= pivot.end}


def _passive(reading: Reading, verb: Word) -> bool:
    place = next(i for i, w in enumerate(reading.words) if w.start == verb.start)
    before = {w.text.removesuffix("n't") for w in reading.words[max(0, place - 3) : place]}
    after = {w.text for w in reading.words[place + 1 : place + 3]}
    return bool(_PARTICIPLE.search(verb.text)) and (bool(before & _BE) or "by" in after)


def _compared(claim: Reading, evidence: Reading) -> bool:
    """Who is more, in the claim's comparison and in the evidence."""
    than = next((i for i, w in enumerate(claim.words) if w.text == "than"), None)
    if than is None:
        return False
    after = {w.stem for w in claim.words[than + 1 :] if w.weight > 0}
    shared = [w for w in claim.words[:than] if w.weight > 0 and not w.name]
    for quality in reversed(shared):
        there = next((w for w in evidence.words if w.stem == quality.stem), None)
        if there is None:
            continue
        holder = {w.stem for w in claim.content if w.end <= quality.start}
        holder_there = {w.stem for w in evidence.content if w.end <= there.start and w.clause == there.clause}
        if holder and holder_there:
            return bool(holder_there & after) and not holder_there & holder
    return False
