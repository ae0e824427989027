"""How the words of a claim are found in a passage, and the features that the judge weighs."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from citewell.grounding.claims import Reading, Word
from citewell.grounding.evidence import Evidence, FloatArray, word_vectors
from citewell.grounding.lexicon import lexicon


@dataclass(frozen=True, slots=True)
class Alignment:
    """How the words of a claim are found in a passage."""

    claim: Reading
    evidence: Evidence
    likeness: FloatArray
    """Claim words by evidence words, 0–1: 1 is the same word, .9 one that says as much."""
    by_sentence: FloatArray
    """Claim words, then claim amounts, by sentences: the best likeness."""
    window: tuple[int, ...]
    """The sentences that together cover the claim best, the best one first."""
    weights: FloatArray
    """Of words and amounts, together 1."""
    plain_weights: FloatArray


_LONG: Final = 6
"""Letters from which words with the same first four fifths are forms of one: atherosclerosis, atherosclerotic."""


def align(claim: Reading, evidence: Evidence) -> Alignment | None:
    if not claim.content or not evidence.words:
        return None
    known = lexicon()
    rows = np.array([w.row for w in claim.content], dtype=np.int32)
    cosine = word_vectors(rows) @ evidence.vectors.T
    likeness = np.clip((cosine - 0.3) / 0.6, 0, 0.8)
    flags = np.zeros(len(known.parents) + 1, dtype=np.bool_)  # one more, for the row -1 of unknown words
    for i, word in enumerate(claim.content):
        if word.name:
            likeness[i] = 0  # a name is like itself only
        elif word.row >= 0 and (said_by := known.entailing(word.row)).size:
            flags[said_by] = True
            likeness[i, flags[evidence.rows]] = 0.9
            flags[said_by] = False
        if same := evidence.places.get(word.stem):
            likeness[i, list(same)] = 1
        elif len(word.stem) >= _LONG and word.stem.isalpha():
            root = word.stem[: -(-len(word.stem) * 4 // 5)]
            akin = [place for other, places in evidence.places.items() if other.startswith(root) for place in places]
            likeness[i, akin] = 0.9
    by_sentence = np.maximum.reduceat(likeness, evidence.starts, axis=1)
    amounts = [q for q in claim.amounts if not q.weak]
    if amounts:
        found = [[any(q.stated_by(o) for o in r.amounts) for r in evidence.readings] for q in amounts]
        by_sentence = np.vstack([by_sentence, np.array(found, dtype=np.float32)])
    plain = np.array([w.weight for w in claim.content] + [1.0] * len(amounts), dtype=np.float32)
    weights = plain / plain.sum()
    return Alignment(claim, evidence, likeness, by_sentence, _window(by_sentence, weights), weights, plain)


def _window(by_sentence: FloatArray, weights: FloatArray, most: int = 3, least_gain: float = 0.04) -> tuple[int, ...]:
    chosen: list[int] = []
    covered = np.zeros(len(weights), dtype=np.float32)
    for _ in range(most):
        gains = weights @ np.maximum(by_sentence - covered[:, None], 0)
        best = int(gains.argmax())
        if chosen and gains[best] < least_gain:
            break
        chosen.append(best)
        covered = np.maximum(covered, by_sentence[:, best])
    return tuple(chosen)


def counterparts(alignment: Alignment, least: float = 0.85) -> list[tuple[Word, Word]]:
    """Claim words with the words of the best sentence that say the same."""
    evidence = alignment.evidence
    first = alignment.window[0]
    start = int(evidence.starts[first])
    content = evidence.readings[first].content
    part = alignment.likeness[:, start : start + len(content)]
    where = part.argmax(axis=1)
    best = part.max(axis=1)
    return [(w, content[int(where[i])]) for i, w in enumerate(alignment.claim.content) if best[i] >= least]


def negation_differs(alignment: Alignment) -> float:
    """The share of what is negated on one side that is not negated on the other, by weight; the worse side counts.

    A word that the best sentence has twice, negated and not, agrees with either.
    """
    pairs = [(a, b) for a, b in counterparts(alignment) if not a.name]
    stems = {(w.stem, w.negated) for w in alignment.evidence.readings[alignment.window[0]].content}
    differing = sum(a.weight for a, b in pairs if a.negated != b.negated and (a.stem, a.negated) not in stems)
    negated = max(sum(a.weight for a, _ in pairs if a.negated), sum(a.weight for a, b in pairs if b.negated))
    return differing / negated if negated else 0.0


def opposed(alignment: Alignment) -> list[tuple[Word, Word]]:
    """Claim words that are not in the best sentence while their opposite is, near the claim's other words."""
    known = lexicon()
    reading = alignment.evidence.readings[alignment.window[0]]
    there = {w.stem for w in reading.words}
    said = {w.stem for w in alignment.claim.words}
    clauses = {b.clause for _, b in counterparts(alignment)}
    near = [w for w in reading.words if (w.clause in clauses or not clauses) and w.stem not in said]
    return [
        (word, other)
        for word in alignment.claim.words
        if word.stem not in there
        for other in near
        if known.opposed(word.stem, other.stem)
    ]
