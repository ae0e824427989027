"""The judge's parts: amounts, names, quotes; and its figures' arithmetic."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.grounding.quantities import quantities
from citewell.grounding.support import BuiltinJudge
from citewell_evaluation.boosting import Boosting
from citewell_evaluation.support import fit


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("1,000", "1000"),
        ("one thousand", "1000"),
        ("twenty-five cameras", "25 cameras"),
        ("5 kg", "5000 g"),
        ("0.5 s", "500 ms"),
        ("850 mm", "0.85 m"),
        ("10 percent", "10%"),
        ("2 hours", "120 minutes"),
        ("5 million", "5,000,000"),
        ("v1.2.3", "1.2.3"),
        ("a dozen robots", "12 robots"),
        ("3.6 km/h", "1 m/s"),
    ],
)
def test_the_same_amount_in_two_forms_is_equal(one: str, other: str) -> None:
    assert quantities(one)[0].equals(quantities(other)[0])


@pytest.mark.parametrize(
    ("one", "other"), [("5 kg", "5 m"), ("5 kg", "5 g"), ("10 Hz", "100 Hz"), ("v1.2.3", "v1.2.4"), ("-5", "5")]
)
def test_other_amounts_are_not_equal(one: str, other: str) -> None:
    assert not quantities(one)[0].equals(quantities(other)[0])


def test_dates_are_read_in_every_order() -> None:
    forms = ["May 14, 2019", "14 May 2019", "2019-05-14", "5/14/2019"]
    assert len({tuple(sorted((q.dimension, q.value) for q in quantities(f))) for f in forms}) == 1


@pytest.mark.parametrize("name", ["nav2_bringup", "UR5", "3D", "ros2", "Atlas-6"])
def test_a_digit_in_a_name_is_no_amount(name: str) -> None:
    assert quantities(f"the {name} thing") == []


def test_a_unit_after_a_range_belongs_to_both_ends() -> None:
    assert [(q.raw, q.dimension) for q in quantities("5 to 10 m")] == [(5.0, "length"), (10.0, "length")]


@given(st.text(max_size=200), st.text(max_size=200))
def test_the_judge_takes_any_text(sentence: str, passage: str) -> None:
    found = BuiltinJudge().judge(sentence, [passage])
    assert 0 <= found.score <= 1
    assert found.quote is None or 0 <= found.quote[0] < found.quote[1] <= len(passage)


def test_the_quote_is_the_place_that_supports() -> None:
    passage = "The robot is blue.\n\n- The arm lifts 5 kg.\n- The arm reaches 850 mm."
    found = BuiltinJudge().judge("The arm can lift 5 kilograms.", ["Nothing here.", passage])
    assert found.best == 1
    assert found.quote is not None
    assert passage[slice(*found.quote)] == "The arm lifts 5 kg."


def test_two_sentences_of_one_passage_support_together() -> None:
    passage = "The arm lifts 5 kg. It is sold by Acme. Its reach is 850 mm."
    assert BuiltinJudge().judge("The arm lifts 5 kg and has a reach of 850 mm.", [passage]).supported


def test_a_negated_sentence_is_not_supported_by_a_part_of_it() -> None:
    assert (
        not BuiltinJudge().judge("The robot is waterproof.", ["It is not true that the robot is waterproof."]).supported
    )


def test_no_passage_supports_nothing() -> None:
    assert not BuiltinJudge().judge("The arm lifts 5 kg.", []).supported


def _dataset(folder: Path) -> Path:
    path = folder / "support.jsonl"
    items = [
        {
            "id": f"{i}",
            "claim": f"The arm lifts {i + (i % 2)} kg [1].",
            "evidence": [f"The arm lifts {i} kg."],
            "supported": i % 2 == 0,
        }
        for i in range(2, 40)
    ]
    path.write_text("\n".join(json.dumps(item) for item in items), "utf-8")
    return path


def test_the_same_data_gives_the_same_model(tmp_path: Path) -> None:
    path = _dataset(tmp_path)
    how = Boosting(trees=5, least=2, share=1.0)
    bias, trees = fit([path], how)
    assert (bias, trees) == fit([path], how)
    assert any(tree["leaves"] != [0.0] * 4 for tree in trees)
