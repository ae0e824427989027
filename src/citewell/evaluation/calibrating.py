"""How far stated confidence lies from what was so, for the shipped model and for one fitted anew."""

from collections.abc import Sequence
from pathlib import Path

from citewell.confidence import Confidence
from citewell.errors import InvalidInputError
from citewell.evaluation import Evaluation, Figure, Item, Progress, Row, Table, quiet
from citewell.evaluation.answers import Searching
from citewell.evaluation.calibration import book_examples, part_of, selection_examples, unseen
from citewell.evaluation.datasets import fingerprint, name_of
from citewell.evaluation.statistics import auroc, bootstrap, calibration_error


async def evaluate_calibration(
    path: Path, *, searching: Searching | None, confidence: Confidence, progress: Progress = quiet
) -> Evaluation:
    """A golden set over its index, or questions that carry their passage."""
    part = part_of(path)
    if part == "confined":
        examples = selection_examples(path, progress=progress)
    elif searching is not None:
        examples = await book_examples(path, searching=searching, progress=progress)
    else:
        raise InvalidInputError("A golden set is measured over its index; there is none.", field="dataset")
    truth = [example.truth for example in examples]
    shipped = [confidence.probability(example.features, confined=part == "confined") for example in examples]
    refitted = unseen(examples, part)
    note = (
        "The shipped model as it is, and one fitted on four fifths and asked of the last fifth. Goal: ECE at most .05."
    )
    return Evaluation(
        kind="calibration",
        dataset=name_of(path),
        tables=(
            Table("Calibration", (_row("shipped", shipped, truth), _row("fitted anew, unseen", refitted, truth)), note),
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


def _row(name: str, stated: Sequence[float], truth: Sequence[bool]) -> Row:
    return Row(
        name,
        {
            "questions": Figure(float(len(truth))),
            "ECE": bootstrap(calibration_error, stated, truth, samples=200),
            "AUROC": bootstrap(auroc, stated, truth),
        },
    )
