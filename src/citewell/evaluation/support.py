"""How well the support judge tells supported claims from others, and the fitting of its model. Pure but for files.

`python -m citewell.evaluation.support DATASET...` measures on the half that is not used for fitting;
`python -m citewell.evaluation.support --fit OUT.json DATASET...` fits on the other half and writes the model.
"""

import hashlib
import json
import re
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from citewell.evaluation.boosting import Booster, Boosting
from citewell.grounding.alignment import align
from citewell.grounding.claims import read
from citewell.grounding.evidence import prepared
from citewell.grounding.features import FEATURES, features
from citewell.grounding.support import BuiltinJudge, SupportJudge
from citewell.grounding.trees import TreeData

FloatArray = NDArray[np.float64]
Interval = tuple[float, float]
_ROUNDS: Final = 1000
_WEIGHT_OF_A_SET: Final = 600.0


@dataclass(frozen=True, slots=True)
class SupportCase:
    id: str
    claim: str
    passages: tuple[str, ...]
    supported: bool

    @property
    def fitted_on(self) -> bool:
        """Half of the cases, by their id, are for fitting; figures are of the other half."""
        return hashlib.sha256(self.id.encode()).digest()[-1] % 2 == 0


@dataclass(frozen=True, slots=True)
class SupportFigures:
    """Intervals are 95 %, by bootstrap. Times are of the thread's own CPU."""

    cases: int
    balanced_accuracy: float
    balanced_interval: Interval
    auroc: float
    auroc_interval: Interval
    recall: float
    false_passes: float
    median_ms: float
    """For a sentence whose passages were prepared when they were shown."""
    prepare_ms: float
    """For the passages of a case, once."""


def read_cases(path: Path) -> Iterator[SupportCase]:
    for line in path.read_text("utf-8").splitlines():
        item = json.loads(line)
        claim = re.sub(r"\s*\[\d+\]", "", item["claim"])
        yield SupportCase(item["id"], claim, tuple(item["evidence"]), item["supported"])


def measure_support(path: Path, judge: SupportJudge, *, held_out: bool = True) -> SupportFigures:
    """Evidence of several pieces is judged as one passage: the claim was made from all of them."""
    cases = [c for c in read_cases(path) if not (held_out and c.fitted_on)]
    truth = np.array([c.supported for c in cases])
    scores, verdicts, times, preparing = [], [], [], []
    for case in cases:
        whole = "\n\n".join(case.passages)
        started = time.thread_time()
        prepared(whole)
        shown = time.thread_time()
        found = judge.judge(case.claim, [whole])
        times.append(time.thread_time() - shown)
        preparing.append(shown - started)
        scores.append(found.score)
        verdicts.append(found.supported)
    said, score = np.array(verdicts), np.array(scores)
    return SupportFigures(
        len(cases),
        balanced_accuracy(truth, said.astype(np.float64)),
        interval(balanced_accuracy, truth, said.astype(np.float64)),
        auroc(truth, score),
        interval(auroc, truth, score),
        float(said[truth].mean()),
        float(said[~truth].mean()),
        float(np.median(times)) * 1000,
        float(np.median(preparing)) * 1000,
    )


def balanced_accuracy(truth: NDArray[np.bool_], said: FloatArray) -> float:
    return float((said[truth].mean() + (1 - said[~truth]).mean()) / 2)


def auroc(truth: NDArray[np.bool_], score: FloatArray) -> float:
    """The chance that a supported claim scores above an unsupported one; ties count half."""
    _, inverse, counts = np.unique(score, return_inverse=True, return_counts=True)
    ranks = (np.cumsum(counts) - (counts - 1) / 2)[inverse]
    positives = int(truth.sum())
    return float((ranks[truth].sum() - positives * (positives + 1) / 2) / (positives * (len(truth) - positives)))


def interval(
    figure: Callable[[NDArray[np.bool_], FloatArray], float], truth: NDArray[np.bool_], values: FloatArray
) -> Interval:
    random = np.random.default_rng(0)
    drawn = []
    for _ in range(_ROUNDS):
        sample = random.integers(0, len(truth), len(truth))
        if truth[sample].any() and not truth[sample].all():
            drawn.append(figure(truth[sample], values[sample]))
    low, high = np.percentile(drawn, [2.5, 97.5])
    return float(low), float(high)


def fit(paths: Sequence[Path], how: Boosting) -> tuple[float, list[TreeData]]:
    """Trees; each set counts the same, and so do the two classes within a set."""
    rows, labels, weights = [], [], []
    for path in paths:
        cases = [c for c in read_cases(path) if c.fitted_on]
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


def _row(case: SupportCase) -> FloatArray | None:
    alignment = align(read(case.claim), prepared("\n\n".join(case.passages)))
    return None if alignment is None else features(alignment).astype(np.float64)


def _written(paths: Sequence[Path]) -> str:
    """The model as JSON with a tree on each line."""
    note = {"sets": [p.stem for p in paths], "half": "ids whose SHA-256 is even", "how": asdict(Boosting())}
    bias, trees = fit(paths, Boosting())
    text = json.dumps({"fitted_on": note, "bias": bias, "trees": None}, indent=2)
    lines = ",\n".join("    " + json.dumps(tree) for tree in trees)
    return text.replace('"trees": null', f'"trees": [\n{lines}\n  ]') + "\n"


def main(argv: Sequence[str]) -> None:
    if argv and argv[0] == "--fit":
        out, paths = Path(argv[1]), [Path(a) for a in argv[2:]]
        out.write_text(_written(paths), "utf-8")
        return
    means = []
    for name in argv:
        f = measure_support(Path(name), BuiltinJudge())
        means.append(f.balanced_accuracy)
        print(
            f"{Path(name).stem:12} n={f.cases} balanced accuracy {f.balanced_accuracy:.3f} "
            f"[{f.balanced_interval[0]:.3f}, {f.balanced_interval[1]:.3f}], AUROC {f.auroc:.3f} "
            f"[{f.auroc_interval[0]:.3f}, {f.auroc_interval[1]:.3f}], recall {f.recall:.3f}, "
            f"false passes {f.false_passes:.3f}, {f.median_ms:.2f} ms a sentence, {f.prepare_ms:.2f} ms to prepare"
        )
    print(f"mean balanced accuracy {sum(means) / len(means):.3f}")


if __name__ == "__main__":
    main(sys.argv[1:])
