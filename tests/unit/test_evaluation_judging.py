"""The judge, the gate and the vetoes measured on cases whose verdicts are known beforehand."""

import json
from pathlib import Path

import pytest

from citewell.inference import ReadingModel
from citewell.judge import Finding, Lines
from citewell.wiring import Models
from citewell_evaluation.datasets import Claim
from citewell_evaluation.judging import Measured, evaluate_support
from citewell_evaluation.lines import MOST_LIES, fitted
from tests.support.judges import WordJudge

MEASURED = Measured(WordJudge(), Models(ReadingModel()), Lines(0.5, 0.5))


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


async def test_claims_answers_and_vetoes_stand_in_one_report(tmp_path: Path) -> None:
    car = {"evidence": ["A blue car has 4 doors and weighs 900 kg."]}
    claims = write(
        tmp_path / "cars.jsonl",
        {"id": "a", "claim": "The car is blue.", "supported": True, **car},
        {"id": "b", "claim": "The car weighs 700 kg.", "supported": False, **car},
        {"id": "c", "claim": "The car is fast.", "supported": True, **car},
    )
    given = {"passages": ["Pumps need oil."], "answer": "Pumps need oil. The moon is cheese."}
    answers = write(
        tmp_path / "given.jsonl",
        {"id": "1", "model": "human", "faithfulness": None, **given},
        {"id": "2", "model": "gpt-4o", "faithfulness": 3, **given},
    )
    found = await evaluate_support([claims, answers], measured=MEASURED)
    rows = {row.name: row.figures for row in found.tables[0].rows}
    assert rows["cars"]["truths kept"].value == 0.5
    assert rows["cars"]["lies passed"].value == 0.0
    assert rows["given: human"]["sentences kept"].value == 0.5
    assert rows["given: gpt-4o rated lower"]["first dropped"].value == 0.0
    [veto] = found.tables[1].rows
    assert (veto.name, veto.figures["truths lost"].value, veto.figures["lies caught"].value) == ("cars: number", 0, 1)


def test_the_line_is_drawn_where_few_enough_lies_pass() -> None:
    cases = [Claim(str(n), "", (), supported=n < 100) for n in range(200)]
    found = [Finding("not_stated", 0.5 + n / 200 if n < 100 else (n - 100) / 200) for n in range(200)]
    made = fitted(cases, found)
    assert made.lies_passed == pytest.approx(MOST_LIES, abs=0.011)
    assert made.truths_kept == 1.0
    assert made.lines.supported == pytest.approx(0.495 - MOST_LIES / 2, abs=0.01)
