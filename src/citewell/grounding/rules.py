"""What sinks a sentence whatever its words: a foreign number or name, reversed polarity, roles, "all" for "most"."""

from typing import Final

from citewell.grounding.alignment import Alignment, negation_differs, opposed
from citewell.grounding.claims import Word
from citewell.grounding.names import missing_names
from citewell.grounding.quantities import miscounted, unmatched
from citewell.grounding.roles import exchanged, misattributed

_NEGATED_SHARE: Final = 0.5
_UNHEARD: Final = 2
_UNHEARD_SHARE: Final = 0.3
_COMPARABLE: Final = 0.55
"""How much of the claim the best sentence must hold before its polarity counts."""
_ALL: Final = frozenset("all every always everyone everything entirely completely".split())
_LIMITED: Final = frozenset("only solely exclusively".split())
_EVERLASTING: Final = frozenset("always never".split())
_PART: Final = frozenset("some most many few several sometimes often usually mostly partly may might typically".split())
_LIMITS: Final = frozenset("only solely exclusively just alone single sole except".split())
_EVER: Final = frozenset("always never every all each any must".split())


def sunk(alignment: Alignment) -> str:
    """The reason why the sentence cannot stand; empty when nothing speaks against it."""
    claim, evidence = alignment.claim, alignment.evidence
    if missing := unmatched(claim.amounts, evidence.amounts, claim.text):
        return f"number {missing[0].text} not in evidence"
    if wrong := miscounted(claim.amounts, evidence.amounts):
        return f"number {wrong.text} counts something else in evidence"
    if unknown := missing_names(claim, evidence):
        return f"name {unknown[0].text} not in evidence"
    if len(new := unheard(alignment)) >= _UNHEARD:
        return f"{new[0].text} and {new[1].text} are not in evidence"
    return overstated(alignment) or misattributed(alignment) or reversed_polarity(alignment)


def unheard(alignment: Alignment) -> list[Word]:
    """Common words that the whole passage has nothing like, when they are much of what the claim says."""
    everywhere = alignment.by_sentence.max(axis=1)
    listed = zip(alignment.claim.content, alignment.weights, everywhere, strict=False)  # amounts follow the words
    new = [(word, weight) for word, weight, likeness in listed if likeness < 0.25 and word.row >= 0]
    return [w for w, _ in new] if sum(weight for _, weight in new) > _UNHEARD_SHARE else []


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
    if said & _LIMITED and not there & _LIMITS:
        return "only where the evidence sets no limit"
    if said & _EVERLASTING and not there & _EVER:
        return f"{min(said & _EVERLASTING)} where the evidence sets no limit"
    return ""
