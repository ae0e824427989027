"""A book's own golden set: is the right page found, is the answer right, and is what the book does not say refused?

Takes the retriever and whatever answers; knows neither the engine nor where the index stands.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from citewell.retrieval import Found
from citewell.values import Answer, Message, Question
from citewell_evaluation import Evaluation, Figure, FigureRow, FigureTable, Item, Progress, ShownPassage, quiet
from citewell_evaluation.datasets import GoldenQuestion, fingerprint, name_of, read_golden
from citewell_evaluation.statistics import auroc, balanced_accuracy, bootstrap, bootstrap_mean, calibration_error
from citewell_evaluation.verdicts import Verdict, is_expected, verdict_of

TOP_K = 10
"""Passages looked at for the rank of the first right page."""
SESSION = "00000000-0000-4000-8000-000000000000"
"""Every question brings its own history, so that one session will do."""
_WORTH: dict[Verdict, float] = {"complete": 1.0, "partial": 0.5, "wrong": 0.0, "refused": 0.0, "answered": 0.0}


class Searching(Protocol):
    async def search(self, query: str, *, top_k: int) -> Found: ...


class Answering(Protocol):
    async def answer(self, question: Question) -> Answer: ...


@dataclass(frozen=True, slots=True)
class Outcome:
    """How one golden question went."""

    golden: GoldenQuestion
    found: Found
    answer: Answer

    @property
    def rank(self) -> int | None:
        """Of the first passage from an expected page, from 1."""
        urls = [scored.passage.url for scored in self.found.passages]
        return next((i for i, url in enumerate(urls, start=1) if is_expected(url, self.golden.urls)), None)

    @property
    def answered(self) -> bool:
        return self.answer.status == "success"

    @property
    def cites_expected(self) -> bool:
        return any(is_expected(citation.passage.url, self.golden.urls) for citation in self.answer.citations)

    @property
    def verdict(self) -> Verdict:
        if not self.answered:
            return "refused"
        return verdict_of(self.golden, self.answer.text, cites=self.cites_expected)

    @property
    def right(self) -> float:
        """1 for a whole answer, or for refusing what the book does not say; a half for a part of an answer."""
        if not self.golden.in_book:
            return float(not self.answered)
        return _WORTH[self.verdict]


async def evaluate_book(
    path: Path, *, searching: Searching, answering: Answering, progress: Progress = quiet
) -> Evaluation:
    golden = read_golden(path)
    outcomes = []
    for number, one in enumerate(golden, start=1):
        found = await searching.search(one.question, top_k=TOP_K)
        history: tuple[Message, ...] = ()
        for earlier in one.history:
            said = await answering.answer(Question(earlier, SESSION, history=history))
            history = (*history, Message("user", earlier), Message("assistant", said.text))
        answer = await answering.answer(Question(one.question, SESSION, history=history))
        outcomes.append(Outcome(one, found, answer))
        progress(number, len(golden), "questions")
    return Evaluation(
        kind="book",
        dataset=name_of(path),
        tables=(_found_table(outcomes), _answer_table(outcomes), _decision_table(outcomes)),
        items=tuple(_item(outcome) for outcome in outcomes),
        main="right",
        data_sha256=fingerprint(path),
    )


def _found_table(outcomes: Sequence[Outcome]) -> FigureTable:
    inside = [o for o in outcomes if o.golden.in_book]
    kinds = list(dict.fromkeys(o.golden.kind for o in inside))
    rows = [_found_row(kind, [o for o in inside if o.golden.kind == kind]) for kind in kinds]
    note = "Rank of the first passage from an expected page. Goal: MRR at least .85, hit@5 .97."
    return FigureTable("The right page found", (_found_row("all", inside), *rows), note)


def _found_row(name: str, outcomes: Sequence[Outcome]) -> FigureRow:
    ranks = [o.rank for o in outcomes]
    return FigureRow(
        name,
        {
            "questions": Figure(float(len(ranks))),
            "MRR": bootstrap_mean([1 / rank if rank else 0.0 for rank in ranks]),
            "hit@1": bootstrap_mean([float(rank == 1) for rank in ranks]),
            "hit@5": bootstrap_mean([float(rank is not None and rank <= 5) for rank in ranks]),
        },
    )


def _answer_table(outcomes: Sequence[Outcome]) -> FigureTable:
    inside = [o for o in outcomes if o.golden.in_book]
    kinds = list(dict.fromkeys(o.golden.kind for o in inside))
    rows = [_answer_row(kind, [o for o in inside if o.golden.kind == kind]) for kind in kinds]
    note = "Of the questions that the book answers. Complete: every phrase asked for, none forbidden, not too long."
    return FigureTable("Answers", (_answer_row("all", inside), *rows), note)


def _answer_row(name: str, outcomes: Sequence[Outcome]) -> FigureRow:
    verdicts = [o.verdict for o in outcomes]
    shares: dict[str, Figure] = {
        kind: bootstrap_mean([float(v == kind) for v in verdicts])
        for kind in ("complete", "partial", "wrong", "refused")
    }
    cited = bootstrap_mean([float(o.cites_expected) for o in outcomes])
    return FigureRow(name, {"questions": Figure(float(len(outcomes))), **shares, "expected page cited": cited})


def _decision_table(outcomes: Sequence[Outcome]) -> FigureTable:
    inside = [o.golden.in_book for o in outcomes]
    answered = [o.answered for o in outcomes]
    stated = [o.answer.confidence for o in outcomes]
    judged = [o for o in outcomes if _truth(o) is not None]
    figures = {
        "not in the book": Figure(float(inside.count(False))),
        "of these refused": bootstrap_mean([float(not o.answered) for o in outcomes if not o.golden.in_book]),
        "balanced accuracy": bootstrap(balanced_accuracy, answered, inside),
        "AUROC": bootstrap(auroc, stated, inside),
        "ECE": bootstrap(
            calibration_error, [o.answer.confidence for o in judged], [bool(_truth(o)) for o in judged], samples=200
        ),
    }
    note = "Answering what the book says against refusing what it does not; goal: all refused, ECE at most .05."
    return FigureTable("Answer or refuse", (FigureRow("all", figures),), note)


def _truth(outcome: Outcome) -> bool | None:
    """Whether the answer was right. Unknown for a refusal of what the book does say: there was no answer to judge."""
    if outcome.golden.in_book:
        return outcome.verdict == "complete" if outcome.answered else None
    return False


def _item(outcome: Outcome) -> Item:
    golden, answer = outcome.golden, outcome.answer
    scores = {"right": outcome.right}
    if golden.in_book:
        scores["reciprocal rank"] = 1 / outcome.rank if outcome.rank else 0.0
    truth = _truth(outcome)
    return Item(
        id=golden.id,
        question=golden.question,
        scores=scores,
        answer=answer.text,
        expected="\n".join((*golden.urls, *(" or ".join(group) for group in golden.must))) or "not in the book",
        passages=tuple(
            ShownPassage(s.passage.section_url, s.passage.text, s.score, is_expected(s.passage.url, golden.urls))
            for s in outcome.found.passages[:5]
        ),
        probability=None if truth is None else answer.confidence,
        truth=truth,
        elapsed_ms=answer.elapsed_ms,
    )
