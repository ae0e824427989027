"""How well a piece meets a question, as a row of numbers. No weights here: `reading` holds them."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise
from operator import mul

import numpy as np
from numpy.typing import NDArray

from citewell.extractive.forms import NEGATION, closer, dangling, defines, names, wanted
from citewell.extractive.inquiry import Inquiry
from citewell.extractive.lexicon import Vocabulary, meanings, opposites
from citewell.extractive.matching import Lookup, Match, Words, forms_of, without_targets, words_of
from citewell.extractive.pieces import Numbered, Piece
from citewell.text import STOPWORDS, words

SIGNALS = (
    "coverage",
    "exact_coverage",
    "rare_coverage",
    "local_coverage",
    "context",
    "next_context",
    "headings",
    "pairs",
    "names",
    "numbers",
    "wanted",
    "wanted_near",
    "closer",
    "beside",
    "length",
    "defines",
    "trigrams",
    "meaning",
    "meaning_near",
    "phrases",
    "leaning",
)


_OPENS = 0.6
"""The first sentence of a section, against one that has the form of a definition."""
_MOSTLY = 0.6
_ARGUMENTS = re.compile(r"[(\[<].*")
"""Of a function or command in a heading."""


@dataclass(frozen=True, slots=True)
class Row:
    """The signals of one piece, the share of each term it holds, and with what announces it."""

    values: tuple[float, ...]
    held: tuple[float, ...]
    near: tuple[float, ...]


def leads(pieces: Sequence[Piece]) -> list[int]:
    """For each piece the one it leans on: the sentence before it; what announces its list, table or code. -1: none."""
    found: list[int] = []
    for index, piece in enumerate(pieces):
        lead = index - 1
        if lead < 0 or pieces[lead].passage != piece.passage:
            found.append(-1)
        elif piece.kind in ("row", "item") and pieces[lead].kind in ("row", "item", "code") and found[lead] < lead:
            same = pieces[lead].kind == "item" and pieces[lead].block == piece.block
            found.append(lead if same else _opening(pieces, found, lead))
        else:
            found.append(lead)
    return found


def _opening(pieces: Sequence[Piece], found: Sequence[int], index: int) -> int:
    """Back over a list or table to the sentence before it."""
    while index >= 0 and pieces[index].kind in ("row", "item", "code"):
        index = found[index]
    return index


class Surroundings:
    """What is the same for all pieces of one question: words of each piece, how rare each term is among them."""

    def __init__(self, inquiry: Inquiry, passages: Sequence[Numbered], pieces: Sequence[Piece]) -> None:
        self.inquiry = inquiry
        self.asked = words_of(inquiry.text)
        self.pieces = pieces
        self._headings = [p.heading_path[-1] if p.heading_path else p.title for p in passages]
        self.words = [words_of(f"{p.text} {p.header}" if p.header else p.text) for p in pieces]
        self._leads = leads(pieces)
        titles = [words_of(" ".join((p.title, *p.heading_path))) for p in passages]
        sections = {p.section: words_of(p.section) for p in pieces}
        stems = set().union(*(w.places for w in (*self.words, *titles, *sections.values())))
        lookup = Lookup(inquiry.terms, Vocabulary(sorted(stems)))
        self.matches = [lookup.find(w) for w in self.words]
        self.titles = [[share for share, _ in lookup.find(t)] for t in titles]
        self._sections = {name: [share for share, _ in lookup.find(w)] for name, w in sections.items()}
        self._weights = [t.weight for t in inquiry.terms]
        self._rare = [t.weight**3 for t in inquiry.terms]
        self._local = self._local_weights()
        self._names = [float(t.name) for t in inquiry.terms]
        self._numbers = [float(t.number) for t in inquiry.terms]
        self._trigrams = frozenset().union(*(_trigrams(t.stem) for t in inquiry.terms))
        self._phrases = frozenset(pairwise(self.asked.order))
        self._likeness, self._likeness_near = self._meanings()

    def _meanings(self) -> tuple[list[float], list[float]]:
        """How like the question each piece is as a whole, by word vectors: alone, and with what it leans on."""
        asked, *told = meanings([self.asked.order, *(w.order for w in self.words)])
        alone = np.array(told, dtype=np.float32).reshape(-1, asked.size)
        leads = np.array(self._leads, dtype=np.int64)
        near = alone + np.where((leads >= 0)[:, None], alone[leads] if leads.size else alone, 0)
        return _cosines(alone, asked), _cosines(near, asked)

    def _local_weights(self) -> list[float]:
        count = max(1, len(self.pieces))
        weights = []
        for i, term in enumerate(self.inquiry.terms):
            frequency = sum(row[i][0] > 0.5 for row in self.matches)
            weights.append(term.weight * math.log(1 + count / (frequency + 0.5)))
        return weights

    def held_by(self, passage: int) -> list[float]:
        """How far a passage with its headings holds each term."""
        held = list(self.titles[passage])
        # A name that stands in code only, such as the host of an address, is not what the passage speaks of.
        plain_names = [t.name and t.stem.isalpha() for t in self.inquiry.terms]
        for piece, found in zip(self.pieces, self.matches, strict=True):
            if piece.passage == passage:
                code = piece.kind == "code"
                held = [
                    h if code and named else max(h, share)
                    for h, (share, _), named in zip(held, found, plain_names, strict=True)
                ]
        return held

    def row(self, index: int) -> Row:
        inquiry, piece, text = self.inquiry, self.pieces[index], self.words[index]
        found = self.matches[index]
        held = tuple([share for share, _ in found])
        exact = [float(share == 1.0) for share in held]
        before = self._before(index)
        near = tuple(map(max, held, before)) if before else held
        headings = list(map(max, near, self.titles[piece.passage], self._sections[piece.section]))
        coverage = share_of(held, self._weights)
        in_context = share_of(near, self._weights)
        asked_for = wanted(inquiry.kind, piece, self.asked)
        fresh = len({w for w in text.order if w not in self.asked and w not in STOPWORDS})
        after = self._after(index)
        values = (
            coverage,
            share_of(exact, self._weights),
            share_of(held, self._rare),
            share_of(held, self._local),
            in_context - coverage,
            share_of(list(map(max, held, after)), self._weights) - coverage if after else 0.0,
            share_of(headings, self._weights) - in_context,
            _pairs(found),
            share_of(held, self._names, 0.5),
            share_of(held, self._numbers, 0.5),
            asked_for,
            asked_for * coverage,
            closer(inquiry.text, piece.text),
            self._beside_terms(index),
            math.log(1 + min(fresh, 40)) / math.log(41),
            max(defines(piece, inquiry.subject), _OPENS * self._opens(index)),
            self._trigram_share(text),
            self._likeness[index],
            self._likeness_near[index],
            len(self._phrases.intersection(pairwise(text.order))) / max(1, len(self._phrases)),
            (in_context - coverage) * dangling(piece.text),
        )
        return Row(values, held, near)

    def _opens(self, index: int) -> float:
        """How far a piece is the first sentence under a heading that names what is to be explained."""
        piece = self.pieces[index]
        first = (
            index == 0 or self.pieces[index - 1].passage != piece.passage or self.pieces[index - 1].kind == "heading"
        )
        if not first or piece.kind != "sentence" or piece.text.endswith(":"):
            return 0.0
        heading = piece.section or self._headings[piece.passage]
        named = names(_ARGUMENTS.sub("", heading), self.inquiry.subject)
        return named if named > _MOSTLY else 0.0

    def _before(self, index: int) -> list[float]:
        """What the sentence just before holds; for an item or row, what announces its list or table."""
        lead = self._leads[index]
        return [share for share, _ in self.matches[lead]] if lead >= 0 else []

    def _after(self, index: int) -> list[float]:
        after = index + 1
        if after >= len(self.pieces) or self.pieces[after].passage != self.pieces[index].passage:
            return []
        return [share for share, _ in self.matches[after]]

    def _beside_terms(self, index: int) -> float:
        """How close a new number (asked for a count or time) or name (asked for anything else) stands to a term."""
        tokens = words(without_targets(self.pieces[index].text))
        numeric = self.inquiry.kind in ("count", "time")
        new = [
            at
            for at, token in enumerate(tokens)
            if (token[0].isdigit() if numeric else at > 0 and token[0].isupper())
            and forms_of(token)[0] not in self.asked
            and token.lower() not in STOPWORDS
        ]
        places = [at for _, ats in self.matches[index] for at in ats]
        if not new or not places:
            return 0.0
        return 1.0 / min(abs(a - b) + 1 for a in new for b in places)

    def _trigram_share(self, text: Words) -> float:
        if not self._trigrams:
            return 0.0
        mine = set().union(*(_trigrams(w) for w in text.order if w not in STOPWORDS))
        return len(self._trigrams & mine) / len(self._trigrams)

    def turned(self, index: int) -> float:
        """1 when the piece says the opposite word of one asked; 0.5 when only one of the two is negated."""
        text = self.words[index]
        for term, (share, _) in zip(self.inquiry.terms, self.matches[index], strict=True):
            if share < 1 and any(o in text for o in opposites(term.stem)):
                return 1.0
        return 0.5 * (bool(NEGATION.search(self.pieces[index].text)) != self.inquiry.negated)


def _pairs(found: Sequence[Match]) -> float:
    """Share of neighbouring terms of the question that stand within three words of each other here."""
    if len(found) < 2:
        return 0.5
    close = sum(any(abs(a - b) <= 3 for a in one for b in other) for (_, one), (_, other) in pairwise(found))
    return close / (len(found) - 1)


def _cosines(rows: NDArray[np.float32], one: NDArray[np.float32]) -> list[float]:
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(one)
    found: list[float] = (rows @ one / np.maximum(lengths, 1e-9)).tolist()
    return found


@lru_cache(maxsize=32768)
def _trigrams(word: str) -> frozenset[str]:
    padded = f" {word} "
    return frozenset([padded[i : i + 3] for i in range(len(padded) - 2)])


def share_of(held: Sequence[float], weights: Sequence[float], empty: float = 0.0) -> float:
    total = sum(weights)
    return sum(map(mul, held, weights)) / total if total else empty
