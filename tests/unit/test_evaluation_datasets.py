"""Readers of evaluation data name the file and the line of what is wrong, and skip nothing in silence."""

import json
from pathlib import Path

import pytest

from citewell.errors import InvalidInputError
from citewell.values import Message
from citewell_evaluation.datasets import (
    fingerprint,
    name_of,
    read_claims,
    read_conflicts,
    read_corpus_questions,
    read_golden,
    read_listed_questions,
    read_passage_questions,
    read_retrieval,
)


def write(path: Path, *lines: object) -> Path:
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def test_a_retrieval_set_is_a_corpus_and_its_queries(tmp_path: Path) -> None:
    write(tmp_path / "corpus.jsonl", {"id": "d1", "title": "T", "text": "body"})
    write(
        tmp_path / "queries.jsonl",
        {
            "id": "q1",
            "text": "and that?",
            "rewritten": "what is T?",
            "history": [{"role": "user", "content": "T"}, {"role": "assistant", "content": "is"}],
            "relevant": {"d1": 2},
        },
    )
    found = read_retrieval(tmp_path)
    assert found.documents[0].title == "T"
    (query,) = found.queries
    assert query.history == (Message("user", "T"), Message("assistant", "is"))
    assert (query.rewritten, query.relevant) == ("what is T?", {"d1": 2.0})


def test_each_form_of_data_is_read(tmp_path: Path) -> None:
    squad = {"id": "1", "passage": "A b.", "question": "Q?", "answerable": True, "answers": ["b"]}
    assert read_passage_questions(write(tmp_path / "a.jsonl", squad))[0].answers == ("b",)
    turn = {"id": "1", "question": "Q?", "history": [], "answerability": "partial", "passages": ["p"]}
    assert read_corpus_questions(write(tmp_path / "b.jsonl", turn))[0].answerability == "partial"
    listed = {"id": "1", "question": "Q?", "passages": ["x", "y"], "answerable": False}
    assert read_listed_questions(write(tmp_path / "c.jsonl", listed))[0].passages == ("x", "y")
    claim = {"id": "1", "evidence": ["e"], "claim": "c", "supported": False, "relation": "neutral"}
    assert read_claims(write(tmp_path / "d.jsonl", claim))[0].relation == "neutral"
    pair = {"id": "1", "question": "Q?", "passages": ["x", "y"], "conflicting": True}
    assert read_conflicts(write(tmp_path / "e.jsonl", pair))[0].conflicting
    answers = ("6", "unknown", "7")
    mixed = {"id": "1", "question": "Q?", "passages": [{"text": f"It is {a}.", "answer": a} for a in answers]}
    assert [q.passages for q in read_conflicts(write(tmp_path / "f.jsonl", mixed))] == [("It is 6.", "It is 7.")]


def test_a_golden_set_holds_what_the_book_says_and_what_it_does_not(tmp_path: Path) -> None:
    inside, outside = read_golden(
        write(
            tmp_path / "golden.jsonl",
            {"question": "What is a node?", "kind": "factual", "urls": ["/docs/nodes"], "must": [["a process"]]},
            {"question": "Who won?", "not_in_book": True},
        )
    )
    assert (inside.in_book, inside.must, inside.id) == (True, (("a process",),), "1")
    assert (outside.in_book, outside.kind) == (False, "negative")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"question": "Q?"}', "line 2: give either"),
        ('{"question": "Q?", "urls": ["/a"], "not_in_book": true}', "line 2: give either"),
        ('{"question": 3, "urls": ["/a"]}', "line 2: `question`: Input should be a valid string"),
        ('{"question": "Q?", "urls": "/a"}', "line 2: `urls`: Input should be a valid array"),
        ("[1]", "line 2: not a JSON object"),
        ("{", "line 2: not JSON"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    path = tmp_path / "golden.jsonl"
    path.write_text('{"question": "Q?", "urls": ["/a"]}\n' + line + "\n")
    with pytest.raises(InvalidInputError, match=message):
        read_golden(path)


def test_an_empty_or_missing_file_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").write_text("\n")
    with pytest.raises(InvalidInputError, match="is empty"):
        read_golden(tmp_path / "empty.jsonl")
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_golden(tmp_path / "none.jsonl")


def test_data_is_named_without_the_path_of_the_machine_and_known_by_its_bytes(tmp_path: Path) -> None:
    folder = tmp_path / "squad2"
    folder.mkdir()
    path = write(folder / "questions.jsonl", {"a": 1})
    assert name_of(path) == "squad2/questions"
    assert name_of(folder) == "squad2"
    before = fingerprint(path)
    write(path, {"a": 2})
    assert fingerprint(path) != before
