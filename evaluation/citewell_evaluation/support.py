"""The fitting of the support judge's model on half of the claims. `citewell eval support` measures on the other half.

`python -m citewell_evaluation.support OUT.json DATASET...` writes the model.
"""

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from citewell.grounding.alignment import align
from citewell.grounding.claims import read
from citewell.grounding.evidence import prepared
from citewell.grounding.features import FEATURES, features
from citewell.grounding.trees import TreeData
from citewell_evaluation.boosting import Booster, Boosting
from citewell_evaluation.datasets import Claim, read_claims

FloatArray = NDArray[np.float64]
_WEIGHT_OF_A_SET: Final = 600.0


def fit(paths: Sequence[Path], how: Boosting) -> tuple[float, list[TreeData]]:
    """Trees; each set counts the same, and so do the two classes within a set."""
    rows, labels, weights = [], [], []
    for path in paths:
        cases = [c for c in read_claims(path) if c.fitted_on]
        found = [(c.supported, row) for c in cases if (row := _row(c)) is not None]
        truth = np.array([supported for supported, _ in found], dtype=np.float64)
        rows.append(np.array([row for _, row in found]))
        labels.append(truth)
        balance = np.where(truth == 1, 0.5 / truth.mean(), 0.5 / (1 - truth.mean()))
        weights.append(balance * _WEIGHT_OF_A_SET / len(truth))
    x, y, w = np.concatenate(rows), np.concatenate(labels), np.concatenate(weights)
    bias, trees = Booster(x, tuple(FEATURES.values()), how).fit(y, w)
    names = tuple(FEATURES)
    return round(bias, 5), [
        {"asks": [names[a] for a in t.asks], "at_most": [round(v, 5) for v in t.at_most], "leaves": list(t.leaves)}
        for t in trees
    ]


def _row(case: Claim) -> FloatArray | None:
    alignment = align(read(case.claim), prepared("\n\n".join(case.evidence)))
    return None if alignment is None else features(alignment).astype(np.float64)


def _written(paths: Sequence[Path]) -> str:
    """The model as JSON with a tree on each line."""
    note = {"sets": [p.stem for p in paths], "half": "ids whose SHA-256 is even", "how": asdict(Boosting())}
    bias, trees = fit(paths, Boosting())
    text = json.dumps({"fitted_on": note, "bias": bias, "trees": None}, indent=2)
    lines = ",\n".join("    " + json.dumps(tree) for tree in trees)
    return text.replace('"trees": null', f'"trees": [\n{lines}\n  ]') + "\n"


def main(argv: Sequence[str]) -> None:
    out, *paths = (Path(argument) for argument in argv)
    out.write_text(_written(paths), "utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
