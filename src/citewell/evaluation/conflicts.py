"""How well contradictions are found: precision and recall on questions with passages that disagree or agree. Pure but
for reading the file. `python -m citewell.evaluation.conflicts DATASET`."""

import itertools
import json
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from citewell.grounding import contradictions


@dataclass(frozen=True, slots=True)
class ConflictCase:
    question: str
    passages: tuple[str, ...]
    conflicting: bool


@dataclass(frozen=True, slots=True)
class ConflictFigures:
    cases: int
    found: int
    right: int
    conflicting: int

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.conflicting if self.conflicting else 1.0

    @property
    def false_alarms(self) -> float:
        """Among the cases that agree."""
        agreeing = self.cases - self.conflicting
        return (self.found - self.right) / agreeing if agreeing else 0.0


def read_cases(path: Path) -> Iterator[ConflictCase]:
    """Lines with `conflicting`; or passages with the `answer` each gives, taken in pairs."""
    for line in path.read_text("utf-8").splitlines():
        item = json.loads(line)
        if "conflicting" in item:
            yield ConflictCase(item["question"], tuple(item["passages"]), item["conflicting"])
            continue
        for one, other in itertools.combinations(item["passages"], 2):
            if "unknown" in (one["answer"], other["answer"]):
                continue
            texts = (one["text"], other["text"])
            yield ConflictCase(item["question"], texts, one["answer"] != other["answer"])


def measure_conflicts(path: Path) -> ConflictFigures:
    cases = list(read_cases(path))
    found = [contradictions(case.question, case.passages) is not None for case in cases]
    right = sum(f and case.conflicting for f, case in zip(found, cases, strict=True))
    return ConflictFigures(len(cases), sum(found), right, sum(case.conflicting for case in cases))


def main(argv: list[str]) -> None:
    for name in argv:
        figures = measure_conflicts(Path(name))
        print(
            f"{Path(name).stem}: {figures.cases} cases, precision {figures.precision:.3f}, "
            f"recall {figures.recall:.3f}, false alarms {figures.false_alarms:.3f}"
        )


if __name__ == "__main__":
    main(sys.argv[1:])
