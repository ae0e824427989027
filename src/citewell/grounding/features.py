"""What the fitted model of the judge weighs."""

import itertools
from typing import Final

import numpy as np

from citewell.grounding.alignment import Alignment, has_name, negation_differs, opposed
from citewell.grounding.evidence import FloatArray
from citewell.grounding.lexicon import lexicon
from citewell.grounding.quantities import unmatched
from citewell.grounding.roles import exchanged

FEATURES: Final = (
    "bias cover1 cover2 cover_all exact1 exact_all near far worst worst_all pairs broken amount_missing amount_window "
    "name_missing name_window negation opposite direction strict hedged length windows unasserted roles"
).split()


def features(alignment: Alignment) -> FloatArray:
    """What the model weighs, in the order of FEATURES."""
    claim, evidence, weights = alignment.claim, alignment.evidence, alignment.weights
    window = list(alignment.window)
    best1 = alignment.by_sentence[:, window[0]]
    best2 = alignment.by_sentence[:, window].max(axis=1)
    everywhere = alignment.by_sentence.max(axis=1)
    plain_weights = alignment.plain_weights
    in_window = tuple(q for s in window for q in evidence.readings[s].amounts)
    turned, opposites = exchanged(alignment), opposed(alignment)
    named = np.zeros(len(weights), dtype=np.bool_)
    named[: len(claim.content)] = [w.name for w in claim.content]
    return np.array(
        [
            1,
            weights @ best1,
            weights @ best2,
            weights @ everywhere,
            weights @ (best1 >= 0.99),
            weights @ (everywhere >= 0.99),
            plain_weights @ ((best2 > 0.2) & (best2 < 0.85)),
            plain_weights @ (best2 <= 0.2),
            (plain_weights * (1 - best2)).max(),
            (plain_weights * (1 - everywhere)).max(),
            *pair_shares(alignment),
            min(len(unmatched(claim.amounts, evidence.amounts, claim.text)), 2),
            min(len(unmatched(claim.amounts, in_window, claim.text)), 2),
            min(sum(not has_name(w, evidence) for w in claim.names), 2),
            min(int((named & (best2 < 1)).sum()), 2),
            negation_differs(alignment),
            0 if turned else min(len(opposites), 2),
            direction_differs(alignment),
            strictness(alignment),
            hedged(alignment),
            np.log1p(len(claim.content)),
            len(window) - 1,
            evidence.asserted[window[0]] < 1,
            turned and not opposites,
        ],
        dtype=np.float32,
    )


def direction_differs(alignment: Alignment) -> float:
    """The claim speaks of more or better where the best sentence speaks only of less or worse, or the other way."""
    known = lexicon()
    said = {d for w in alignment.claim.words if (d := known.direction(w.stem))}
    there = {d for w in alignment.evidence.readings[alignment.window[0]].words if (d := known.direction(w.stem))}
    return float(len(said) == 1 and len(there) == 1 and said != there)


def pair_shares(alignment: Alignment) -> tuple[float, float]:
    """Neighbouring claim words whose counterparts stand together in the best sentence, and those that stand apart."""
    claim, evidence = alignment.claim, alignment.evidence
    if len(claim.content) < 2:
        return 1.0, 0.0
    first = alignment.window[0]
    start = int(evidence.starts[first])
    part = alignment.likeness[:, start : start + len(evidence.readings[first].content)]
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
