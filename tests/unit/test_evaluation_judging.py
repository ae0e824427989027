"""The judge and the search for contradictions measured on cases whose verdicts are known beforehand."""

import json
from collections.abc import Sequence
from pathlib import Path

import pytest

from citewell.grounding.support import Support
from citewell_evaluation.judging import evaluate_conflicts, evaluate_support


class SaysYesToBlue:
    """A judge that is right about blue things and wrong about the rest."""

    def judge(self, sentence: str, passages: Sequence[str]) -> Support:
        yes = "blue" in sentence
        return Support(0.9 if yes else 0.2, yes, 0, None, "" if yes else "not blue")


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def claims(count: int) -> list[object]:
    made: list[object] = []
    for number in range(count):
        made.append({"id": f"a{number}", "claim": "The car is blue.", "evidence": ["A blue car."], "supported": True})
        made.append({"id": f"b{number}", "claim": "The car is red.", "evidence": ["A blue car."], "supported": False})
        made.append({"id": f"c{number}", "claim": "The car is big.", "evidence": ["A big car."], "supported": True})
    return made


async def test_what_passes_is_told_apart_for_supported_and_other_claims(tmp_path: Path) -> None:
    found = await evaluate_support(write(tmp_path / "cars.jsonl", *claims(40)), judge=SaysYesToBlue())
    figures = found.tables[0].rows[0].figures
    assert figures["passed of the others"].value == 0.0
    assert 0.2 < figures["passed of the supported"].value < 0.8
    assert figures["balanced accuracy"].value == pytest.approx((figures["passed of the supported"].value + 1) / 2)


async def test_claims_that_the_judge_was_fitted_on_are_left_out(tmp_path: Path) -> None:
    found = await evaluate_support(write(tmp_path / "cars.jsonl", *claims(40)), judge=SaysYesToBlue())
    assert 0 < len(found.items) < 120


async def test_a_folder_gives_a_row_for_each_set_and_their_average(tmp_path: Path) -> None:
    write(tmp_path / "one.jsonl", *claims(20))
    write(tmp_path / "two.jsonl", *claims(20))
    found = await evaluate_support(tmp_path, judge=SaysYesToBlue())
    assert [row.name for row in found.tables[0].rows] == ["one", "two", "average of the sets"]


async def test_contradictions_are_counted_as_found_missed_or_false_alarm(tmp_path: Path) -> None:
    question = "How tall is the tower?"
    path = write(
        tmp_path / "towers.jsonl",
        {
            "question": question,
            "passages": ["The tower is 300 m tall.", "The tower is 210 m tall."],
            "conflicting": True,
        },
        {
            "question": question,
            "passages": ["The tower is 300 m tall.", "The tower is 300 m tall."],
            "conflicting": False,
        },
        {"question": question, "passages": ["The tower is lovely.", "Few like the tower."], "conflicting": True},
    )
    found = await evaluate_conflicts(path)
    figures = found.tables[0].rows[0].figures
    assert figures["precision"].value == 1.0
    assert figures["recall"].value == 0.5
    assert figures["false alarms"].value == 0.0
    assert [item.scores["right"] for item in found.items] == [1.0, 1.0, 0.0]
