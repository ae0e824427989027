"""The built-in reader measured: are the right words found, and is what cannot be answered refused?"""

from collections.abc import Sequence
from pathlib import Path

from citewell.answering.confidence import ANSWER_FROM, Confidence
from citewell_evaluation import Evaluation, Figure, FigureRow, FigureTable, Item, Progress, quiet
from citewell_evaluation.asked import Outcome, Sets, outcomes_of
from citewell_evaluation.datasets import fingerprint, form_of, name_of
from citewell_evaluation.statistics import auroc, balanced_accuracy, bootstrap, bootstrap_mean, calibration_error

KEPT = 0.85
"""Share of the answerable questions that stay answered where refusals are compared."""


async def evaluate_answers(path: Path, *, sets: Sets, confidence: Confidence, progress: Progress = quiet) -> Evaluation:
    """Questions of a passage (SQuAD 2.0's form), of a corpus (MTRAG's) or of lists in one index (NoMIRACL's)."""
    confined = form_of(path) == "passage"
    outcomes = [o for o in await outcomes_of(path, sets, progress=progress) if not o.made_up]
    stated = [confidence.probability(o.features, confined=confined) for o in outcomes]
    tables = [_decision_table(outcomes, stated), _time_table(outcomes)]
    if confined:
        tables.insert(0, _words_table(outcomes))
    return Evaluation(
        kind="answers",
        dataset=name_of(path),
        tables=tuple(tables),
        items=tuple(_item(outcome, p) for outcome, p in zip(outcomes, stated, strict=True)),
        main="right",
        data_sha256=fingerprint(path),
    )


def _words_table(outcomes: Sequence[Outcome]) -> FigureTable:
    answerable = [o for o in outcomes if o.answerable]
    figures = {
        "questions": Figure(float(len(answerable))),
        "two sentences": bootstrap_mean([float(o.right_with_two) for o in answerable]),
        "one sentence": bootstrap_mean([float(o.right_with_one) for o in answerable]),
        "composed": bootstrap_mean([float(o.right) for o in answerable]),
    }
    note = "Share of the answerable questions whose best sentences, or whose composed answer, hold the gold span."
    return FigureTable("The right words", (FigureRow("all", figures),), f"{note} Goal: .985 and .95.")


def _decision_table(outcomes: Sequence[Outcome], stated: Sequence[float]) -> FigureTable:
    answerable = [o.answerable for o in outcomes]
    inside = [p for p, a in zip(stated, answerable, strict=True) if a]
    outside = [p for p, a in zip(stated, answerable, strict=True) if not a]
    figures = {
        "questions": Figure(float(len(outcomes))),
        "answerable answered": bootstrap_mean([float(p >= ANSWER_FROM) for p in inside]),
        "others refused": bootstrap_mean([float(p < ANSWER_FROM) for p in outside]),
        f"refused at {KEPT:g} answered": Figure(refused_at(inside, outside, KEPT)),
        "balanced accuracy": bootstrap(balanced_accuracy, [p >= ANSWER_FROM for p in stated], answerable),
        "AUROC": bootstrap(auroc, stated, answerable),
        "ECE": bootstrap(calibration_error, stated, [o.right for o in outcomes], samples=200),
    }
    return FigureTable(
        "Answer or refuse", (FigureRow("all", figures),), f"Answered when the confidence is at least {ANSWER_FROM:g}."
    )


def refused_at(inside: Sequence[float], outside: Sequence[float], kept: float) -> float:
    """The share of unanswerable questions below the line at which this share of the answerable ones is answered."""
    if not inside or not outside:
        return 0.0
    line = sorted(inside, reverse=True)[min(len(inside) - 1, int(kept * len(inside)))]
    return sum(p < line for p in outside) / len(outside)


def _time_table(outcomes: Sequence[Outcome]) -> FigureTable:
    times = sorted(o.elapsed_ms for o in outcomes)
    figures = {"median_ms": Figure(times[len(times) // 2]), "p95_ms": Figure(times[int(len(times) * 0.95)])}
    return FigureTable("Reading and composing", (FigureRow("all", figures),), "On the machine that measured.")


def _item(outcome: Outcome, probability: float) -> Item:
    refused = probability < ANSWER_FROM
    return Item(
        id=outcome.id,
        question=outcome.question,
        scores={"right": float(outcome.right if outcome.answerable else refused)},
        answer=outcome.answer,
        probability=probability,
        truth=outcome.right,
        elapsed_ms=outcome.elapsed_ms,
    )
