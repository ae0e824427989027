"""Confidence: how likely an answer is right and supported, a logistic model over what reader and search saw. Pure.

The weights are data (`assets/confidence.json`, or the file that CONFIDENCE_FILE names), fitted by `citewell calibrate`;
this module only applies them.
"""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from importlib import resources
from pathlib import Path
from typing import Self

from citewell.errors import ConfigurationError
from citewell.reader import STEADY, PassageReading, log_odds
from citewell.text import content_stems, words
from citewell.values import ConfidenceLevel, ScoredPassage

ANSWER_FROM = 0.4
"""Below this probability the built-in model refuses."""


@dataclass(frozen=True, slots=True)
class Features:
    """What is known about a question and its passages before a word is written. All finite."""

    answers: float = -STEADY
    """The reader's log-odds that the best passage answers."""
    relevance: float = -STEADY
    """The same for the best sentence, row or block of code in it."""
    gap: float = 0.0
    """How far the best cosine stands above that of passages which do not answer."""
    words: float = 0.0
    """Share of the question's words of meaning that the best passage has, with its headings."""
    names_absent: float = 0.0
    """1 when a name of the question (`HTTP/3`, Kerberos, `max_size`) stands in no passage."""
    place: float = 0.0
    """How many passages the search put before the one that reads best: where the two disagree, one of them errs."""


FEATURE_NAMES = tuple(f.name for f in fields(Features))


def features_of(
    question: str, readings: Sequence[PassageReading], found: Sequence[ScoredPassage], background: float
) -> Features:
    """`background` is the similarity of passages that do not answer; 1 in a selection."""
    if not readings:
        return Features()
    best = max(readings, key=lambda reading: reading.weight)
    asked = set(content_stems(question))
    held = asked & set(content_stems(best.passage.embedded_text))
    return Features(
        answers=log_odds(best.answers),
        relevance=log_odds(best.best),
        gap=max((item.score for item in found), default=0.0) - background,
        words=len(held) / len(asked) if asked else 1.0,
        names_absent=float(_lacks_name(question, [item.passage.embedded_text for item in found])),
        place=float(next((at for at, item in enumerate(found) if item.passage.id == best.passage.id), 0)),
    )


def _lacks_name(question: str, texts: Sequence[str]) -> bool:
    """Whether a name stands nowhere: a word with a capital, a figure or a joint in it. The first has one anyway."""
    said = words(question)
    names = [word for word in said[1:] if word != "I" and (not word.isalpha() or word != word.lower())]
    everything = "\n".join(texts).lower()
    return any(name.lower().removesuffix("'s") not in everything for name in names)


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

    def __init__(self, *, general: Logistic, confined: Logistic, digest: str = "") -> None:
        self._general = general
        self._confined = confined
        self.digest = digest
        """Which fit this is: part of what an answer depends on."""

    @classmethod
    def load(cls, path: Path | None = None) -> Self:
        """The model in this file, or the one that ships with Citewell. Raises ConfigurationError."""
        if path is None:
            return cls.parse((resources.files("citewell") / "assets" / "confidence.json").read_text("utf-8"))
        try:
            return cls.parse(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigurationError(f"CONFIDENCE_FILE: {path} cannot be read ({type(error).__name__}).") from error

    @classmethod
    def parse(cls, text: str) -> Self:
        """A model from the JSON that `citewell calibrate` writes."""
        data = json.loads(text)
        digest = hashlib.sha256(text.encode()).hexdigest()[:16]
        return cls(general=_logistic(data, "general"), confined=_logistic(data, "confined"), digest=digest)

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
