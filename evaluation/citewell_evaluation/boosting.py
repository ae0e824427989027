"""Fits the judge's trees: gradient boosting of two-level trees, each feature allowed to speak in one direction only.

The directions keep it from learning the habits of one set of claims. Deterministic; numpy only.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
_BINS: Final = 32
_NEVER: Final = 1e9
"""A threshold that everything is under: the question is not asked."""


@dataclass(frozen=True, slots=True)
class Boosting:
    trees: int = 160
    rate: float = 0.06
    ridge: float = 5.0
    least: int = 30
    """Cases in a leaf."""
    share: float = 0.3
    """Of the features that a tree may ask."""


@dataclass(frozen=True, slots=True)
class Tree:
    asks: tuple[int, int, int]
    at_most: tuple[float, float, float]
    leaves: tuple[float, float, float, float]

    def values(self, x: FloatArray) -> FloatArray:
        right = x[:, self.asks[0]] > self.at_most[0]
        second = np.where(right, x[:, self.asks[2]] > self.at_most[2], x[:, self.asks[1]] > self.at_most[1])
        found: FloatArray = np.array(self.leaves)[2 * right + second]
        return found


@dataclass(frozen=True, slots=True)
class _Split:
    column: int
    threshold: float
    gain: float
    left: float
    right: float


class Booster:
    """Grows trees on one table of cases. `signs` are the directions of the features."""

    def __init__(self, x: FloatArray, signs: Sequence[int], how: Boosting) -> None:
        self._x, self._signs, self._how = x, signs, how
        quantiles = np.linspace(0, 1, _BINS + 1)[1:-1]
        self._cuts = [np.unique(np.quantile(column, quantiles)) for column in x.T]
        self._binned = [np.searchsorted(cuts, column) for cuts, column in zip(self._cuts, x.T, strict=True)]

    def fit(self, y: FloatArray, w: FloatArray) -> tuple[float, list[Tree]]:
        """The bias and the trees whose sum is the log odds."""
        mean = float((w * y).sum() / w.sum())
        bias = float(np.log(mean / (1 - mean)))
        score = np.full(len(y), bias)
        random = np.random.default_rng(0)
        trees = []
        for _ in range(self._how.trees):
            columns = np.flatnonzero(random.random(len(self._signs)) < self._how.share)
            chance = 1 / (1 + np.exp(-score))
            tree = self._tree(w * (chance - y), w * chance * (1 - chance), columns)
            score = score + tree.values(self._x)
            trees.append(tree)
        return bias, trees

    def _tree(self, slope: FloatArray, bend: FloatArray, columns: NDArray[np.int64]) -> Tree:
        everything = np.ones(len(slope), dtype=np.bool_)
        root = self._split(slope, bend, everything, columns, (-np.inf, np.inf))
        if root is None:
            return Tree((0, 0, 0), (_NEVER,) * 3, (0.0,) * 4)
        right = self._x[:, root.column] > root.threshold
        middle, sign = (root.left + root.right) / 2, self._signs[root.column]
        under, over = (-np.inf, middle), (middle, np.inf)
        free = (-np.inf, np.inf)
        left_range, right_range = (under, over) if sign > 0 else (over, under) if sign < 0 else (free, free)
        one = self._split(slope, bend, ~right, columns, left_range)
        two = self._split(slope, bend, right, columns, right_range)
        low = (one.left, one.right) if one else (root.left, root.left)
        high = (two.left, two.right) if two else (root.right, root.right)
        a, b, c, d = (round(float(v) * self._how.rate, 5) for v in (*low, *high))
        return Tree(
            (root.column, one.column if one else root.column, two.column if two else root.column),
            (root.threshold, one.threshold if one else _NEVER, two.threshold if two else _NEVER),
            (a, b, c, d),
        )

    def _split(
        self,
        slope: FloatArray,
        bend: FloatArray,
        inside: BoolArray,
        columns: NDArray[np.int64],
        allowed: tuple[float, float],
    ) -> _Split | None:
        best: _Split | None = None
        for column in columns:
            found = self._cut(int(column), slope[inside], bend[inside], self._binned[column][inside], allowed)
            if found and (best is None or found.gain > best.gain):
                best = found
        return best

    def _cut(
        self, column: int, slope: FloatArray, bend: FloatArray, bins: NDArray[np.int64], allowed: tuple[float, float]
    ) -> _Split | None:
        """The best place to divide the cases by one feature; None when there is none that gains."""
        cuts = self._cuts[column]
        size = len(cuts) + 1
        slopes: FloatArray = np.cumsum(np.bincount(bins, weights=slope, minlength=size)).astype(np.float64)[:-1]
        bends: FloatArray = np.cumsum(np.bincount(bins, weights=bend, minlength=size)).astype(np.float64)[:-1]
        counts = np.cumsum(np.bincount(bins, minlength=size))[:-1]
        ridge, least = self._how.ridge, self._how.least
        all_slope, all_bend = float(slope.sum()), float(bend.sum())
        left = np.clip(-slopes / (bends + ridge), *allowed)
        right = np.clip(-(all_slope - slopes) / (all_bend - bends + ridge), *allowed)
        whole = min(max(-all_slope / (all_bend + ridge), allowed[0]), allowed[1])
        gain = _taken(slopes, bends + ridge, left) + _taken(all_slope - slopes, all_bend - bends + ridge, right)
        gain = gain + all_slope * whole + 0.5 * (all_bend + ridge) * whole * whole
        fair = (counts >= least) & (len(bins) - counts >= least) & ((right - left) * self._signs[column] >= 0)
        if not fair.any():
            return None
        place = int(np.where(fair, gain, -np.inf).argmax())
        if gain[place] <= 1e-9:
            return None
        threshold = float(np.float32(round(float(cuts[place]), 5)))
        return _Split(column, threshold, float(gain[place]), float(left[place]), float(right[place]))


def _taken(slope: FloatArray, bend: FloatArray, value: FloatArray) -> FloatArray:
    """How much a leaf of this value takes off the loss."""
    taken: FloatArray = -(slope * value + 0.5 * bend * value * value)
    return taken
