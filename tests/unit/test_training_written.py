"""Our own claims and questions: a row names a passage by digest, says truths and lies of it, and quotes by place."""

import json
from pathlib import Path

TRAINING = Path(__file__).parents[2] / "training"
ROWS, FOUND, PHRASED, ANSWERS, REPLIES, GENERAL, CONTRAST, TABLES = (
    [json.loads(line) for line in (TRAINING / "written" / name).read_text("utf-8").splitlines()]
    for name in (
        "passages.jsonl", "found.jsonl", "phrased.jsonl", "answers.jsonl", "replies.jsonl", "general.jsonl",
        "contrast.jsonl", "tables.jsonl",
    )
)  # fmt: skip


def test_each_passage_stands_once_and_has_truths_and_lies() -> None:
    assert len({row["passage"] for row in ROWS}) == len(ROWS) > 1000
    assert all(row["supported"] and row["contradicted"] + row["neutral"] for row in ROWS)


def test_no_claim_is_both_true_and_false_of_its_passage() -> None:
    for row in (*ROWS, *ANSWERS, *REPLIES, *GENERAL, *CONTRAST, *TABLES):
        assert not set(row["supported"]) & {*row["contradicted"], *row["neutral"]}


def test_what_answers_is_named_by_place_and_not_copied() -> None:
    for row in (*ROWS, *GENERAL, *CONTRAST, *TABLES):
        for question, pieces in row["questions"]:
            assert question.strip()
            assert pieces
            assert all(0 <= start < end <= 4000 for start, end in pieces)


def test_questions_to_what_was_found_name_what_answers_by_place_or_leave_it_open() -> None:
    assert len({row["question"] for row in FOUND}) > 500
    for row in FOUND:
        assert row["question"].strip()
        assert len({passage for passage, _ in row["passages"]}) == len(row["passages"])
        for _, pieces in row["passages"]:
            assert all(0 <= start < end for start, end in pieces or ())
    answered = [any(pieces for _, pieces in row["passages"]) for row in FOUND]
    assert 0.4 < sum(answered) / len(answered) < 0.9


def test_questions_in_other_words_belong_to_one_that_was_written_and_differ_from_it() -> None:
    asked = {row["question"] for row in FOUND}
    assert len(PHRASED) > 2000
    assert len({row["question"] for row in PHRASED}) == len(PHRASED)
    for row in PHRASED:
        assert row["question"] in asked
        assert len({row["question"], *row["as"]}) == 3
        assert all(3 <= len(way.split()) <= 40 for way in row["as"])


def test_sentences_of_answers_are_true_or_false_of_passages_that_were_found() -> None:
    found = {passage for row in FOUND for passage, _ in row["passages"]}
    assert len(ANSWERS) > 500
    assert len(REPLIES) > 1000
    for row in (*ANSWERS, *REPLIES):
        assert row["supported"]
        assert row["contradicted"] + row["neutral"]
        assert found.issuperset(row["passages"])


def test_paragraphs_of_public_sets_have_questions_that_only_look_answerable() -> None:
    assert len({row["passage"] for row in GENERAL}) == len(GENERAL) > 500
    for row in GENERAL:
        assert row["supported"]
        assert not {question for question, _ in row["questions"]} & set(row["misses"])
        assert len(row["misses"]) > len(row["questions"]) > 0


def test_contrasts_have_as_many_that_fail_as_that_hold() -> None:
    assert len({row["passage"] for row in CONTRAST}) == len(CONTRAST) > 1000
    for row in CONTRAST:
        assert 0 < len(row["supported"]) <= len(row["contradicted"]) + len(row["neutral"])
        assert 0 < len(row["questions"]) == len(row["misses"])


def test_of_tables_more_is_false_than_true_and_questions_have_near_misses() -> None:
    assert len({row["passage"] for row in TABLES}) == len(TABLES) > 200
    for row in TABLES:
        assert 0 < len(row["supported"]) <= len(row["contradicted"]) + len(row["neutral"])
        assert row["contradicted"]
        assert row["questions"]
        assert row["misses"]


def test_every_project_has_its_version_and_checksum() -> None:
    sources = json.loads((TRAINING / "written" / "sources.json").read_text("utf-8"))
    named = {row["project"] for row in (*ROWS, *FOUND, *ANSWERS, *REPLIES, *CONTRAST, *TABLES) if "project" in row}
    assert named <= set(sources)
    assert all(len(source["sha256"]) == 64 and source["version"] for source in sources.values())
