"""The built-in answering model measured: does the answer hold the right words, and is what cannot be answered refused?

Two settings: a passage that the reader selected (SQuAD 2.0's form) and a whole index (MTRAG's form, with any searcher).
"""

import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from citewell.confidence import ANSWER_FROM, Confidence
from citewell.extractive import Numbered, Reading, compose, quoted, read
from citewell.models import Message
from citewell.retrieval import Found
from citewell_evaluation import Evaluation, Figure, FigureRow, FigureTable, Item, Progress, quiet
from citewell_evaluation.datasets import (
    CorpusQuestion,
    PassageQuestion,
    fingerprint,
    name_of,
    read_corpus_questions,
    read_passage_questions,
)
from citewell_evaluation.statistics import auroc, balanced_accuracy, bootstrap, bootstrap_mean, calibration_error

TOP_K = 5
_MARKERS = re.compile(r"\s*\[\d{1,4}\]")


class Searching(Protocol):
    async def search(self, query: str, *, top_k: int, history: Sequence[Message] = ()) -> Found: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one question went."""

    id: str
    question: str
    answerable: bool
    answer: str
    probability: float
    right: bool
    """For an answerable question: whether the answer has the gold span, or quotes a reference passage; for any other:
    whether it would be refused."""
    right_with_one: bool = False
    """The same with one sentence."""
    exact: bool = True
    """Whether every quoted piece stands in its passage, word for word."""
    elapsed_ms: float = 0.0


def evaluate_selected(path: Path, *, confidence: Confidence, progress: Progress = quiet) -> Evaluation:
    """Selected-text mode: the answer's words against the gold span, and answering against refusing."""
    questions = read_passage_questions(path)
    outcomes = []
    for number, question in enumerate(questions, start=1):
        outcomes.append(_selected(question, confidence))
        progress(number, len(questions), "questions")
    return _evaluation(path, outcomes, (_words_table(outcomes), _decision_table(outcomes), _time_table(outcomes)))


async def evaluate_corpus(
    path: Path, *, searching: Searching, confidence: Confidence, progress: Progress = quiet
) -> Evaluation:
    """General mode over an index: answerable against unanswerable turns. Partial and idle turns are left out."""
    questions = [q for q in read_corpus_questions(path) if q.answerability in ("answerable", "unanswerable")]
    outcomes = []
    for number, question in enumerate(questions, start=1):
        found = await searching.search(question.question, top_k=TOP_K, history=question.history)
        outcomes.append(_searched(question, found, confidence))
        progress(number, len(questions), "questions")
    return _evaluation(path, outcomes, (_decision_table(outcomes), _time_table(outcomes)))


def _selected(question: PassageQuestion, confidence: Confidence) -> Outcome:
    started = time.perf_counter()
    reading = read(question.question, [Numbered(1, question.passage)])
    answer = compose(reading, limit=2)
    elapsed = (time.perf_counter() - started) * 1000
    probability = confidence.probability(reading.features, confined=True)
    refused = probability < ANSWER_FROM
    right, right_with_one = (holds(text, question.answers) for text in (answer, compose(reading, limit=1)))
    return Outcome(
        id=question.id,
        question=question.question,
        answerable=question.answerable,
        answer=answer,
        probability=probability,
        right=right if question.answerable else refused,
        right_with_one=right_with_one if question.answerable else refused,
        exact=stands_in_place(reading),
        elapsed_ms=elapsed,
    )


def _searched(question: CorpusQuestion, found: Found, confidence: Confidence) -> Outcome:
    started = time.perf_counter()
    asked = [message.content for message in question.history if message.role == "user"]
    reading = read(question.question, numbered(found), earlier=asked[-1] if asked else "", background=found.background)
    answer = compose(reading)
    elapsed = (time.perf_counter() - started) * 1000
    probability = confidence.probability(reading.features, confined=False) if found.passages else 0.0
    answerable = question.answerability == "answerable"
    return Outcome(
        id=question.id,
        question=question.question,
        answerable=answerable,
        answer=answer,
        probability=probability,
        right=quotes_reference(reading, found, question.passages) if answerable else probability < ANSWER_FROM,
        exact=stands_in_place(reading),
        elapsed_ms=elapsed,
    )


def quotes_reference(reading: Reading, found: Found, references: Sequence[str]) -> bool:
    """Whether something quoted stands in a reference passage, wherever it was quoted from: corpora repeat."""
    right = [scored.passage.text for scored in found.passages if scored.passage.url in references]
    return any(
        reading.passages[piece.passage].text[piece.start : piece.end] in text
        for piece in quoted(reading)
        for text in right
    )


def numbered(found: Found) -> list[Numbered]:
    """Passages as the answering model sees them."""
    return [
        Numbered(number, s.passage.text, s.passage.page_title, s.passage.heading_path, s.score, s.bm25, s.fused)
        for number, s in enumerate(found.passages, start=1)
    ]


def stands_in_place(reading: Reading) -> bool:
    """Whether each piece is what stands at its offsets, apart from line breaks and quotation signs."""
    for scored in reading.scored:
        piece = scored.piece
        there = reading.passages[piece.passage].text[piece.start : piece.end]
        if piece.kind != "heading" and _bare(piece.text) != _bare(there):
            return False
    return True


def _bare(text: str) -> str:
    return re.sub(r"[\s>]+", "", text)


def holds(answer: str, spans: Sequence[str]) -> bool:
    """Whether the answer, without its markers, has one of the spans word for word."""
    text = " ".join(_MARKERS.sub("", answer).split())
    return any(" ".join(span.split()) in text for span in spans)


def _evaluation(path: Path, outcomes: Sequence[Outcome], tables: tuple[FigureTable, ...]) -> Evaluation:
    return Evaluation(
        kind="answers",
        dataset=name_of(path),
        tables=tables,
        items=tuple(_item(outcome) for outcome in outcomes),
        main="right",
        data_sha256=fingerprint(path),
    )


def _words_table(outcomes: Sequence[Outcome]) -> FigureTable:
    answerable = [o for o in outcomes if o.answerable]
    figures = {
        "questions": Figure(float(len(answerable))),
        "two sentences": bootstrap_mean([float(o.right) for o in answerable]),
        "one sentence": bootstrap_mean([float(o.right_with_one) for o in answerable]),
        "offsets exact": bootstrap_mean([float(o.exact) for o in outcomes]),
    }
    note = "Share of the answerable questions whose answer holds the gold span, refusing none. Goal: .96 and .89."
    return FigureTable("The right words", (FigureRow("all", figures),), note)


def _decision_table(outcomes: Sequence[Outcome]) -> FigureTable:
    answerable = [o.answerable for o in outcomes]
    stated = [o.probability for o in outcomes]
    truth = [o.answerable and o.right for o in outcomes]
    figures = {
        "questions": Figure(float(len(outcomes))),
        "answerable answered": bootstrap_mean([float(o.probability >= ANSWER_FROM) for o in outcomes if o.answerable]),
        "others refused": bootstrap_mean([float(o.probability < ANSWER_FROM) for o in outcomes if not o.answerable]),
        "balanced accuracy": bootstrap(balanced_accuracy, [p >= ANSWER_FROM for p in stated], answerable),
        "AUROC": bootstrap(auroc, stated, answerable),
        "ECE": bootstrap(calibration_error, stated, truth, samples=200),
    }
    note = f"Answered when the confidence is at least {ANSWER_FROM:g}. Goal: AUROC .70, ECE at most .05."
    return FigureTable("Answer or refuse", (FigureRow("all", figures),), note)


def _time_table(outcomes: Sequence[Outcome]) -> FigureTable:
    times = sorted(o.elapsed_ms for o in outcomes)
    figures = {"median_ms": Figure(times[len(times) // 2]), "p95_ms": Figure(times[int(len(times) * 0.95)])}
    return FigureTable(
        "Reading and composing", (FigureRow("all", figures),), "On one core of the machine that measured."
    )


def _item(outcome: Outcome) -> Item:
    return Item(
        id=outcome.id,
        question=outcome.question,
        scores={"right": float(outcome.right)},
        answer=outcome.answer,
        probability=outcome.probability,
        truth=outcome.answerable and outcome.right,
        elapsed_ms=outcome.elapsed_ms,
    )
