"""How well scores part two kinds."""

from collections.abc import Sequence

import numpy as np


def auroc(labels: Sequence[bool], scores: Sequence[float]) -> float:
    order = np.argsort(np.argsort(scores, kind="stable"), kind="stable") + 1
    truth = np.array(labels)
    positive = int(truth.sum())
    return float((order[truth].sum() - positive * (positive + 1) / 2) / (positive * (len(truth) - positive)))
