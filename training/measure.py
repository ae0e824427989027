"""Measure a model's file as the product runs it: `python -m training.measure ASSETS EVAL_FOLDER [ROWS]`.

Prints one line a set. None of these sets is trained on. A folder called `citewell_larger` is the judge's.
"""

import asyncio
import json
import random
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from citewell.inference import LargerModel, ReadingModel
from citewell.judge.trained import Read, SupportModel
from citewell_evaluation.statistics import auroc
from training.data import units

LIES_PASSED = 0.15


def rows(path: Path, most: int) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    random.Random(3).shuffle(found)
    return found[:most]


def kept_at(labels: Sequence[bool], scores: Sequence[float], passed: float) -> float:
    """The share of truths above the line that lets the given share of lies pass."""
    truth, found = np.array(labels), np.array(scores)
    line = np.quantile(found[~truth], 1 - passed)
    return float((found[truth] > line).mean())


async def support(model: SupportModel[Read], path: Path, most: int) -> str:
    labels, scores = [], []
    for row in rows(path, most):
        texts = row.get("passages") or row["evidence"]
        [told] = await model.support_all([(row["claim"], await model.encode([t[:3000] for t in texts[:5]]))])
        scores.append(told.supported)
        labels.append(bool(row["supported"]))
    kept = kept_at(labels, scores, LIES_PASSED)
    return f"AUROC {auroc(scores, labels):.3f}, truths kept at {LIES_PASSED:.0%} of lies {kept:.3f}"


async def squad(model: ReadingModel, path: Path, most: int) -> str:
    labels, scores, ones, twos = [], [], [], []
    for row in rows(path, most):
        (passage,) = await model.encode([row["passage"]])
        pieces = [] if not row["answers"] else units(row["passage"])
        asked = await model.ask(row["question"], passage, pieces)
        scores.append(asked.answers)
        labels.append(bool(row["answers"]))
        if row["answers"]:
            best = sorted(zip(asked.units, pieces, strict=True), reverse=True)
            texts = [row["passage"][a:b] for _, (a, b) in best]
            golden = [a if isinstance(a, str) else a["text"] for a in row["answers"]]
            ones.append(any(g in texts[0] for g in golden))
            twos.append(any(g in t for g in golden for t in texts[:2]))
    return (
        f"AUROC {auroc(scores, labels):.3f}, span in the best sentence {np.mean(ones):.3f}, in two {np.mean(twos):.3f}"
    )


async def main(assets: Path, folder: Path, most: int) -> None:
    model = LargerModel(assets) if assets.name == "citewell_larger" else ReadingModel(assets)
    for name in ("docs-claims", "attribution", "scifact", "snli"):
        print(name, await support(model, folder / "support" / f"{name}.jsonl", most))
    if isinstance(model, ReadingModel):
        print("squad2", await squad(model, folder / "squad2" / "questions.jsonl", most))
    await model.aclose()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 10_000))
