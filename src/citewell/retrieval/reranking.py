"""Re-ranking: the first of the hybrid search in an order of which the reading model has a say (docs/retrieval.md)."""

import asyncio
import time
from collections.abc import Callable, Sequence
from typing import Final, Protocol

from citewell.retrieval.fusion import spread
from citewell.values import Passage, ScoredPassage

SAY = 0.5
"""What the model counts beside the fused score. Words and meaning together outvote it: names are found by them."""


SECONDS: Final = 1.0
"""A new order that takes longer is not waited for."""
REST: Final = 60.0
"""Seconds for which a machine that was too slow is left in peace: what it began runs on, beside the questions."""


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


class Reranking:
    """Re-ranking in a bounded time. When the machine is too slow for it, the search's own order stands for a while."""

    def __init__(
        self,
        reranker: Reranker,
        first: int,
        *,
        seconds: float = SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._reranker = reranker
        self._first = first
        self._seconds = seconds
        self._clock = clock
        self._off_until = clock()

    async def order(self, query: str, ranked: Sequence[ScoredPassage]) -> list[ScoredPassage] | None:
        """The new order; None when there was no time for it."""
        if self._clock() < self._off_until:
            return None
        try:
            async with asyncio.timeout(self._seconds):
                return await reranked(self._reranker, query, ranked, self._first)
        except TimeoutError:
            self._off_until = self._clock() + REST
            return None
