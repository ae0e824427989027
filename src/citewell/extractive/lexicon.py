"""Which words of the passages stand for a word of the question, and what a word is worth. Knows no sentence."""

from collections.abc import Collection, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from citewell.grounding.lexicon import lexicon
from citewell.text import STOPWORDS, stem

_SAYS_LITTLE = STOPWORDS | {stem(w) for w in STOPWORDS}
_LEAST = 0.45
"""Cosine of two word vectors from which one may stand for the other."""
_AKIN = 0.85


@lru_cache(maxsize=16384)
def weight(stemmed: str) -> float:
    """How much a word says, 0–1: a common one little, a rare or unknown one most."""
    known = lexicon()
    row = known.row(stemmed)
    return 1.25 * float(known.weights[row]) - 0.1875 if row >= 0 else 1.0


def opposites(stemmed: str) -> frozenset[str]:
    return lexicon().opposites.get(stemmed, frozenset())


def meanings(texts: Sequence[Collection[str]]) -> NDArray[np.float32]:
    """For each text, given by its stems, the sum of its words' vectors by what each word says."""
    known = lexicon()
    found = np.zeros((len(texts), known.vectors.shape[1]), dtype=np.float32)
    for place, stems in enumerate(texts):
        told = sorted({s for s in stems if s not in _SAYS_LITTLE and known.row(s) >= 0})
        if told:
            rows = known.vectors[[known.row(s) for s in told]]
            found[place] = np.array([weight(s) for s in told], dtype=np.float32) @ rows
    return found


class Vocabulary:
    """The stems of some passages, searched for words like a given one."""

    def __init__(self, stems: Sequence[str]) -> None:
        known = lexicon()
        self._stems = stems
        self._rows = np.array([known.row(s) for s in stems], dtype=np.int64)
        self._vectors: NDArray[np.float32] = known.vectors[np.maximum(self._rows, 0)]
        self._vectors[self._rows < 0] = 0

    def like(self, stemmed: str) -> dict[str, float]:
        """Stems that may stand for this one, with their likeness; itself, if present, with 1."""
        found: dict[str, float] = {}
        known = lexicon()
        row = known.row(stemmed)
        if row >= 0:
            cosines = self._vectors @ known.vectors[row]
            for at in np.flatnonzero(cosines >= _LEAST).tolist():
                found[self._stems[at]] = min(0.9, float(cosines[at]))
        head = stemmed[:3]
        for other in self._stems:
            if other == stemmed:
                found[other] = 1.0
            elif other.startswith(head) and akin(stemmed, other):
                found[other] = max(_AKIN, found.get(other, 0.0))
        return found


@lru_cache(maxsize=65536)
def akin(one: str, other: str) -> bool:
    """Whether two stems look like forms of one word: "invas" and "invad", "normandi" and "norman"."""
    if not (one.isalpha() and other.isalpha()):
        return False
    shorter = min(len(one), len(other))
    if shorter < 4:
        return False
    common = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        common += 1
    return common >= 4 and common >= 0.7 * max(len(one), len(other)) and common >= shorter - 2
