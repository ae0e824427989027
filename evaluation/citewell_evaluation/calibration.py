"""The confidence model fitted: examples in, the JSON of `citewell.confidence` out."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from citewell.answering.confidence import Confidence, Features, Logistic
from citewell.errors import InvalidInputError
from citewell_evaluation import Progress, quiet
from citewell_evaluation.asked import Sets, outcomes_of
from citewell_evaluation.datasets import form_of, name_of
from citewell_evaluation.plots import reliability_diagram
from citewell_evaluation.statistics import auroc, calibration_by_chance, calibration_error, reliability

Floats = NDArray[np.float64]
FOLDS = 5
LEAST_SPREAD: Mapping[str, float] = {"gap": 0.1}
"""What varies little, or in few questions, must not get a large weight from a handful of them."""
PENALTY = 2.0
WORTH = 200.0
"""What a whole set counts in the general part, in questions: a large set does not outvote a small one."""
REFUSAL_WORTH = 1.5
"""What a question that the book does not answer counts beside one that it does: a made-up answer is the worse fault."""
HIGH, SURE = 0.8, 0.85
"""What is stated as high, and the share of it that must be right on sets that the fit did not see."""
NEAR_WORTH = 0.3
"""The share of that for sets of near misses: readers of a book mostly ask what it is about."""

Part = Literal["general", "confined"]
# What searching adds says nothing in a selection.
WEIGHED: Mapping[Part, tuple[str, ...]] = {
    "general": ("answers", "relevance", "gap", "words", "names_absent", "place"),
    "confined": ("answers", "relevance", "words"),
}


@dataclass(frozen=True, slots=True)
class Example:
    """A question as the model sees it, and whether its answer was right."""

    features: Features
    truth: bool
    group: str
    """Examples of one group are never on both sides of a split: an article, or the question itself."""
    weight: float = 1.0
    source: str = ""
    """The data set's name."""
    near: bool = False
    """From a set made of near misses, with an index only to carry them."""
    made_up: bool = False
    """A question asked of a passage it does not belong to: fitted to, not measured on."""
    answerable: bool = True


@dataclass(frozen=True, slots=True)
class Measured:
    """How far off the model is on the questions of one set, apart from made-up ones."""

    source: str
    questions: int
    ece: float
    """By models that did not see the question's group."""
    chance: float
    """What a model whose probabilities are exactly right would show on so few questions."""
    auroc: float
    ece_left_out: float | None
    """By a model that saw nothing of this set; None when no other set can be fitted to."""
    auroc_left_out: float | None


@dataclass(frozen=True, slots=True)
class Calibration:
    part: Part
    model: Logistic
    examples: int
    sets: tuple[Measured, ...]
    ece: float
    """On examples that the fit did not see: each fifth of the groups by a model of the other four. Without near misses,
    which stand in `sets` alone."""
    auroc: float
    high: tuple[int, float]
    """How many answers were stated as high by fits without their set, and the share of them that was right."""
    tempered: float
    """What the log-odds were multiplied with so that high means what it says; 1 when they did already."""
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
                "high_left_out": {"answers": self.high[0], "right": round(self.high[1], 4)},
                "tempered": self.tempered,
                "sets": {one.source: _figures(one) for one in self.sets},
            },
        }
        return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _figures(one: Measured) -> dict[str, float]:
    figures = {
        "questions": one.questions,
        "ece": one.ece,
        "ece_by_chance": one.chance,
        "auroc": one.auroc,
        "ece_left_out": one.ece_left_out,
        "auroc_left_out": one.auroc_left_out,
    }
    return {name: round(value, 4) for name, value in figures.items() if value is not None}


def fit(examples: Sequence[Example], part: Part, *, penalty: float = PENALTY) -> Logistic:
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


def balanced(examples: Sequence[Example], part: Part) -> list[Example]:
    """In the general part every set counts the same, near misses less; a selection's examples count one each."""
    if part == "confined":
        return list(examples)
    sizes: dict[str, int] = {}
    for example in examples:
        sizes[example.source] = sizes.get(example.source, 0) + 1
    return [replace(e, weight=_worth(e) * WORTH / sizes[e.source]) for e in examples]


def _worth(example: Example) -> float:
    return (NEAR_WORTH if example.near else 1.0) * (1.0 if example.answerable else REFUSAL_WORTH)


def unseen(examples: Sequence[Example], part: Part) -> list[float]:
    """For each example the probability by a model that did not see its group."""
    folds = [int(hashlib.sha256(e.group.encode()).hexdigest(), 16) % FOLDS for e in examples]
    stated = [0.0] * len(examples)
    for fold in sorted(set(folds)):
        model = fit(balanced([e for e, f in zip(examples, folds, strict=True) if f != fold], part), part)
        for i, example in enumerate(examples):
            if folds[i] == fold:
                stated[i] = model.probability(example.features)
    return stated


def left_out(examples: Sequence[Example], part: Part) -> list[float | None]:
    """For each example the probability by a model that saw nothing of its set; None when no other set can be fitted."""
    stated: list[float | None] = [None] * len(examples)
    for source in dict.fromkeys(e.source for e in examples):
        others = [e for e in examples if e.source != source]
        if len({e.truth for e in others}) < 2 or all(e.made_up for e in others):
            continue
        model = fit(balanced(others, part), part)
        for i, example in enumerate(examples):
            if example.source == source:
                stated[i] = model.probability(example.features)
    return stated


def tempered(stated: Sequence[tuple[float, bool]]) -> tuple[float, tuple[int, float]]:
    """The mildest factor for the log-odds with which what is high is right often enough; how many those are, and the
    share of them that is right."""
    for factor in (1.0, 0.95, 0.9, 0.85, 0.8, 0.75, 0.7, 0.65, 0.6, 0.55, 0.5):
        line = 1 / (1 + (1 / HIGH - 1) ** (1 / factor))
        right = [truth for probability, truth in stated if probability >= line]
        if not right or sum(right) >= SURE * len(right):
            break
    return factor, (len(right), sum(right) / len(right) if right else 0.0)


def calibrated(examples: Sequence[Example], part: Part) -> Calibration:
    """Fit on all examples; measure on unseen ones."""
    stated, without = unseen(examples, part), left_out(examples, part)
    counted = [(e, p, w) for e, p, w in zip(examples, stated, without, strict=True) if not e.made_up]
    main = [(e, p) for e, p, _ in counted if not e.near]
    probabilities, truth = [p for _, p in main], [e.truth for e, _ in main]
    error = calibration_error(probabilities, truth)
    factor, high = tempered([(w, e.truth) for e, _, w in counted if w is not None and not e.near])
    model = fit(balanced(examples, part), part)
    return Calibration(
        part=part,
        model=Logistic(factor * model.intercept, {name: factor * w for name, w in model.weights.items()}),
        examples=len(examples),
        sets=tuple(
            _measured(source, [one for one in counted if one[0].source == source])
            for source in dict.fromkeys(e.source for e, _, _ in counted)
        ),
        ece=error,
        auroc=auroc(probabilities, truth),
        high=high,
        tempered=factor,
        diagram=reliability_diagram(reliability(probabilities, truth), error),
    )


def _measured(source: str, own: Sequence[tuple[Example, float, float | None]]) -> Measured:
    stated, truth = [p for _, p, _ in own], [e.truth for e, _, _ in own]
    without = [w for _, _, w in own if w is not None]
    return Measured(
        source=source,
        questions=len(own),
        ece=calibration_error(stated, truth),
        chance=calibration_by_chance(stated),
        auroc=auroc(stated, truth),
        ece_left_out=calibration_error(without, truth) if without else None,
        auroc_left_out=auroc(without, truth) if without else None,
    )


async def examples_of(path: Path, part: Part, sets: Sets, *, progress: Progress = quiet) -> list[Example]:
    """What a data set says about a part of the model; questions that carry their passage speak of both."""
    form = form_of(path)
    if part == "confined" and form != "passage":
        return []
    outcomes = await outcomes_of(path, sets, pooled=part == "general", progress=progress)
    near = form in ("passage", "listed") and part == "general"
    name = name_of(path)
    return [
        Example(o.features, o.right, o.group, source=name, near=near, made_up=o.made_up, answerable=o.answerable)
        for o in outcomes
    ]


async def calibrate(
    paths: Sequence[Path], sets: Sets, *, current: str, progress: Progress = quiet
) -> tuple[list[Calibration], str]:
    """Fit what the data sets speak of; the second value is the new JSON.

    Questions that carry their passage fit the confined part. The general part is fitted when a golden set or a corpus
    is among the sets: near misses alone would teach it to refuse.
    """
    forms = {form_of(path) for path in paths}
    wanted: list[Part] = []
    if forms & {"golden", "corpus"}:
        wanted.append("general")
    if "passage" in forms:
        wanted.append("confined")
    if not wanted:
        raise InvalidInputError("Give a golden set, a corpus, or questions that carry their passage.", field="dataset")
    results, merged = [], current
    for part in wanted:
        examples = [e for path in paths for e in await examples_of(path, part, sets, progress=progress)]
        result = calibrated(examples, part)
        results.append(result)
        merged = result.merged(merged, ", ".join(dict.fromkeys(e.source for e in examples)))
    Confidence.parse(merged)
    return results, merged
