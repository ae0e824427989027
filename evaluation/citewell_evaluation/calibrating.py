"""How far stated confidence lies from what was so, for the shipped model and for one fitted anew."""

from collections.abc import Sequence
from pathlib import Path

from citewell.answering.confidence import Confidence
from citewell_evaluation import Evaluation, Figure, FigureRow, FigureTable, Item, Progress, quiet
from citewell_evaluation.asked import Sets
from citewell_evaluation.calibration import Part, examples_of, unseen
from citewell_evaluation.datasets import fingerprint, form_of, name_of
from citewell_evaluation.statistics import auroc, bootstrap, calibration_by_chance, calibration_error


async def evaluate_calibration(
    path: Path, *, sets: Sets, confidence: Confidence, progress: Progress = quiet
) -> Evaluation:
    """Questions that carry their passage are asked of it alone; any others of a whole index."""
    part: Part = "confined" if form_of(path) == "passage" else "general"
    found = await examples_of(path, part, sets, progress=progress)
    examples = [example for example in found if not example.made_up]
    truth = [example.truth for example in examples]
    shipped = [confidence.probability(example.features, confined=part == "confined") for example in examples]
    refitted = unseen(examples, part)
    note = (
        "The shipped model as it is, and one fitted on four fifths and asked of the last fifth. Goal: ECE at most .05. "
        "By chance: what probabilities that are exactly right would show on as many questions."
    )
    return Evaluation(
        kind="calibration",
        dataset=name_of(path),
        tables=(
            FigureTable(
                "Calibration", (_row("shipped", shipped, truth), _row("fitted anew, unseen", refitted, truth)), note
            ),
        ),
        items=tuple(
            Item(
                id=str(number),
                question=example.group,
                scores={"closeness": 1 - abs(stated - example.truth)},
                probability=stated,
                truth=example.truth,
            )
            for number, (example, stated) in enumerate(zip(examples, shipped, strict=True), start=1)
        ),
        main="closeness",
        data_sha256=fingerprint(path),
    )


def _row(name: str, stated: Sequence[float], truth: Sequence[bool]) -> FigureRow:
    return FigureRow(
        name,
        {
            "questions": Figure(float(len(truth))),
            "ECE": bootstrap(calibration_error, stated, truth, samples=200),
            "ECE by chance": Figure(calibration_by_chance(stated)),
            "AUROC": bootstrap(auroc, stated, truth),
        },
    )
