"""The support judge and the search for contradictions, as evaluations: tables, intervals and every case."""

import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from citewell.grounding import contradictions
from citewell.grounding.evidence import prepared
from citewell.grounding.support import SupportJudge
from citewell_evaluation import Evaluation, Figure, FigureRow, FigureTable, Item, Progress, ShownPassage, quiet
from citewell_evaluation.datasets import fingerprint, name_of, read_claims, read_conflicts
from citewell_evaluation.statistics import auroc, balanced_accuracy, bootstrap, bootstrap_mean, mean, percentile

_SHOWN = 1200
"""Characters of a passage that the report keeps."""


async def evaluate_support(path: Path, *, judge: SupportJudge, progress: Progress = quiet) -> Evaluation:
    """A file of claims, or a folder of such files. Only the half that the judge was not fitted on counts."""
    rows, items = [], []
    for file in _files(path):
        found = _judged(file, judge, progress)
        items += found
        rows.append(_support_row(file.stem, found))
    averages = {
        name: Figure(mean([row.figures[name].value for row in rows])) for name in ("balanced accuracy", "AUROC")
    }
    note = "Goal: .70 balanced accuracy on average, under 3 ms a sentence (median)."
    return Evaluation(
        kind="support",
        dataset=name_of(path),
        tables=(FigureTable("Supported or not", (*rows, FigureRow("average of the sets", averages)), note),),
        items=tuple(items),
        main="right",
        data_sha256=fingerprint(*_files(path)),
        notes=("Cases that the judge was fitted on are left out.",),
    )


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.jsonl")) if path.is_dir() else [path]


def _judged(file: Path, judge: SupportJudge, progress: Progress) -> list[Item]:
    cases = [case for case in read_claims(file) if not case.fitted_on]
    items = []
    for number, case in enumerate(cases, start=1):
        whole = "\n\n".join(case.evidence)  # the claim was made from all of them
        prepared(whole)  # as when a passage is shown, before there is a sentence
        start = time.thread_time()
        found = judge.judge(case.claim, [whole])
        elapsed = (time.thread_time() - start) * 1000
        right = found.supported == case.supported
        items.append(
            Item(
                id=f"{file.stem}/{case.id}",
                question=case.claim,
                scores={"right": float(right), "said": float(found.supported)},
                answer=f"{'supported' if found.supported else 'not supported'}: {found.reason or 'nothing missing'}",
                expected="supported" if case.supported else "not supported",
                passages=(ShownPassage("", whole[:_SHOWN], found.score),),
                probability=found.score,
                truth=case.supported,
                elapsed_ms=elapsed,
            )
        )
        if number % 20 == 0 or number == len(cases):
            progress(number, len(cases), file.stem)
    return items


def _support_row(name: str, items: Sequence[Item]) -> FigureRow:
    truth = [bool(item.truth) for item in items]
    said = [item.scores["said"] > 0 for item in items]
    times = [item.elapsed_ms or 0.0 for item in items]
    return FigureRow(
        name,
        {
            "claims": Figure(float(len(items))),
            "balanced accuracy": bootstrap(balanced_accuracy, said, truth),
            "AUROC": bootstrap(auroc, [item.probability or 0.0 for item in items], truth),
            "passed of the supported": bootstrap_mean([float(s) for s, t in zip(said, truth, strict=True) if t]),
            "passed of the others": bootstrap_mean([float(s) for s, t in zip(said, truth, strict=True) if not t]),
            "median_ms": Figure(percentile(times, 50)),
            "p95_ms": Figure(percentile(times, 95)),
        },
    )


async def evaluate_conflicts(path: Path, *, progress: Progress = quiet) -> Evaluation:
    """A file of questions with passages that contradict each other or agree, or a folder of such files."""
    rows, items = [], []
    for file in _files(path):
        found = _compared(file, progress)
        items += found
        rows.append(_conflict_row(file.stem, found))
    return Evaluation(
        kind="conflicts",
        dataset=name_of(path),
        tables=(
            FigureTable(
                "Contradictions found", tuple(rows), "A false alarm on passages that agree is the worse fault."
            ),
        ),
        items=tuple(items),
        main="right",
        data_sha256=fingerprint(*_files(path)),
    )


def _compared(file: Path, progress: Progress) -> list[Item]:
    cases = read_conflicts(file)
    items = []
    for number, case in enumerate(cases, start=1):
        start = time.thread_time()
        found = contradictions(case.question, case.passages)
        elapsed = (time.thread_time() - start) * 1000
        told = f"{found.first_sentence}\n{found.second_sentence}\n({found.reason})" if found else "no contradiction"
        items.append(
            Item(
                id=f"{file.stem}/{case.id}",
                question=case.question,
                scores={"right": float((found is not None) == case.conflicting), "found": float(found is not None)},
                answer=told,
                expected="contradiction" if case.conflicting else "agreement",
                passages=tuple(ShownPassage("", text[:_SHOWN], 0.0) for text in case.passages),
                truth=case.conflicting,
                elapsed_ms=elapsed,
            )
        )
        if number % 20 == 0 or number == len(cases):
            progress(number, len(cases), file.stem)
    return items


def _conflict_row(name: str, items: Sequence[Item]) -> FigureRow:
    truth = [bool(item.truth) for item in items]
    found = [item.scores["found"] > 0 for item in items]
    return FigureRow(
        name,
        {
            "questions": Figure(float(len(items))),
            "precision": bootstrap(_precision, found, truth),
            "recall": bootstrap_mean([float(f) for f, t in zip(found, truth, strict=True) if t]),
            "false alarms": bootstrap_mean([float(f) for f, t in zip(found, truth, strict=True) if not t]),
            "median_ms": Figure(percentile([item.elapsed_ms or 0.0 for item in items], 50)),
        },
    )


def _precision(found: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    return float(truth[found].mean()) if found.any() else float("nan")
