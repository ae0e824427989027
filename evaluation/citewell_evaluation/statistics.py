"""Statistics of evaluations: intervals, rankings, thresholds and calibration. Pure, and the same in every run.

Bootstrap intervals draw with a fixed seed, so that the same data gives the same bytes.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from citewell_evaluation import Figure

SEED = 20260101
SAMPLES = 1000

Floats = NDArray[np.float64]


def mean(values: Sequence[float]) -> float:
    return float(np.mean(values)) if len(values) else math.nan


def percentile(values: Sequence[float], share: float) -> float:
    """`share` from 0 to 100, between neighbours by straight line."""
    return float(np.percentile(values, share)) if len(values) else math.nan


def bootstrap_mean(values: Sequence[float], *, samples: int = SAMPLES, seed: int = SEED) -> Figure:
    """The mean with its 95 % interval."""
    data = np.asarray(values, dtype=np.float64)
    if data.size == 0:
        return Figure(math.nan)
    means = np.array([data[drawn].mean() for drawn in _draws(data.size, samples, seed)])
    return _figure(float(data.mean()), means)


def bootstrap(
    statistic: Callable[..., float],
    *columns: Sequence[float] | Sequence[bool],
    samples: int = SAMPLES,
    seed: int = SEED,
) -> Figure:
    """A statistic of parallel columns with its 95 % interval: whole items are drawn, so that pairs stay together."""
    arrays = [np.asarray(column) for column in columns]
    if arrays[0].size == 0:
        return Figure(math.nan)
    drawn = [statistic(*(array[rows] for array in arrays)) for rows in _draws(arrays[0].size, samples, seed)]
    return _figure(statistic(*arrays), np.array([value for value in drawn if not math.isnan(value)]))


def _draws(size: int, samples: int, seed: int) -> list[NDArray[np.int64]]:
    random = np.random.default_rng(seed)
    return [random.integers(0, size, size) for _ in range(samples)]


def _figure(value: float, drawn: Floats) -> Figure:
    if drawn.size == 0:
        return Figure(value)
    low, high = np.percentile(drawn, [2.5, 97.5])
    return Figure(value, float(low), float(high))


def auroc(scores: Sequence[float] | Floats, labels: Sequence[bool] | NDArray[np.bool_]) -> float:
    """The share of pairs (one true, one false) that the score puts in order; ties count half. NaN without a pair."""
    values, truth = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=bool)
    positives, negatives = int(truth.sum()), int((~truth).sum())
    if not positives or not negatives:
        return math.nan
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks = (last - (counts - 1) / 2)[place]
    return float((ranks[truth].sum() - positives * (positives + 1) / 2) / (positives * negatives))


def balanced_accuracy(decided: Sequence[bool] | NDArray[np.bool_], labels: Sequence[bool] | NDArray[np.bool_]) -> float:
    """The mean of the shares that are right among the true and among the false."""
    choice, truth = np.asarray(decided, dtype=bool), np.asarray(labels, dtype=bool)
    if truth.all() or not truth.any():
        return math.nan
    return float((choice[truth].mean() + (~choice[~truth]).mean()) / 2)


@dataclass(frozen=True, slots=True)
class Bin:
    """Answers whose stated probability fell into one range."""

    low: float
    high: float
    count: int
    stated: float
    observed: float


def reliability(probabilities: Sequence[float], labels: Sequence[bool], *, bins: int = 10) -> list[Bin]:
    """Equal ranges from 0 to 1; empty ones are left out."""
    values, truth = np.asarray(probabilities, dtype=np.float64), np.asarray(labels, dtype=np.float64)
    place = np.minimum((values * bins).astype(int), bins - 1)
    return [
        Bin(i / bins, (i + 1) / bins, int(chosen.sum()), float(values[chosen].mean()), float(truth[chosen].mean()))
        for i in range(bins)
        if (chosen := place == i).any()
    ]


def calibration_error(
    probabilities: Sequence[float] | Floats, labels: Sequence[bool] | NDArray[np.bool_], *, bins: int = 10
) -> float:
    """Expected calibration error: how far stated and observed lie apart, weighted by how often it was stated."""
    found = reliability(list(probabilities), list(labels), bins=bins)
    total = sum(b.count for b in found)
    return sum(b.count * abs(b.stated - b.observed) for b in found) / total if total else math.nan


def calibration_by_chance(probabilities: Sequence[float], *, bins: int = 10, samples: int = 200) -> float:
    """The calibration error that exactly right probabilities show on average, because there are only so many items."""
    values = np.asarray(probabilities, dtype=np.float64)
    if values.size == 0:
        return math.nan
    random = np.random.default_rng(SEED)
    return mean([calibration_error(values, random.random(values.size) < values, bins=bins) for _ in range(samples)])


@dataclass(frozen=True, slots=True)
class OperatingPoint:
    threshold: float
    precision: float
    recall: float


def precision_recall(scores: Sequence[float], labels: Sequence[bool], *, steps: int = 100) -> list[OperatingPoint]:
    """Precision and recall when everything at or above the threshold is taken. Nothing taken: precision 1."""
    values, truth = np.asarray(scores, dtype=np.float64), np.asarray(labels, dtype=bool)
    total = int(truth.sum())
    points = []
    for threshold in np.linspace(0.0, 1.0, steps + 1):
        taken = values >= threshold
        right = int((taken & truth).sum())
        precision = right / int(taken.sum()) if taken.any() else 1.0
        points.append(OperatingPoint(float(threshold), precision, right / total if total else math.nan))
    return points


def ndcg(ranked: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    """nDCG@k with linear gains, as BEIR and trec_eval count it."""
    gained = sum(relevant.get(doc, 0.0) / math.log2(i + 2) for i, doc in enumerate(ranked[:k]))
    ideal = sum(gain / math.log2(i + 2) for i, gain in enumerate(sorted(relevant.values(), reverse=True)[:k]))
    return gained / ideal if ideal else 0.0


def recall(ranked: Sequence[str], relevant: Mapping[str, float], k: int) -> float:
    wanted = {doc for doc, gain in relevant.items() if gain > 0}
    return len(wanted & set(ranked[:k])) / len(wanted) if wanted else 0.0


def reciprocal_rank(ranked: Sequence[str], relevant: Mapping[str, float]) -> float:
    return next((1 / (i + 1) for i, doc in enumerate(ranked) if relevant.get(doc, 0.0) > 0), 0.0)


def growth_exponent(sizes: Sequence[float], costs: Sequence[float]) -> float:
    """The slope in a log-log plot: 1 is linear, 0 constant, 2 quadratic."""
    slope, _ = np.polyfit(np.log(np.asarray(sizes, dtype=np.float64)), np.log(np.asarray(costs, dtype=np.float64)), 1)
    return float(slope)
