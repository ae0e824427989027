"""Where the judge's outcomes part, fitted to documentation that was not trained on: `judge.json`.

A lie that is shown is worse than a truth that is dropped: the line is the lowest at which few enough lies pass.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from citewell.judge import Finding, Lines, TrainedJudge
from citewell.judge.trained import Read, SupportModel
from citewell_evaluation import Progress, quiet
from citewell_evaluation.datasets import Claim, read_claims
from citewell_evaluation.judging import findings

MOST_LIES = 0.09
"""On pages that were held out, two fifths of whose lies differ from a truth in a word or two."""
FALSE_ALARMS = 0.01
"""Share of the claims that are not contradicted which may look so; a conflict has to look so from both sides."""
_NONE_PASSES = Lines(supported=2.0, conflict=2.0)


@dataclass(frozen=True, slots=True)
class FittedLines:
    lines: Lines
    claims: int
    truths_kept: float
    lies_passed: float

    def to_json(self, model_sha256: str) -> str:
        rest = {"claims": self.claims, "truths_kept": self.truths_kept, "lies_passed": self.lies_passed}
        return json.dumps({**asdict(self.lines), "fitted_on": rest, "model_sha256": model_sha256}, indent=2) + "\n"


async def fit_lines(path: Path, model: SupportModel[Read], *, progress: Progress = quiet) -> FittedLines:
    """`path`: claims over pages that were not trained on, as `python -m training.data` writes them."""
    cases = read_claims(path)
    found: list[Finding] = []

    def seen(number: int, finding: Finding, elapsed: float) -> None:
        del elapsed
        found.append(finding)
        progress(number, len(cases), "claims")

    await findings(cases, TrainedJudge(model, _NONE_PASSES), seen)
    return fitted(cases, found)


def fitted(cases: Sequence[Claim], found: Sequence[Finding]) -> FittedLines:
    scores = np.array([finding.score for finding in found])
    truth = np.array([case.supported for case in cases])
    lies = np.sort(scores[~truth])[::-1]
    supported = float(lies[int(MOST_LIES * len(lies))]) + 1e-4
    others = np.array([f.contradicted for f, c in zip(found, cases, strict=True) if c.relation != "contradicted"])
    conflict = float(np.quantile(others, 1 - FALSE_ALARMS))
    passed = scores >= supported
    return FittedLines(
        Lines(round(supported, 4), round(conflict, 4)),
        len(cases),
        round(float(passed[truth].mean()), 3),
        round(float(passed[~truth].mean()), 3),
    )
