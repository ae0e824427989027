"""Two rankings into one. Pure; the form and the weights were chosen on data (docs/decisions/0005-fusion.md)."""

import math
from collections.abc import Sequence

from citewell.index import Hit

_MEANING = 0.5
_WORDS = 0.5


def fused_scores(hits: Sequence[Hit]) -> list[float]:
    """One number for each hit, 0–1, comparable within this list only."""
    dense = _spread([hit.dense for hit in hits])
    bm25 = _spread([hit.bm25 for hit in hits])
    # BM25 falls off steeply after the first few: the root keeps the second-best words from counting for nothing.
    return [_MEANING * d + _WORDS * math.sqrt(b) for d, b in zip(dense, bm25, strict=True)]


def _spread(scores: list[float]) -> list[float]:
    """Min-max: the best is 1, the worst 0; all equal say nothing."""
    low, high = min(scores, default=0.0), max(scores, default=0.0)
    return [(score - low) / (high - low) if high > low else 0.0 for score in scores]
