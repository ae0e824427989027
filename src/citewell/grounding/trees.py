"""A sum of small decision trees: the fitted model of the judge, read from its file and asked in microseconds."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float32]


class TreeData(TypedDict):
    """A tree as it stands in the file, features by their names."""

    asks: list[str]
    at_most: list[float]
    leaves: list[float]


@dataclass(frozen=True, slots=True)
class Trees:
    """Each tree asks one question and, after it, one of two; it has four leaves. At most the threshold goes left."""

    bias: float
    columns: NDArray[np.int64]
    """Trees by three questions: the feature."""
    thresholds: FloatArray
    leaves: FloatArray

    @classmethod
    def read(cls, bias: float, trees: Sequence[TreeData], names: Sequence[str]) -> "Trees":
        place = {name: i for i, name in enumerate(names)}
        return cls(
            bias,
            np.array([[place[name] for name in tree["asks"]] for tree in trees], dtype=np.int64),
            np.array([tree["at_most"] for tree in trees], dtype=np.float32),
            np.array([tree["leaves"] for tree in trees], dtype=np.float32),
        )

    def score(self, row: FloatArray) -> float:
        """Log odds."""
        right = row[self.columns] > self.thresholds
        second = np.where(right[:, 0], right[:, 2], right[:, 1])
        return self.bias + float(self.leaves[np.arange(len(right)), 2 * right[:, 0] + second].sum())
