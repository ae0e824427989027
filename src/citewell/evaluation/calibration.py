"""The confidence model fitted: features and truth in, the JSON of `citewell.confidence` out."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from citewell.confidence import Confidence, Features, Logistic
from citewell.errors import InvalidInputError
from citewell.evaluation import Progress, quiet
from citewell.evaluation.answers import TOP_K, Searching, numbered
from citewell.evaluation.datasets import GoldenQuestion, read_golden, read_passage_questions
from citewell.evaluation.plots import reliability_diagram
from citewell.evaluation.statistics import auroc, calibration_error, reliability
from citewell.extractive import Numbered, read

Part = Literal["general", "confined"]
Floats = NDArray[np.float64]
FOLDS = 5
LEAST_SPREAD: Mapping[str, float] = {"numbers_found": 0.3}
"""Few questions have numbers: what hardly varies must not get a large weight from a handful of them."""

# What searching adds says nothing in a selection; what a negated question adds is known from SQuAD 2.0 only.
WEIGHED: Mapping[Part, tuple[str, ...]] = {
    "general": (
        "top_score",
        "score_gap",
        "agreeing",
        "best",
        "passage_coverage",
        "all_coverage",
        "numbers_found",
        "names_missing",
        "names_absent",
        "turned",
        "length",
    ),
    "confined": (
        "best",
        "margin",
        "piece_coverage",
        "names_found",
        "numbers_found",
        "missing",
        "names_missing",
        "names_absent",
        "turned",
        "negated",
        "length",
    ),
}


@dataclass(frozen=True, slots=True)
class Example:
    """A question as the model sees it, and whether it could be answered from what was found."""

    features: Features
    truth: bool
    group: str
    """Examples of one group are never on both sides of a split: an article, or the question itself."""
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Calibration:
    part: Part
    model: Logistic
    examples: int
    ece: float
    """On examples that the fit did not see: each fifth of the groups by a model of the other four."""
    auroc: float
    diagram: str
    """The reliability diagram of the same, as SVG."""

    def merged(self, current: str, note: str) -> str:
        """The JSON of the whole confidence model with this part replaced."""
        data = json.loads(current) if current.strip() else {}
        data[self.part] = {
            "intercept": round(self.model.intercept, 4),
            "weights": {name: round(weight, 4) for name, weight in self.model.weights.items()},
            "fit": {
                "data": note,
                "examples": self.examples,
                "unseen_ece": round(self.ece, 4),
                "unseen_auroc": round(self.auroc, 4),
            },
        }
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def fit(examples: Sequence[Example], part: Part, *, penalty: float = 2.0) -> Logistic:
    """Penalized maximum likelihood by Newton's method, on features brought to one scale."""
    names = WEIGHED[part]
    values, truth, weights = _columns(examples, names)
    if truth.min() == truth.max():
        raise InvalidInputError("Calibration needs questions of both sorts: answerable and not.", field="dataset")
    mean = np.average(values, axis=0, weights=weights)
    spread = np.sqrt(np.average((values - mean) ** 2, axis=0, weights=weights))
    spread = np.maximum(spread, [LEAST_SPREAD.get(name, 0.02) for name in names])
    design = np.column_stack([np.ones(len(values)), (values - mean) / spread])
    ridge = penalty * np.eye(design.shape[1])
    ridge[0, 0] = 0.0
    solution = np.zeros(design.shape[1])
    for _ in range(50):
        stated = 1.0 / (1.0 + np.exp(-np.clip(design @ solution, -30, 30)))
        slope = design.T @ (weights * (stated - truth)) + ridge @ solution
        curve = (design * (weights * stated * (1 - stated))[:, None]).T @ design + ridge
        step = np.linalg.solve(curve, slope)
        solution = solution - step
        if float(np.abs(step).max()) < 1e-9:
            break
    per_unit = solution[1:] / spread
    return Logistic(
        float(solution[0] - per_unit @ mean), {name: float(w) for name, w in zip(names, per_unit, strict=True)}
    )


def _columns(examples: Sequence[Example], names: Sequence[str]) -> tuple[Floats, Floats, Floats]:
    values = np.array([[getattr(e.features, name) for name in names] for e in examples], dtype=np.float64)
    truth = np.array([e.truth for e in examples], dtype=np.float64)
    return values, truth, np.array([e.weight for e in examples], dtype=np.float64)


def unseen(examples: Sequence[Example], part: Part) -> list[float]:
    """For each example the probability by a model that did not see its group."""
    folds = [int(hashlib.sha256(e.group.encode()).hexdigest(), 16) % FOLDS for e in examples]
    stated = [0.0] * len(examples)
    for fold in sorted(set(folds)):
        model = fit([e for e, f in zip(examples, folds, strict=True) if f != fold], part)
        for i, example in enumerate(examples):
            if folds[i] == fold:
                stated[i] = model.probability(example.features)
    return stated


def calibrated(examples: Sequence[Example], part: Part) -> Calibration:
    """Fit on all examples; measure on unseen ones."""
    stated = unseen(examples, part)
    truth = [e.truth for e in examples]
    error = calibration_error(stated, truth)
    return Calibration(
        part=part,
        model=fit(examples, part),
        examples=len(examples),
        ece=error,
        auroc=auroc(stated, truth),
        diagram=reliability_diagram(reliability(stated, truth), error),
    )


def selection_examples(path: Path, *, progress: Progress = quiet) -> list[Example]:
    """SQuAD 2.0's form, one group for each article."""
    questions = read_passage_questions(path)
    examples = []
    for number, question in enumerate(questions, start=1):
        reading = read(question.question, [Numbered(1, question.passage)])
        examples.append(Example(reading.features, question.answerable, question.title or question.id))
        progress(number, len(questions), "questions")
    return examples


async def book_examples(path: Path, *, searching: Searching, progress: Progress = quiet) -> list[Example]:
    """A golden set over its own index. What finds no passage at all is refused without a model and left out."""
    golden = read_golden(path)
    examples = []
    for number, one in enumerate(golden, start=1):
        found = await searching.search(one.question, top_k=TOP_K)
        if found.passages:
            urls = [scored.passage.url for scored in found.passages]
            reading = read(one.question, numbered(found))
            examples.append(Example(reading.features, _answers(one, urls), one.question))
        progress(number, len(golden), "questions")
    return examples


def _answers(golden: GoldenQuestion, urls: Sequence[str]) -> bool:
    return golden.in_book and any(url in golden.urls or url.endswith(golden.urls) for url in urls)


def part_of(path: Path) -> Part:
    """Which part of the model a data set can fit: questions that carry their passage are asked of a selection."""
    first = next((line for line in path.read_text("utf-8").split("\n") if line.strip()), "{}")
    return "confined" if "passage" in json.loads(first) else "general"


async def calibrate(
    path: Path, *, searching: Searching | None, current: str, progress: Progress = quiet
) -> tuple[Calibration, str]:
    """Fit the part that the data set speaks of; the second value is the new JSON.

    A golden set (with `urls`) fits the general part and needs a searcher; SQuAD's form fits the confined part.
    """
    part = part_of(path)
    if part == "confined":
        examples = selection_examples(path, progress=progress)
    elif searching is not None:
        examples = await book_examples(path, searching=searching, progress=progress)
    else:
        raise InvalidInputError("A golden set is calibrated over its index; there is none.", field="dataset")
    result = calibrated(examples, part)
    merged = result.merged(current, path.stem)
    Confidence.parse(merged)
    return result, merged
