"""Re-ranking: the first of the hybrid search in an order of which the reading model has a say (docs/retrieval.md)."""

from collections.abc import Sequence
from typing import Protocol

from citewell.retrieval.fusion import spread
from citewell.values import Passage, ScoredPassage

SAY = 0.5
"""What the model counts beside the fused score. Words and meaning together outvote it: names are found by them."""


class Reranker(Protocol):
    async def weigh(self, query: str, passages: Sequence[Passage]) -> list[float]:
        """How much each passage answers; comparable within this list."""
        ...


async def reranked(
    reranker: Reranker, query: str, ranked: Sequence[ScoredPassage], first: int, say: float = SAY
) -> list[ScoredPassage]:
    """The same passages, the `first` of them in their new order."""
    head = ranked[:first]
    weights = spread(await reranker.weigh(query, [found.passage for found in head]))
    scores = {found.passage.id: found.fused + say * weight for found, weight in zip(head, weights, strict=True)}
    return [*sorted(head, key=lambda found: (-scores[found.passage.id], found.passage.id)), *ranked[first:]]
