"""A golden set measured over a retriever and an engine that are played, so that every figure is known beforehand."""

import json
from pathlib import Path

import pytest

from citewell.retrieval import Found
from citewell.values import Answer, Citation, Passage, Question, ScoredPassage
from citewell_evaluation import Evaluation
from citewell_evaluation.book import evaluate_book
from citewell_evaluation.datasets import GoldenQuestion
from citewell_evaluation.json_form import to_json, without_times
from citewell_evaluation.verdicts import folded, is_expected, verdict_of

GOLDEN = [
    {"question": "What is a node?", "kind": "factual", "urls": ["/docs/nodes"], "answer": "a running process"},
    {"question": "How do I start it?", "kind": "procedural", "urls": ["/docs/launch"], "answer": "ros2 run"},
    {"question": "What is a topic?", "kind": "factual", "urls": ["/docs/topics"]},
    {"question": "Who won the cup?", "not_in_book": True},
    {"question": "How is bread made?", "not_in_book": True},
]
FOUND = {
    "What is a node?": ["/docs/nodes", "/docs/launch"],
    "How do I start it?": ["/docs/nodes", "/docs/launch"],
    "What is a topic?": ["/docs/nodes"],
}
ANSWERS = {
    "What is a node?": ("A node is a *running*\nprocess [1].", "/docs/nodes", 0.9),
    "How do I start it?": ("Use the launcher [1].", "/docs/nodes", 0.6),
    "Who won the cup?": ("A node won [1].", "/docs/nodes", 0.5),
}


def passage(url: str) -> Passage:
    return Passage(f"id{url}", f"https://book.example.com{url}", "Title", f"Text of {url}.", 0, 0, 10)


class Searching:
    async def search(self, query: str, *, top_k: int) -> Found:
        scored = tuple(ScoredPassage(passage(u), 0.5, 0.5, 1.0, 0.5) for u in FOUND.get(query, []))
        return Found(scored[:top_k], len(scored), "g", 1.0, 1.0, query)


class Answering:
    def __init__(self, elapsed_ms: float = 5.0) -> None:
        self._elapsed_ms = elapsed_ms

    async def answer(self, question: Question) -> Answer:
        text, url, confidence = ANSWERS.get(question.text, ("I could not find this.", "", 0.1))
        citations = (Citation(1, passage(url), 0.5, "quote"),) if url else ()
        return Answer(
            id="id",
            session_id=question.session_id,
            mode="general",
            text=text,
            status="success" if url else "refused",
            citations=citations,
            confidence=confidence,
            confidence_level="high" if confidence >= 0.8 else "insufficient",
            model="m",
            chunks_retrieved=1,
            elapsed_ms=self._elapsed_ms,
        )


@pytest.fixture
def golden(tmp_path: Path) -> Path:
    path = tmp_path / "golden.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in GOLDEN))
    return path


def value(evaluation: Evaluation, table: str, row: str, column: str) -> float:
    (found,) = [t for t in evaluation.tables if t.title == table]
    return next(r for r in found.rows if r.name == row).figures[column].value


async def test_the_rank_of_the_right_page_is_counted(golden: Path) -> None:
    found = await evaluate_book(golden, searching=Searching(), answering=Answering())
    assert value(found, "The right page found", "all", "MRR") == pytest.approx((1 + 1 / 2 + 0) / 3)
    assert value(found, "The right page found", "all", "hit@5") == pytest.approx(2 / 3)
    assert value(found, "The right page found", "procedural", "hit@1") == 0.0


async def test_an_answer_needs_the_golden_words(golden: Path) -> None:
    found = await evaluate_book(golden, searching=Searching(), answering=Answering())
    assert value(found, "Answers", "all", "complete") == pytest.approx(1 / 3)
    assert value(found, "Answers", "all", "wrong") == pytest.approx(1 / 3)
    assert value(found, "Answers", "all", "refused") == pytest.approx(1 / 3)
    assert {i.question: i.scores["right"] for i in found.items} == {
        "What is a node?": 1.0,
        "How do I start it?": 0.0,
        "What is a topic?": 0.0,
        "Who won the cup?": 0.0,
        "How is bread made?": 1.0,
    }


async def test_answering_what_the_book_does_not_say_is_a_fault(golden: Path) -> None:
    found = await evaluate_book(golden, searching=Searching(), answering=Answering())
    assert value(found, "Answer or refuse", "all", "of these refused") == 0.5


async def test_a_refusal_of_what_the_book_says_has_no_truth_to_calibrate_on(golden: Path) -> None:
    found = await evaluate_book(golden, searching=Searching(), answering=Answering())
    judged = {i.question: i.truth for i in found.items}
    assert judged["What is a topic?"] is None
    assert judged["How is bread made?"] is False


async def test_two_runs_give_the_same_bytes_apart_from_times(golden: Path) -> None:
    one = to_json(await evaluate_book(golden, searching=Searching(), answering=Answering(5.0)))
    two = to_json(await evaluate_book(golden, searching=Searching(), answering=Answering(7.0)))
    assert one != two
    assert without_times(one) == without_times(two)


async def test_progress_is_told_for_each_question(golden: Path) -> None:
    told: list[tuple[int, int]] = []

    def progress(done: int, total: int, what: str, /) -> None:
        told.append((done, total))

    await evaluate_book(golden, searching=Searching(), answering=Answering(), progress=progress)
    assert told == [(1, 5), (2, 5), (3, 5), (4, 5), (5, 5)]


def test_an_address_with_a_host_matches_exactly() -> None:
    assert is_expected("https://a.example/docs/x", ["https://a.example/docs/x"])
    assert not is_expected("https://a.example/docs/x.html", ["https://a.example/docs/x"])
    assert not is_expected("https://b.example/docs/x", ["https://a.example/docs/x"])


def test_a_page_is_known_by_the_end_of_its_path() -> None:
    assert is_expected("/en/quickstart/#post", ["/quickstart/"])
    assert is_expected("https://a.example/docs/x", ["/docs/x"])
    assert is_expected("https://a.example/book/ch04-01.html#rules", ["/ch04-01"])
    assert is_expected("https://a.example/ch04-01", ["/ch04-01.html"])
    assert not is_expected("https://a.example/docs/xy", ["/docs/x"])
    assert not is_expected("https://a.example/docs", ["/docs/x"])
    assert is_expected("/", ["/"])
    assert not is_expected("/quickstart/", ["/"])


def test_words_are_found_through_markers_emphasis_and_line_breaks() -> None:
    assert folded("Use `ros2` **run**\nnow [12].") == "use ros2 run now ."
    assert folded("| a | _b_ | snake_case |") == " a b snake_case "


KINDS = GoldenQuestion(
    "1", "Which kinds?", ("/p",), "list", (("read", "reading"), ("write",)), must_not=("seek",), max_words=8
)


@pytest.mark.parametrize(
    ("answer", "verdict"),
    [
        ("There are read and `write` [1].", "complete"),
        ("There is reading.", "partial"),
        ("Read, write and seek.", "partial"),
        ("Read and write, and here are many more words than wanted.", "partial"),
        ("Neither.", "wrong"),
    ],
)
def test_an_answer_is_complete_partial_or_wrong_by_its_phrases(answer: str, verdict: str) -> None:
    assert verdict_of(KINDS, answer, cites=False) == verdict


async def test_a_follow_up_is_asked_after_its_earlier_question(tmp_path: Path) -> None:
    path = tmp_path / "talks.jsonl"
    line = {"question": "How do I start it?", "urls": ["/docs/launch"], "history": ["What is a node?"]}
    path.write_text(json.dumps(line | {"must": [["launcher"]], "max_words": 9}))
    asked: list[Question] = []

    class Listening(Answering):
        async def answer(self, question: Question) -> Answer:
            asked.append(question)
            return await super().answer(question)

    found = await evaluate_book(path, searching=Searching(), answering=Listening())
    assert [m.content for m in asked[1].history or ()] == ["What is a node?", ANSWERS["What is a node?"][0]]
    assert value(found, "Answers", "all", "complete") == 1
