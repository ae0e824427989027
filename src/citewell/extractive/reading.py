"""Passages read for a question: every sentence, list item, table row and code block gets a score. Pure and fast."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass

from citewell.confidence import Features
from citewell.extractive.inquiry import Inquiry, inquire
from citewell.extractive.pieces import Numbered, Piece, cut
from citewell.extractive.signals import SIGNALS, Row, Surroundings, share_of

# Fitted on SQuAD 2.0 (docs/decisions/0009). Two are set by hand, because that set has no headings and few definitions:
# "headings" and "defines".
_INTERCEPT = -3.771
_WEIGHTS: dict[str, float] = {
    "coverage": 1.434,
    "exact_coverage": 1.213,
    "rare_coverage": 0.65,
    "local_coverage": 1.205,
    "context": 2.408,
    "next_context": 0.807,
    "headings": 1.6,
    "pairs": 0.457,
    "names": -0.766,
    "numbers": -0.16,
    "wanted": 0.67,
    "wanted_near": 0.549,
    "closer": 0.231,
    "beside": 0.364,
    "length": -0.743,
    "defines": 3,
    "trigrams": 1.346,
}
# Where one passage is all there is. Among several, the passages' cosines have told the meaning, and these signals made
# some of the demo book's answers worse.
_INTERCEPT_IN_ONE = -4.423
_WEIGHTS_IN_ONE: dict[str, float] = {
    **_WEIGHTS,
    "meaning": 0.42,
    "meaning_near": 0.681,
    "phrases": 0.533,
    "leaning": 0.81,
}
_NO_OTHER = 0.3
"""What the cosine of other passages is taken for where nothing was searched: about where searching stops."""
_PASSAGE = 1.5
"""How much a passage's cosine, against the best one's, moves its pieces."""
_RANK = 2.0
"""The same for its place in the ranking, which has its words too."""
_OF_THAT_NUMBER = 1.0
_OF_ANOTHER_NUMBER = -2.0
_BEGINNING = 0.9
"""What a text's first sentence is worth when the whole text is asked after, and each next one against it."""


@dataclass(frozen=True, slots=True)
class Scored:
    piece: Piece
    score: float
    """0–1: how likely this piece holds the answer, among its neighbours."""
    row: Row


@dataclass(frozen=True, slots=True)
class Reading:
    """A question read against its passages."""

    inquiry: Inquiry
    passages: tuple[Numbered, ...]
    scored: tuple[Scored, ...]
    """In reading order; headings score 0."""
    features: Features
    headed: tuple[tuple[float, ...], ...] = ()
    """For each passage how far its headings hold each term of the question."""

    @property
    def ranked(self) -> list[Scored]:
        """Best first; what stands earlier wins a tie."""
        return sorted((s for s in self.scored if s.score > 0), key=lambda s: -s.score)


def read(question: str, passages: Sequence[Numbered], *, earlier: str = "", background: float = _NO_OTHER) -> Reading:
    """Score every piece of the passages for the question.

    `earlier` is the reader's question before it, if any; `background` the cosine of passages that do not answer.
    """
    inquiry = inquire(question, earlier)
    pieces = cut(passages)
    around = Surroundings(inquiry, passages, pieces)
    if inquiry.about_text and len(passages) == 1:
        return _read_itself(inquiry, passages, pieces, around)
    best_cosine = max((p.score for p in passages), default=0.0)
    best_rank = max((p.rank for p in passages), default=0.0)
    scored = []
    for index, piece in enumerate(pieces):
        row = around.row(index)
        score = 0.0
        if piece.kind != "heading" and inquiry.terms:
            home = passages[piece.passage]
            prior = _PASSAGE * (home.score - best_cosine) + _RANK * (home.rank - best_rank)
            prior += _by_form(inquiry, piece) + _by_number(inquiry, piece)
            score = _logistic(logit(row, alone=len(passages) == 1) + prior)
        scored.append(Scored(piece, score, row))
    features = _features(inquiry, passages, scored, around, background)
    return Reading(inquiry, tuple(passages), tuple(scored), features, tuple(tuple(t) for t in around.titles))


def _read_itself(
    inquiry: Inquiry, passages: Sequence[Numbered], pieces: Sequence[Piece], around: Surroundings
) -> Reading:
    """ "Explain this": a text begins with what it is about, and there is nothing that it could lack."""
    worth, scored = 1.0, []
    for index, piece in enumerate(pieces):
        worth *= 1.0 if piece.kind == "heading" else _BEGINNING
        scored.append(Scored(piece, 0.0 if piece.kind == "heading" else worth, around.row(index)))
    return Reading(inquiry, tuple(passages), tuple(scored), Features(), tuple(tuple(t) for t in around.titles))


def _by_number(inquiry: Inquiry, piece: Piece) -> float:
    """ "Module 2" is asked after: a piece that speaks of module 1 is about something else."""
    verdict = 0.0
    for noun, number in inquiry.numbered:
        found = {m.group(1) for m in re.finditer(rf"\b{re.escape(noun)}s?\s+(\d+)\b", piece.text, re.IGNORECASE)}
        if found:
            verdict += _OF_THAT_NUMBER if number in found else _OF_ANOTHER_NUMBER
    return verdict


def _by_form(inquiry: Inquiry, piece: Piece) -> float:
    """What the form of a piece says before its words are looked at."""
    if piece.kind == "code":
        body = piece.text.split("\n", 2)
        fragment = len(body) > 1 and body[1][:1].isspace() and not piece.text[:1].isspace()
        wanted = inquiry.kind in ("procedure", "command")
        return (-0.2 if wanted else -2.0) - 1.5 * fragment - 0.02 * min(25, piece.text.count("\n"))
    if piece.kind == "row":
        return -0.4
    if piece.kind == "formula":
        return -3.0
    if piece.kind == "item" and piece.sign[:1].isdigit() and inquiry.kind != "procedure":
        return -0.6
    return 0.0


def logit(row: Row, *, alone: bool = False) -> float:
    """`alone`: no other passage is read beside this one."""
    intercept, weights = (_INTERCEPT_IN_ONE, _WEIGHTS_IN_ONE) if alone else (_INTERCEPT, _WEIGHTS)
    return intercept + sum(weights.get(name, 0.0) * value for name, value in zip(SIGNALS, row.values, strict=True))


def _logistic(x: float) -> float:
    return 1.0 / (1.0 + math.exp(-min(max(x, -30.0), 30.0)))


def _features(
    inquiry: Inquiry,
    passages: Sequence[Numbered],
    scored: Sequence[Scored],
    around: Surroundings,
    background: float,
) -> Features:
    ranked = sorted((s for s in scored if s.score > 0), key=lambda s: -s.score)
    if not ranked or not passages:
        return Features()
    best = ranked[0]
    place = next(i for i, s in enumerate(scored) if s is best)
    terms = inquiry.terms
    weights = [t.weight for t in terms]
    held = [around.held_by(i) for i in range(len(passages))]
    home = held[best.piece.passage]
    scores = sorted((p.score for p in passages), reverse=True)
    anywhere = [max(column) for column in zip(*held, strict=True)]
    names = [i for i, t in enumerate(terms) if t.name]
    numbers = [i for i, t in enumerate(terms) if t.number]
    named = dict(zip(SIGNALS, best.row.values, strict=True))
    return Features(
        top_score=scores[0],
        score_gap=max(0.0, scores[0] - background),
        home_score=passages[best.piece.passage].score,
        top_bm25=max(p.bm25 for p in passages) / (10.0 * inquiry.total_weight),
        agreeing=sum(share_of(row, weights) >= 0.7 for row in held) / len(passages),
        best=best.score,
        margin=best.score - ranked[1].score if len(ranked) > 1 else best.score,
        piece_coverage=named["coverage"],
        passage_coverage=share_of(home, weights),
        all_coverage=share_of(anywhere, weights),
        names_found=min((home[i] for i in names), default=1.0),
        numbers_found=sum(best.row.held[i] + home[i] for i in numbers) / (2 * len(numbers)) if numbers else 1.0,
        missing=max((t.weight for t, near in zip(terms, best.row.near, strict=True) if near < 0.5), default=0.0),
        names_missing=sum(best.row.held[i] < 0.9 for i in names) / 3,
        absent=max((t.weight**2 for t, share in zip(terms, anywhere, strict=True) if share < 0.6), default=0.0),
        names_absent=float(any(anywhere[i] < 0.9 for i in names)),
        kind_found=named["wanted"],
        turned=around.turned(place),
        negated=float(inquiry.negated),
        length=min(1.0, len(terms) / 10),
    )
