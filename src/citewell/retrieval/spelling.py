"""Spelling correction: words that neither the book nor English has, put right from the book's own words. Pure.

A word that stands in the book is never changed, and neither is one that English has: it may be what the book lacks.
"""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from citewell.text import stem, words

_SHORTEST = 4
_TWO_MISTAKES_FROM = 6
_MOST_UNKNOWN = 8
"""Unknown words up to which a question is taken to be misspelt: with more it is in another language, or no question."""
_LEAST_TIMES = 2
"""A word that stands in the book once may be a mistake of its own."""
_SEPARATORS = re.compile(r"[-_.:/'’\s]+")
_LETTERS_THEN_DIGITS = re.compile(r"([^\W\d_]{2,})(\d{1,2})")


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The words of a book, and how often each stands in it."""

    counts: "Counter[str]"
    stems: frozenset[str]
    by_letter: dict[str, list[str]]
    folded: dict[str, str]
    """Words and identifiers without their separators, to how they are written: `http2` to `HTTP/2`."""

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Vocabulary":
        counts: Counter[str] = Counter()
        written: dict[str, Counter[str]] = defaultdict(Counter)
        for text in texts:
            for word in words(text):
                counts[word.lower()] += 1
                if _SEPARATORS.search(word):
                    written[_folded(word)][word] += 1
                    counts.update(part.lower() for part in _SEPARATORS.split(word) if part)
        by_letter: dict[str, list[str]] = defaultdict(list)
        for word, times in counts.items():
            if times >= _LEAST_TIMES and word.isalpha() and len(word) >= _SHORTEST:
                by_letter[word[0]].append(word)
        folded = {key: forms.most_common(1)[0][0] for key, forms in written.items()}
        return cls(counts, frozenset(map(stem, counts)), dict(by_letter), folded)

    def has(self, word: str) -> bool:
        return word.lower() in self.counts or stem(word) in self.stems

    def corrected(self, question: str) -> str:
        """The question as the book spells; the same text when there is nothing to put right."""
        text = question
        unknown = [word for word in dict.fromkeys(words(question)) if not self.has(word)]
        for word in unknown if len(unknown) <= _MOST_UNKNOWN else ():
            if (better := self._better(word)) is not None:
                text = re.sub(rf"(?<!\w){re.escape(word)}(?!\w)", lambda _, b=better: b, text)  # type: ignore[misc]
        return text

    def _better(self, word: str) -> str | None:
        if len(word) < _SHORTEST - 1:
            return None
        if (written := self.folded.get(_folded(word))) is not None:
            return written
        if parts := _LETTERS_THEN_DIGITS.fullmatch(word):
            return f"{parts[1]} {parts[2]}" if self.has(parts[1]) and parts[2] in self.counts else None
        if len(word) < _SHORTEST or not word.isalpha() or is_english(word):
            return None
        return self._nearest(word.lower()) or self._apart(word.lower())

    def _nearest(self, word: str) -> str | None:
        most = 2 if len(word) >= _TWO_MISTAKES_FROM else 1
        letters = {word[0], word[1]}  # the first two may be swapped
        near = [
            (distance, -self.counts[known], known)
            for letter in sorted(letters)
            for known in self.by_letter.get(letter, ())
            if abs(len(known) - len(word)) <= most and (distance := _distance(word, known, most)) <= most
        ]
        return min(near)[2] if near else None

    def _apart(self, word: str) -> str | None:
        """Two words of the book that were run together."""
        for at in range(len(word) - _SHORTEST + 1, 2, -1):
            if word[:at] in self.counts and word[at:] in self.counts and len(word[at:]) >= _SHORTEST - 1:
                return f"{word[:at]} {word[at:]}"
        return None


def is_english(word: str) -> bool:
    """Whether it is a word that the models' tokenizer knows whole; rare forms are known by their stem."""
    known = _english()
    return word.lower() in known or word.lower().removesuffix("s") in known or stem(word) in known


@lru_cache(maxsize=1)
def _english() -> frozenset[str]:
    file = resources.files("citewell") / "assets" / "embedder" / "tokenizer.json"
    vocabulary = json.loads(file.read_text("utf-8"))["model"]["vocab"]
    return frozenset(word for word in vocabulary if len(word) >= _SHORTEST and word.isalpha())


def _folded(word: str) -> str:
    return _SEPARATORS.sub("", word).lower()


def _distance(one: str, other: str, most: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours; anything above `most` is as far."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, a in enumerate(one, 1):
        last, before, row = before, row, [i]
        for j, b in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if last and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, last[j - 2] + 1)
            row.append(cost)
        if min(row) > most:
            return most + 1
    return row[-1]
