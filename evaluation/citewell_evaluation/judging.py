"""The judge, the gate and the search for contradictions, measured on labelled sets: one table, every case behind it."""

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from citewell.answering.composition import statements_of
from citewell.document import split_sentences
from citewell.errors import InvalidInputError
from citewell.gate import CitationGate
from citewell.judge import Claim as Said
from citewell.judge import Conflicts, Finding, Judge, Lines, Shown, TrainedJudge, passage_of
from citewell.judge.vetoes import Veto, Vetoes
from citewell.reader import TrainedReader
from citewell.values import ScoredPassage
from citewell.wiring import Models
from citewell_evaluation import Evaluation, Figure, FigureRow, FigureTable, Item, Progress, ShownPassage, quiet
from citewell_evaluation.datasets import (
    Claim,
    GivenAnswer,
    fingerprint,
    form_of,
    name_of,
    read_answers,
    read_claims,
    read_conflicts,
)
from citewell_evaluation.statistics import auroc, balanced_accuracy, bootstrap, bootstrap_mean, percentile

_SHOWN = 1200
"""Characters of a passage that the report keeps."""
_TRAINED_ON = {"snli": "another part was trained on"}
_VETOES: tuple[Veto, ...] = ("number", "code", "address", "order")
_FAITHFUL = 4.0
_MARKED = ("gpt-4o", "llama-3.1-405b")
"""Models whose answers count only when a person found them fully faithful."""


@dataclass(frozen=True, slots=True)
class Measured:
    """What is measured: the judge with its lines, and the models that find what answers a question."""

    judge: Judge
    models: Models
    lines: Lines


async def evaluate_support(
    paths: Sequence[Path], *, measured: Measured, limit: int | None = None, progress: Progress = quiet
) -> Evaluation:
    """Files of claims, of whole answers, of contradictions, or folders of such files; `limit` cases of each."""
    rows: list[FigureRow] = []
    vetoes: list[FigureRow] = []
    items: list[Item] = []
    files = [file for path in paths for file in _files(path)]
    for file in files:
        match form_of(file):
            case "claims":
                cases = read_claims(file)[:limit]
                found = await _judged(file.stem, cases, measured.judge, progress)
                rows.append(_claims_row(_named(file.stem), found))
                vetoes += _veto_rows(file.stem, cases)
            case "given":
                found = await _through_the_gate(file.stem, read_answers(file)[:limit], measured.judge, progress)
                rows += _answer_rows(file.stem, found)
            case "conflicts":
                found = await _compared(file, measured, limit, progress)
                rows.append(_conflict_row(file.stem, found))
            case _:
                raise InvalidInputError(f"{file.name} has neither claims, nor whole answers, nor contradictions.")
        items += found
    note = f"Judged by {measured.judge.name}; in conflict from {measured.lines.conflict:g}."
    tables = (
        FigureTable("Supported or not", tuple(rows), note),
        FigureTable("Each veto alone", tuple(vetoes), "What it would drop if there were nothing else."),
    )
    return Evaluation(
        kind="support",
        dataset=", ".join(name_of(path) for path in paths),
        tables=tables,
        items=tuple(items),
        main="right",
        data_sha256=fingerprint(*files),
    )


def _files(path: Path) -> list[Path]:
    return sorted(path.glob("*.jsonl")) if path.is_dir() else [path]


def _named(name: str) -> str:
    return f"{name} ({_TRAINED_ON[name]})" if name in _TRAINED_ON else name


async def findings(
    cases: Sequence[Claim], judge: Judge, seen: Callable[[int, Finding, float], Awaitable[None] | None]
) -> None:
    """The finding of each claim, with the milliseconds that the sentence took once its evidence was read."""
    for number, case in enumerate(cases, start=1):
        shown = Shown(judge)
        for place, text in enumerate(case.evidence, start=1):
            title = case.headings[place - 1] if len(case.headings) == len(case.evidence) else ""
            shown.show(place, passage_of(text, place, title))
        await shown.find([Said("The evidence is read.")])  # as when a passage is shown, before there is a sentence
        start = time.perf_counter()
        [finding] = await shown.find([Said(case.claim)])
        seen(number, finding, (time.perf_counter() - start) * 1000)


async def _judged(name: str, cases: Sequence[Claim], judge: Judge, progress: Progress) -> list[Item]:
    items: list[Item] = []

    def seen(number: int, finding: Finding, elapsed: float) -> None:
        case = cases[number - 1]
        items.append(
            Item(
                id=f"{name}/{case.id}",
                question=case.claim,
                scores={"right": float(finding.supported == case.supported), "said": float(finding.supported)},
                answer=f"{finding.outcome} {finding.reason}".strip(),
                expected="supported" if case.supported else f"not supported {case.relation}".strip(),
                passages=tuple(ShownPassage("", text[:_SHOWN], finding.score) for text in case.evidence),
                probability=finding.score,
                truth=case.supported,
                elapsed_ms=elapsed,
            )
        )
        progress(number, len(cases), name)

    await findings(cases, judge, seen)
    return items


def _claims_row(name: str, items: Sequence[Item]) -> FigureRow:
    truth = [bool(item.truth) for item in items]
    said = [item.scores["said"] > 0 for item in items]
    return FigureRow(
        name,
        {
            "cases": Figure(float(len(items))),
            "truths kept": bootstrap_mean([float(s) for s, t in zip(said, truth, strict=True) if t]),
            "lies passed": bootstrap_mean([float(s) for s, t in zip(said, truth, strict=True) if not t]),
            "balanced accuracy": bootstrap(balanced_accuracy, said, truth),
            "AUROC": bootstrap(auroc, [item.probability or 0.0 for item in items], truth),
            "median_ms": Figure(percentile([item.elapsed_ms or 0.0 for item in items], 50)),
        },
    )


def _veto_rows(name: str, cases: Sequence[Claim]) -> list[FigureRow]:
    rows = []
    for veto in _VETOES:
        dropped = [_vetoed(case, frozenset(_VETOES) - {veto}) for case in cases]
        truths = [float(d) for d, case in zip(dropped, cases, strict=True) if case.supported]
        lies = [float(d) for d, case in zip(dropped, cases, strict=True) if not case.supported]
        if any(dropped):
            figures = {"truths lost": bootstrap_mean(truths), "lies caught": bootstrap_mean(lies)}
            rows.append(FigureRow(f"{name}: {veto}", figures))
    return rows


def _vetoed(case: Claim, without: frozenset[Veto]) -> bool:
    vetoes = Vetoes(without)
    for text in (*case.evidence, *case.headings):
        vetoes.show(text)
    return vetoes.veto(case.claim) is not None


async def _through_the_gate(name: str, answers: Sequence[GivenAnswer], judge: Judge, progress: Progress) -> list[Item]:
    items = []
    for number, given in enumerate(answers, start=1):
        gate = await _gated(given, given.answer, judge)
        whole = len(gate.supports) + gate.dropped
        first = next((given.answer[a:b] for a, b in split_sentences(given.answer)), "")
        fell = (await _gated(given, first, judge)).dropped > 0
        kept = len(gate.supports) / whole if whole else 1.0
        items.append(
            Item(
                id=f"{name}/{given.id}",
                question=given.answer[:200],
                scores={"right": kept, "kept": kept, "sentences": float(whole), "first dropped": float(fell)},
                answer=gate.released,
                expected=_group(given),
                passages=tuple(ShownPassage("", reason, 0.0) for reason in gate.reasons),
            )
        )
        progress(number, len(answers), name)
    return items


async def _gated(given: GivenAnswer, text: str, judge: Judge) -> CitationGate:
    gate = CitationGate(judge)
    for place, passage in enumerate(given.passages, start=1):
        gate.show(place, passage_of(passage, place))
    await gate.feed(text)
    await gate.finish()
    return gate


def _group(given: GivenAnswer) -> str:
    if given.model not in _MARKED:
        return given.model
    return f"{given.model} rated 4" if given.faithfulness == _FAITHFUL else f"{given.model} rated lower"


def _answer_rows(name: str, items: Sequence[Item]) -> list[FigureRow]:
    """Of sentences: an answer counts as often as it has any."""
    groups: Mapping[str, list[Item]] = {g: [i for i in items if i.expected == g] for g in {i.expected for i in items}}
    rows = []
    for group, found in sorted(groups.items()):
        weights = [i.scores["sentences"] for i in found]
        kept = [i.scores["kept"] * w for i, w in zip(found, weights, strict=True)]
        figures = {
            "cases": Figure(float(len(found))),
            "sentences kept": bootstrap(_share, kept, weights),
            "first dropped": bootstrap_mean([i.scores["first dropped"] for i in found]),
        }
        rows.append(FigureRow(f"{name}: {group}", figures))
    return rows


def _share(kept: NDArray[np.float64], all_of_them: NDArray[np.float64]) -> float:
    return float(kept.sum() / all_of_them.sum()) if all_of_them.sum() else float("nan")


async def _compared(file: Path, measured: Measured, limit: int | None, progress: Progress) -> list[Item]:
    cases = read_conflicts(file)[:limit]
    finder = Conflicts(TrainedJudge(measured.models.reading, measured.lines), measured.lines)  # as the engine has them
    reader = TrainedReader(measured.models.questions)
    items = []
    for number, case in enumerate(cases, start=1):
        passages = [passage_of(text, place) for place, text in enumerate(case.passages, start=1)]
        readings = await reader.read(case.question, [ScoredPassage(p, 1.0, 1.0, 0.0, 1.0) for p in passages])
        weighed = await finder.weighed(statements_of(readings))
        score = weighed[1] if weighed else 0.0
        found = score >= measured.lines.conflict
        told = f"{weighed[0].first_sentence}\n{weighed[0].second_sentence}" if weighed and found else "no contradiction"
        items.append(
            Item(
                id=f"{file.stem}/{case.id}",
                question=case.question,
                scores={"right": float(found == case.conflicting), "found": float(found)},
                answer=told,
                expected="contradiction" if case.conflicting else "agreement",
                passages=tuple(ShownPassage("", text[:_SHOWN], score) for text in case.passages),
                probability=score,
                truth=case.conflicting,
            )
        )
        progress(number, len(cases), file.stem)
    return items


def _conflict_row(name: str, items: Sequence[Item]) -> FigureRow:
    truth = [bool(item.truth) for item in items]
    found = [item.scores["found"] > 0 for item in items]
    return FigureRow(
        name,
        {
            "cases": Figure(float(len(items))),
            "precision": bootstrap(_precision, found, truth),
            "recall": bootstrap_mean([float(f) for f, t in zip(found, truth, strict=True) if t]),
            "AUROC": bootstrap(auroc, [item.probability or 0.0 for item in items], truth),
        },
    )


def _precision(found: NDArray[np.bool_], truth: NDArray[np.bool_]) -> float:
    return float(truth[found].mean()) if found.any() else float("nan")
