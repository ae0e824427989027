"""How likely an answer is right and supported: a logistic model over what retrieval and reading saw. Pure.

The weights are data (`assets/confidence.json`), fitted by `citewell calibrate`; this module only applies them.
"""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from importlib import resources
from typing import Self

from citewell.errors import ConfigurationError
from citewell.models import ConfidenceLevel

ANSWER_FROM = 0.4
"""Below this probability the question is refused, whichever model would answer it."""


@dataclass(frozen=True, slots=True)
class Features:
    """What is known about a question and its passages before a word is written. All finite; most within 0–1."""

    top_score: float = 0.0
    """The best cosine of a passage; 1 in a selection, where nothing was searched."""
    score_gap: float = 0.0
    """How far the best cosine stands above that of passages which do not answer."""
    home_score: float = 0.0
    """The cosine of the passage that the best sentence stands in."""
    top_bm25: float = 0.0
    """The best BM25 score for each unit of the question's own weight, so that long questions do not look better."""
    agreeing: float = 0.0
    """Share of the passages that hold most of the question's words."""
    best: float = 0.0
    """The reader's own score of the best sentence, row or code block."""
    margin: float = 0.0
    """How far the best stands above the next."""
    piece_coverage: float = 0.0
    """Share of the question's words, by weight, that the best piece holds."""
    passage_coverage: float = 0.0
    """The same for the best piece's passage with its headings."""
    all_coverage: float = 0.0
    """The same for all passages together."""
    names_found: float = 0.0
    """How far the best piece's passage holds the name of the question that it holds least; 1 without any."""
    numbers_found: float = 0.0
    """Share of the numbers of the question that the best piece and its passage hold; 1 without any."""
    missing: float = 0.0
    """The weight of the weightiest word of the question that neither the best piece nor what announces it holds."""
    names_missing: float = 0.0
    """How many names of the question the best piece lacks, in threes."""
    absent: float = 0.0
    """The weight, squared, of the weightiest word of the question that no passage holds."""
    names_absent: float = 0.0
    """1 when a name of the question stands in no passage."""
    kind_found: float = 0.0
    """Whether the best piece holds what the question asks for: a number, a date, a name, a reason, steps."""
    turned: float = 0.0
    """1 when question and best piece differ in a negation or in a word against its opposite."""
    negated: float = 0.0
    """1 when the question asks for what is not so."""
    length: float = 0.0
    """Words of meaning in the question, in tens, at most 1."""


FEATURE_NAMES = tuple(f.name for f in fields(Features))


@dataclass(frozen=True, slots=True)
class Logistic:
    """A fitted model: `intercept` plus the weighted sum of the features, through the logistic function."""

    intercept: float
    weights: Mapping[str, float]

    def probability(self, features: Features) -> float:
        total = self.intercept + sum(w * getattr(features, name) for name, w in self.weights.items())
        return 1.0 / (1.0 + math.exp(-min(max(total, -30.0), 30.0)))


class Confidence:
    """The two fitted models: one for a whole index, one for a selection."""

    def __init__(self, *, general: Logistic, confined: Logistic) -> None:
        self._general = general
        self._confined = confined

    @classmethod
    def load(cls) -> Self:
        """The model that ships with Citewell."""
        return cls.parse((resources.files("citewell") / "assets" / "confidence.json").read_text("utf-8"))

    @classmethod
    def parse(cls, text: str) -> Self:
        """A model from the JSON that `citewell calibrate` writes."""
        data = json.loads(text)
        return cls(general=_logistic(data, "general"), confined=_logistic(data, "confined"))

    def probability(self, features: Features, *, confined: bool) -> float:
        """`confined`: the evidence is the reader's selection, nothing was searched."""
        return (self._confined if confined else self._general).probability(features)


def _logistic(data: Mapping[str, Mapping[str, object]], mode: str) -> Logistic:
    try:
        intercept, weights = data[mode]["intercept"], data[mode]["weights"]
    except (KeyError, TypeError) as error:
        raise ConfigurationError(f"The confidence model has no {mode!r} part; run `citewell calibrate`.") from error
    if not isinstance(intercept, int | float) or not isinstance(weights, dict):
        raise ConfigurationError(f"The {mode!r} part of the confidence model is malformed; run `citewell calibrate`.")
    if unknown := sorted(set(weights) - set(FEATURE_NAMES)):
        raise ConfigurationError(f"The confidence model weighs unknown features: {', '.join(unknown)}.")
    return Logistic(float(intercept), {name: float(weight) for name, weight in weights.items()})


def level_of(probability: float) -> ConfidenceLevel:
    if probability >= 0.8:
        return "high"
    if probability >= 0.6:
        return "medium"
    return "low" if probability >= ANSWER_FROM else "insufficient"
