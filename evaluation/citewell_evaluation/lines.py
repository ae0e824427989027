"""Where the judge's outcomes part, fitted to documentation that was not trained on: `assets/judge.json`.

A lie that is shown is worse than a truth that is dropped: the line is the lowest at which few enough lies pass.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from citewell.inference import ReadingModel
from citewell.judge import Finding, Lines, TrainedJudge
from citewell_evaluation import Progress, quiet
from citewell_evaluation.datasets import Claim, read_held_out
from citewell_evaluation.judging import Measured, compared, findings

MOST_LIES = 0.15
PRECISION = 0.97
"""Of the contradictions between passages that are told."""
_NONE_PASSES = Lines(supported=2.0, conflict=2.0)


@dataclass(frozen=True, slots=True)
class FittedLines:
    lines: Lines
    claims: int
    truths_kept: float
    lies_passed: float
    conflicts_found: float

    def to_json(self, model_sha256: str) -> str:
        rest = {
            "claims": self.claims,
            "truths_kept": self.truths_kept,
            "lies_passed": self.lies_passed,
            "conflicts_found": self.conflicts_found,
        }
        return json.dumps({**asdict(self.lines), "fitted_on": rest, "model_sha256": model_sha256}, indent=2) + "\n"


async def fit_lines(path: Path, conflicts: Path, model: ReadingModel, *, progress: Progress = quiet) -> FittedLines:
    """`path` is the `claims.jsonl.gz` of the training data; only its pages that were not trained on are read.

    `conflicts` are questions with passages that contradict each other or agree.
    """
    cases = read_held_out(path)
    found: list[Finding] = []

    def seen(number: int, finding: Finding, elapsed: float) -> None:
        del elapsed
        found.append(finding)
        progress(number, len(cases), "claims")

    judge = TrainedJudge(model, _NONE_PASSES)
    await findings(cases, judge, seen)
    pairs = await compared(conflicts, Measured(judge, model, _NONE_PASSES), None, progress)
    return fitted(cases, found, [(item.probability or 0.0, bool(item.truth)) for item in pairs])


def fitted(cases: Sequence[Claim], found: Sequence[Finding], pairs: Sequence[tuple[float, bool]]) -> FittedLines:
    """`pairs`: how sure the judge is that two passages contradict each other, and whether they do."""
    scores = np.array([finding.score for finding in found])
    truth = np.array([case.supported for case in cases])
    lies = np.sort(scores[~truth])[::-1]
    supported = float(lies[int(MOST_LIES * len(lies))]) + 1e-4
    conflict, told = _sure_enough(pairs)
    passed = scores >= supported
    return FittedLines(
        Lines(round(supported, 4), round(conflict, 4)),
        len(cases),
        round(float(passed[truth].mean()), 3),
        round(float(passed[~truth].mean()), 3),
        round(told, 3),
    )


def _sure_enough(pairs: Sequence[tuple[float, bool]]) -> tuple[float, float]:
    """The lowest line from which on nearly all pairs do contradict each other, and the share of those found."""
    ranked = sorted(pairs, reverse=True)
    right = np.cumsum([conflicting for _, conflicting in ranked])
    good = np.flatnonzero(right / np.arange(1, len(ranked) + 1) >= PRECISION)
    if not len(good):
        return 1.0, 0.0
    return ranked[good[-1]][0], float(right[good[-1]] / right[-1])
