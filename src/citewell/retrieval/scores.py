"""Cosines as similarities that mean the same whatever embedder made them. Pure."""

_UNRELATED = {"gte-small-int8": 0.0}
"""The cosine of a question and a passage that has nothing to do with it."""


def similarity(cosine: float, embedder: str) -> float:
    """0 for what is unrelated, 1 for the same text."""
    floor = _UNRELATED.get(embedder, 0.0)
    return min(1.0, max(0.0, (cosine - floor) / (1.0 - floor)))
