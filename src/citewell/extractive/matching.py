"""Texts as stems with their places, and where the terms of a question are met in them."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from citewell.extractive.inquiry import Term
from citewell.extractive.lexicon import Vocabulary
from citewell.text import stem, words

_CJK = re.compile(r"[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af]")
_PARTS = re.compile(r"[-_.:/]+")
_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z0-9])(?=[A-Z][a-z])")

Match = tuple[float, Sequence[int]]
_NOWHERE: Match = (0.0, ())


@dataclass(frozen=True, slots=True)
class Words:
    """A text as stems in order, with the places of each."""

    order: tuple[str, ...]
    places: dict[str, list[int]]

    def __contains__(self, stemmed: str) -> bool:
        return stemmed in self.places


@lru_cache(maxsize=65536)
def forms_of(token: str) -> tuple[str, ...]:
    """The stem of a word; of a compound or identifier also its parts; of Chinese and its like also pairs of signs."""
    forms = [stem(token)]
    parts = _PARTS.split(token)
    if _CAMEL.search(token):
        parts = [part for piece in parts for part in _CAMEL.split(piece)]
    if len(parts) > 1:
        forms.extend(stem(p) for p in parts if len(p) > 1)
    elif len(token) > 1 and _CJK.search(token):
        forms.extend(token[i : i + 2] for i in range(len(token) - 1))
    return tuple(forms)


_TARGET = re.compile(r"\]\([^)\s]*\)")


def without_targets(text: str) -> str:
    """Markdown without where its links lead: addresses are no words."""
    return _TARGET.sub("]", text) if "](" in text else text


def words_of(text: str) -> Words:
    order: list[str] = []
    places: dict[str, list[int]] = {}
    for at, token in enumerate(words(without_targets(text))):
        forms = forms_of(token)
        order.append(forms[0])
        for form in forms:
            places.setdefault(form, []).append(at)
    return Words(tuple(order), places)


class Lookup:
    """Which words of the passages meet which term of the question: worked out once for the whole vocabulary."""

    def __init__(self, terms: Sequence[Term], vocabulary: Vocabulary) -> None:
        self._forms = [_meeting(term, vocabulary) for term in terms]

        self._parts = [forms_of(term.stem)[1:] for term in terms]

    def find(self, text: Words) -> list[Match]:
        """For each term how far the text holds it (1 the word itself), and where."""
        return [self._best(*both, text.places) for both in zip(self._forms, self._parts, strict=True)]

    @staticmethod
    def _best(forms: Sequence[tuple[float, str]], parts: Sequence[str], places: Mapping[str, list[int]]) -> Match:
        for share, form in forms:
            if form in places:
                return share, places[form]
        if parts:
            present = [part for part in parts if part in places]
            if len(present) * 2 > len(parts):
                return 0.6 * len(present) / len(parts), places[present[0]]
        return _NOWHERE


def _meeting(term: Term, vocabulary: Vocabulary) -> list[tuple[float, str]]:
    like = vocabulary.like(term.stem)
    if term.number:
        like = {form: 1.0 for form in like if form == term.stem}
    return sorted(((share, form) for form, share in like.items()), reverse=True)
