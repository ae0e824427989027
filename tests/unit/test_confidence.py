"""Confidence: the fitted model, its levels, and how it is fitted."""

import json
import math
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.confidence import ANSWER_FROM, FEATURE_NAMES, Confidence, Features, Logistic, level_of
from citewell.errors import ConfigurationError, InvalidInputError
from citewell.evaluation.answers import evaluate_selected
from citewell.evaluation.calibration import WEIGHED, Example, calibrate, calibrated, fit
from citewell.extractive import Numbered, read
from citewell.models import ConfidenceLevel


@pytest.mark.parametrize(
    ("probability", "level"),
    [
        (1.0, "high"),
        (0.8, "high"),
        (0.79, "medium"),
        (0.6, "medium"),
        (0.59, "low"),
        (0.4, "low"),
        (0.39, "insufficient"),
    ],
)
def test_levels_are_those_of_the_contract(probability: float, level: ConfidenceLevel) -> None:
    assert level_of(probability) == level


@given(st.lists(st.floats(-1e6, 1e6), min_size=len(FEATURE_NAMES), max_size=len(FEATURE_NAMES)), st.booleans())
def test_a_probability_is_one_whatever_the_features(values: list[float], confined: bool) -> None:
    features = Features(**dict(zip(FEATURE_NAMES, values, strict=True)))
    assert 0 <= Confidence.load().probability(features, confined=confined) <= 1


def test_without_passages_the_shipped_model_refuses() -> None:
    assert Confidence.load().probability(read("What is a node?", []).features, confined=False) < ANSWER_FROM


def test_the_shipped_model_answers_what_a_selection_says_and_refuses_what_it_does_not() -> None:
    selection = (
        "The upper limb of the robot has seven joints. A typical leg of a humanoid robot has 6 degrees of freedom: "
        "three at the hip, one at the knee and two at the ankle. The waist adds one more."
    )

    def probability(question: str) -> float:
        return Confidence.load().probability(read(question, [Numbered(1, selection)]).features, confined=True)

    assert probability("How many degrees of freedom does a typical leg of a humanoid have?") >= ANSWER_FROM
    assert probability("What is the capital of France?") < ANSWER_FROM
    assert probability("Who painted the Mona Lisa?") < ANSWER_FROM


def test_a_model_without_a_part_is_named() -> None:
    with pytest.raises(ConfigurationError, match="confined"):
        Confidence.parse('{"general": {"intercept": 0, "weights": {}}}')


def test_a_weight_for_an_unknown_feature_is_named() -> None:
    part = {"intercept": 0, "weights": {"luck": 1.0}}
    with pytest.raises(ConfigurationError, match="luck"):
        Confidence.parse(json.dumps({"general": part, "confined": part}))


def test_what_is_weighed_are_features() -> None:
    assert all(set(names) <= set(FEATURE_NAMES) for names in WEIGHED.values())


def _examples(count: int = 400) -> list[Example]:
    """The truth follows `best` through a known logistic function; nothing else matters."""
    examples = []
    for i in range(count):
        best = (i * 0.618034) % 1
        truth = (i * 0.414214) % 1 < 1 / (1 + math.exp(-(8 * best - 4)))
        examples.append(Example(Features(best=best, length=(i % 7) / 7), truth, f"question {i}"))
    return examples


def test_the_fit_finds_the_function_behind_the_data() -> None:
    model = fit(_examples(), "general", penalty=0.01)
    assert model.weights["best"] == pytest.approx(8, abs=1.6)
    assert abs(model.weights["length"]) < 1
    assert model.probability(Features(best=0.5, length=0.5)) == pytest.approx(0.5, abs=0.1)


def test_a_good_fit_is_calibrated_on_what_it_did_not_see() -> None:
    result = calibrated(_examples(), "general")
    assert result.ece < 0.08
    assert result.auroc > 0.85
    assert result.diagram.startswith("<svg")


def test_questions_of_one_sort_cannot_calibrate() -> None:
    with pytest.raises(InvalidInputError, match="both sorts"):
        fit([Example(Features(best=0.5), True, "a"), Example(Features(best=0.2), True, "b")], "general")


def test_a_new_part_leaves_the_other_alone() -> None:
    current = json.dumps({part: {"intercept": 1.0, "weights": {"best": 2.0}} for part in ("general", "confined")})
    merged = json.loads(calibrated(_examples(), "general").merged(current, "made up"))
    assert merged["confined"] == {"intercept": 1.0, "weights": {"best": 2.0}}
    assert merged["general"]["fit"]["data"] == "made up"


async def test_a_set_of_selections_fits_the_confined_part_and_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "questions.jsonl"
    lines: list[dict[str, object]] = []
    for i in range(30):
        passage = f"Town {i} lies on the river Vist{i}. It has {i + 2} old bridges. The people of the town sell glass."
        for question, answers in (
            (f"How many old bridges has Town {i}?", [str(i + 2)]),
            ("Who wrote the Zauberberg?", []),
        ):
            known = {"id": f"{i}{len(answers)}", "title": f"t{i}", "passage": passage, "question": question}
            lines.append({**known, "answerable": bool(answers), "answers": answers})
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    shipped = json.dumps({part: {"intercept": 0, "weights": {}} for part in ("general", "confined")})
    result, model = await calibrate(path, searching=None, current=shipped)
    assert result.part == "confined"
    evaluation = evaluate_selected(path, confidence=Confidence.parse(model))
    words, decision, _ = (table.rows[0].figures for table in evaluation.tables)
    assert words["two sentences"].value == words["offsets exact"].value == 1
    assert decision["AUROC"].value > 0.95
    assert Logistic(0, {}).probability(Features()) == 0.5
