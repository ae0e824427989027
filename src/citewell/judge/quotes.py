"""Quotes of a passage: whole sentences, items or rows, word for word, or one of them with words left out. Pure.

A sentence that keeps the words of another in their order, and leaves out none that turn its meaning, says nothing new.
"""

import re
from collections.abc import Sequence
from typing import Final

from citewell.document import Span
from citewell.text import STOPWORDS, stem, words

Place = tuple[int, int]

_ITEM: Final = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_SIGNS: Final = re.compile(r"[\s.,;:!?'\"“”‘’()\[\]*_`>#|-]+")
_TURNING: Final = frozenset(
    "not no never none neither nor cannot only unless except without if when until instead rather".split()
)
"""What these turn is not said any more when they are left out."""
_WEIGHED: Final = _TURNING | frozenset(
    "all any both but can could each either every first last least less may might more most must or should some than "
    "would always before after fewer".split()
)
"""Small words that count: each must stand in the passage as well, in its place."""
_FEWEST: Final = 3
_KEPT: Final = 0.5
"""Share of the words of meaning that must be left."""


def plain(text: str) -> str:
    """Words only, in lower case, one space between; the sign of a list item goes."""
    return _SIGNS.sub(" ", _ITEM.sub("", text)).strip().lower()


class Quotes:
    def __init__(self, text: str, units: Sequence[Span]) -> None:
        self._units = units
        self._starts: dict[int, int] = {}
        self._ends: dict[int, int] = {}
        self._weighed = [_weighed(text[unit.start : unit.end]) for unit in units]
        said_so_far = " "
        for i, unit in enumerate(units):
            if said := plain(text[unit.start : unit.end]):
                self._starts[len(said_so_far)] = i
                said_so_far += said + " "
                self._ends[len(said_so_far) - 1] = i
        self._words = said_so_far

    def find(self, sentence: str) -> Place | None:
        """Where whole sentences, items or rows say it word for word."""
        wanted = plain(sentence)
        at = self._words.find(f" {wanted} ") if wanted else -1
        while at >= 0:
            first, last = self._starts.get(at + 1), self._ends.get(at + 1 + len(wanted))
            if first is not None and last is not None:
                return self._units[first].start, self._units[last].end
            at = self._words.find(f" {wanted} ", at + 1)
        return None

    def find_abridged(self, sentence: str) -> Place | None:
        """The sentence, item or row that says it with more words."""
        wanted = _weighed(_ITEM.sub("", sentence))
        if len(wanted) < _FEWEST:
            return None
        for unit, held in zip(self._units, self._weighed, strict=True):
            if len(wanted) >= _KEPT * len(held) and _left_out(wanted, held).isdisjoint(_TURNING):
                return unit.start, unit.end
        return None


def _weighed(text: str) -> list[str]:
    """The words that count, in order, as stems; "isn't" counts as a "not"."""
    found = []
    for word in (w.lower().replace("’", "'") for w in words(text)):
        if word.endswith("n't"):
            found.append("not")
        elif word in _WEIGHED:
            found.append(word)
        elif word not in STOPWORDS:
            found.append(stem(word))
    return found


def _left_out(wanted: Sequence[str], held: Sequence[str]) -> frozenset[str]:
    """What of `held` is left when `wanted` is taken from it in order; all that turns, when it cannot be."""
    left, at = set(), 0
    for word in held:
        if at < len(wanted) and word == wanted[at]:
            at += 1
        else:
            left.add(word)
    return frozenset(left) if at == len(wanted) else _TURNING
