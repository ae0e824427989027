"""Our own claims and questions: a row names a passage by digest, says truths and lies of it, and quotes by place."""

import json
from pathlib import Path

TRAINING = Path(__file__).parents[2] / "training"
ROWS = [json.loads(line) for line in (TRAINING / "written" / "passages.jsonl").read_text("utf-8").splitlines()]


def test_each_passage_stands_once_and_has_truths_and_lies() -> None:
    assert len({row["passage"] for row in ROWS}) == len(ROWS) > 1000
    assert all(row["supported"] and row["contradicted"] + row["neutral"] for row in ROWS)


def test_no_claim_is_both_true_and_false_of_its_passage() -> None:
    for row in ROWS:
        assert not set(row["supported"]) & {*row["contradicted"], *row["neutral"]}


def test_what_answers_is_named_by_place_and_not_copied() -> None:
    for row in ROWS:
        for question, pieces in row["questions"]:
            assert question.strip()
            assert pieces
            assert all(0 <= start < end <= 2000 for start, end in pieces)


def test_every_project_has_its_version_and_checksum() -> None:
    sources = json.loads((TRAINING / "written" / "sources.json").read_text("utf-8"))
    assert {row["project"] for row in ROWS} <= set(sources)
    assert all(len(source["sha256"]) == 64 and source["version"] for source in sources.values())
