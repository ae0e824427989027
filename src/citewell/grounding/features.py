"""What the fitted model of the judge weighs."""

import itertools
from typing import Final

import numpy as np

from citewell.grounding.alignment import Alignment, counterparts, negation_differs, opposed
from citewell.grounding.evidence import FloatArray, word_vectors
from citewell.grounding.lexicon import lexicon
from citewell.grounding.names import missing_names
from citewell.grounding.quantities import unmatched
from citewell.grounding.roles import exchanged

FEATURES: Final = {
    "cover1": 1,
    "cover2": 1,
    "cover_all": 1,
    "exact1": 1,
    "exact_all": 1,
    "near": -1,
    "far": -1,
    "worst": -1,
    "worst_all": -1,
    "second": 1,
    "last": 1,
    "lacking": -1,
    "lacking_all": -1,
    "unlike_all": -1,
    "unheard_all": -1,
    "rare1": 1,
    "rare2": 1,
    "rare_all": 1,
    "covered_back": 1,
    "together": 1,
    "alike": 1,
    "pairs": 1,
    "broken": -1,
    "bigrams": 1,
    "amount_missing": -1,
    "amount_window": -1,
    "name_missing": -1,
    "name_window": -1,
    "negation": -1,
    "negated": -1,
    "opposite": -1,
    "direction": -1,
    "strict": -1,
    "hedged": -1,
    "length": 0,
    "windows": 0,
    "sentences": -1,
    "unasserted": -1,
    "roles": -1,
}
"""Names in order. 1: more of it never speaks against the claim; -1: never for it; 0: either."""


def features(alignment: Alignment) -> FloatArray:
    """What the model weighs, in the order of FEATURES."""
    claim, evidence = alignment.claim, alignment.evidence
    window = list(alignment.window)
    in_window = tuple(q for s in window for q in evidence.readings[s].amounts)
    best2 = alignment.by_sentence[:, window].max(axis=1)
    named = np.zeros(len(best2), dtype=np.bool_)
    named[: len(claim.content)] = [w.name for w in claim.content]
    turned, opposites = exchanged(alignment), opposed(alignment)
    return np.array(
        [
            *_coverage(alignment, best2),
            *_rare(alignment, best2),
            *_back(alignment),
            _alike(alignment),
            *pair_shares(alignment),
            _bigrams(alignment),
            min(len(unmatched(claim.amounts, evidence.amounts, claim.text)), 2),
            min(len(unmatched(claim.amounts, in_window, claim.text)), 2),
            min(len(missing_names(claim, evidence)), 2),
            min(int((named & (best2 < 1)).sum()), 2),
            negation_differs(alignment),
            _negated(alignment),
            0 if turned else min(len(opposites), 2),
            direction_differs(alignment),
            strictness(alignment),
            hedged(alignment),
            np.log1p(len(claim.content)),
            len(window) - 1,
            np.log1p(len(evidence.sentences)),
            evidence.asserted[window[0]] < 1,
            turned and not opposites,
        ],
        dtype=np.float32,
    )


def _coverage(alignment: Alignment, best2: FloatArray) -> list[float]:
    """How well the claim's words are found in the best sentence, in the window and anywhere, and which are not."""
    weights, plain_weights = alignment.weights, alignment.plain_weights
    best1 = alignment.by_sentence[:, alignment.window[0]]
    everywhere = alignment.by_sentence.max(axis=1)
    found = (
        weights @ best1,
        weights @ best2,
        weights @ everywhere,
        weights @ (best1 >= 0.99),
        weights @ (everywhere >= 0.99),
        plain_weights @ ((best2 > 0.2) & (best2 < 0.85)),
        plain_weights @ (best2 <= 0.2),
        (plain_weights * (1 - best2)).max(),
        (plain_weights * (1 - everywhere)).max(),
        np.sort(best2)[min(1, len(best2) - 1)],
        best2[len(alignment.claim.content) - 1],
        weights @ (best2 < 0.85),
        weights @ (everywhere < 0.85),
        weights @ (everywhere < 0.5),
        weights @ (everywhere < 0.25),
    )
    return [float(value) for value in found]


def _rare(alignment: Alignment, best2: FloatArray) -> tuple[float, ...]:
    """Coverage in which a word counts the more, the fewer sentences of the passage have it."""
    having = (alignment.by_sentence >= 0.85).sum(axis=1)
    rarity = np.log((alignment.by_sentence.shape[1] + 1) / (having + 0.5)) * alignment.plain_weights
    rarity = np.maximum(rarity, 0.02)
    rarity /= rarity.sum()
    best1, everywhere = alignment.by_sentence[:, alignment.window[0]], alignment.by_sentence.max(axis=1)
    return float(rarity @ best1), float(rarity @ best2), float(rarity @ everywhere)


def _back(alignment: Alignment) -> tuple[float, float]:
    """How much of the best sentence the claim holds, and how close together the words found stand in it."""
    content = alignment.evidence.readings[alignment.window[0]].content
    part = _part(alignment)
    weights = np.array([w.weight for w in content], dtype=np.float32)
    places = part.argmax(axis=1)[part.max(axis=1) >= 0.85]
    together = len(places) / (places.max() - places.min() + 1) if len(places) > 1 else 0.0
    return float(weights @ part.max(axis=0) / weights.sum()), float(together)


def _part(alignment: Alignment) -> FloatArray:
    """The claim's words by the words of the best sentence."""
    first = alignment.window[0]
    start = int(alignment.evidence.starts[first])
    return alignment.likeness[:, start : start + len(alignment.evidence.readings[first].content)]


def _alike(alignment: Alignment) -> float:
    """The cosine of the mean vectors of the claim and of the window."""
    evidence, claim = alignment.evidence, alignment.claim
    said = word_vectors(np.array([w.row for w in claim.content], dtype=np.int32))
    said_mean = np.array([w.weight for w in claim.content], dtype=np.float32) @ said
    there_mean = np.zeros_like(said_mean)
    for place in alignment.window:
        start, content = int(evidence.starts[place]), evidence.readings[place].content
        there_mean += (
            np.array([w.weight for w in content], dtype=np.float32) @ evidence.vectors[start : start + len(content)]
        )
    length = float(np.linalg.norm(said_mean) * np.linalg.norm(there_mean))
    return float(said_mean @ there_mean) / length if length else 0.0


def _bigrams(alignment: Alignment) -> float:
    """The share of the claim's neighbouring words, function words too, that are neighbours in the window."""
    said = list(itertools.pairwise(w.stem for w in alignment.claim.words))
    readings = [alignment.evidence.readings[s] for s in alignment.window]
    there = {pair for r in readings for pair in itertools.pairwise(w.stem for w in r.words)}
    return sum(pair in there for pair in said) / len(said) if said else 0.0


def _negated(alignment: Alignment) -> float:
    """The share of the claim whose counterparts differ in being negated."""
    differing = sum(a.weight for a, b in counterparts(alignment) if not a.name and a.negated != b.negated)
    return differing / float(alignment.plain_weights.sum())


def direction_differs(alignment: Alignment) -> float:
    """The claim speaks of more or better where the best sentence speaks only of less or worse, or the other way."""
    known = lexicon()
    said = {d for w in alignment.claim.words if (d := known.direction(w.stem))}
    there = {d for w in alignment.evidence.readings[alignment.window[0]].words if (d := known.direction(w.stem))}
    return float(len(said) == 1 and len(there) == 1 and said != there)


def pair_shares(alignment: Alignment) -> tuple[float, float]:
    """Neighbouring claim words whose counterparts stand together in the best sentence, and those that stand apart."""
    claim = alignment.claim
    if len(claim.content) < 2:
        return 1.0, 0.0
    part = _part(alignment)
    where = part.argmax(axis=1)
    good = part.max(axis=1) >= 0.5
    step = where[1:] - where[:-1]
    both = good[1:] & good[:-1]
    together = both & (step > 0) & (step <= 3)
    close = np.array([b.start - a.end <= 1 for a, b in itertools.pairwise(claim.content)])
    return float(together.mean()), float((both & close & (np.abs(step) > 2)).sum())


_UNIVERSAL: Final = frozenset(
    "all every always only never each any must entire entirely solely exclusively none".split()
)
_PARTIAL: Final = frozenset("some most many few several sometimes often usually may might can could partially".split())


def strictness(alignment: Alignment) -> float:
    """The claim says all, only or never; the window does not."""
    said = {w.text for w in alignment.claim.words} & _UNIVERSAL
    there = {w.text for s in alignment.window for w in alignment.evidence.readings[s].words} & _UNIVERSAL
    return float(bool(said) and not there)


def hedged(alignment: Alignment) -> float:
    """The best sentence hedges, the claim does not."""
    said = {w.text for w in alignment.claim.words} & _PARTIAL
    there = {w.text for w in alignment.evidence.readings[alignment.window[0]].words} & _PARTIAL
    return float(bool(there) and not said)
