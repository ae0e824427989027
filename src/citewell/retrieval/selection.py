"""Diversity: which of the ranked passages are shown; none that repeats another, not all of one page. Pure."""

import math
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from citewell.text import content_stems, words
from citewell.values import ScoredPassage

_MAY_DIFFER = 0.04
"""The share of words that two copies of one passage may differ in."""
_OF_ONE_PAGE = 0.8
_NEGATIONS = frozenset("not no never none cannot without nor neither don't doesn't isn't aren't won't can't".split())


def shown(ranked: Sequence[ScoredPassage], *, limit: int) -> list[ScoredPassage]:
    """The first `limit` passages in their order, without those that repeat an earlier one.

    One page has at most four of five places, unless the others leave places free.
    """
    most = math.ceil(_OF_ONE_PAGE * limit)
    pages: Counter[str] = Counter()
    kept: list[ScoredPassage] = []
    spare: list[ScoredPassage] = []
    for found in ranked:
        if len(kept) == limit:
            break
        if any(same(found.passage.text, other.passage.text) for other in (*kept, *spare)):
            continue
        if pages[found.passage.url] < most:
            pages[found.passage.url] += 1
            kept.append(found)
        elif len(spare) < limit:
            spare.append(found)
    places = {found.passage.id for found in (*kept, *spare[: limit - len(kept)])}
    return [found for found in ranked if found.passage.id in places]


def same(one: str, other: str) -> bool:
    """Whether nothing of weight differs. A number or a "not" always has weight: such pairs may contradict."""
    if one == other:
        return True
    if not 0.9 <= len(one) / max(1, len(other)) <= 1.1:
        return False
    first, second = _words(one), _words(other)
    differ = (first - second) + (second - first)
    if any(word in _NEGATIONS or any(c.isdigit() for c in word) for word in differ):
        return False
    return differ.total() <= _MAY_DIFFER * (first.total() + second.total())


@lru_cache(maxsize=4096)
def _words(text: str) -> "Counter[str]":
    found = Counter(content_stems(text))
    found.update(word for word in (w.lower().replace("’", "'") for w in words(text)) if word in _NEGATIONS)
    return found
