"""Hybrid fusion: two rankings into one. Pure; chosen and weighed on data (docs/decisions/0005-fusion.md)."""

import math
from collections.abc import Sequence

from citewell.index import Hit
from citewell.text import content_stems
from citewell.values import ScoredPassage

_MEANING = 0.5
_WORDS = 0.5
_SHORT = 4


def fused_scores(hits: Sequence[Hit]) -> list[float]:
    """One number for each hit, 0–1, comparable within this list only."""
    dense = spread([hit.dense for hit in hits])
    bm25 = spread([hit.bm25 for hit in hits])
    # BM25 falls off steeply after the first few: the root keeps the second-best words from counting for nothing.
    return [_MEANING * d + _WORDS * math.sqrt(b) for d, b in zip(dense, bm25, strict=True)]


def with_best_meaning(query: str, ranked: Sequence[ScoredPassage]) -> list[ScoredPassage]:
    """The ranking, with the best by meaning at least second when a word of the question stands in no candidate.

    The book then has another word for it, and the words that are left say little.
    """
    best = max(ranked, key=lambda found: found.dense, default=None)
    if best is None or best in ranked[:2] or not has_unknown_word(query, ranked):
        return list(ranked)
    return [ranked[0], best, *(found for found in ranked[1:] if found is not best)]


def has_unknown_word(query: str, ranked: Sequence[ScoredPassage]) -> bool:
    """Whether a word of the question stands in no candidate."""
    texts = [found.passage.embedded_text.lower() for found in ranked]
    # A stem's last letter may be the stemmer's own: "happi" of "happy".
    starts = {stem[:-1] if len(stem) > _SHORT else stem for stem in content_stems(query)}
    return any(not any(start in text for text in texts) for start in starts)


def spread(scores: list[float]) -> list[float]:
    """Min-max: the best is 1, the worst 0; all equal say nothing."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]
