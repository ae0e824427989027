"""Evaluations, and the one value that each of them returns: tables of figures, and the items behind them.

Each stands in the module of its name: `async def evaluate_support(path: Path, *, …, progress: Progress) -> Evaluation`.
`report` writes it as JSON, `page` as HTML; `compare` sets two of them side by side. What is a time is named so
(`…_ms`, `…_s`): apart from times, the same data and the same commit give the same bytes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Figure:
    """A measured number, with the 95 % interval when there is one."""

    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class FigureRow:
    name: str
    figures: Mapping[str, Figure]
    """Column to figure. The column of a time ends in `_ms` or `_s`."""


@dataclass(frozen=True, slots=True)
class FigureTable:
    title: str
    rows: tuple[FigureRow, ...]
    note: str = ""
    """What the figures mean and the goal, in a sentence."""


@dataclass(frozen=True, slots=True)
class ShownPassage:
    """A passage behind an item, to click through in the report."""

    url: str
    text: str
    score: float
    relevant: bool = False


@dataclass(frozen=True, slots=True)
class Item:
    """One question, claim or pair of passages, and how it went."""

    id: str
    question: str
    scores: Mapping[str, float]
    """Higher is better. The one named by `Evaluation.main` ranks the worst items and is compared between runs."""
    answer: str = ""
    expected: str = ""
    passages: tuple[ShownPassage, ...] = ()
    probability: float | None = None
    """What the product believed, for the reliability diagram and the threshold curves."""
    truth: bool | None = None
    """Whether that which `probability` speaks of was so."""
    elapsed_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Evaluation:
    kind: str
    """retrieval, answers, support, conflicts, calibration or book."""
    dataset: str
    """The data set's name, never a path of the machine."""
    tables: tuple[FigureTable, ...]
    items: tuple[Item, ...]
    main: str
    """The score in `Item.scores` that the comparison looks at."""
    data_sha256: str = ""
    notes: tuple[str, ...] = field(default=())


class Progress(Protocol):
    """Told about each finished step. The command line draws a bar; tests pass `quiet`."""

    def __call__(self, done: int, total: int, what: str, /) -> None: ...


def quiet(done: int, total: int, what: str, /) -> None:
    """A `Progress` that says nothing."""
