"""Rows of the tables that were shown. A row of an answer stands as one of them, each cell under its column.

A sentence that names rows is judged by these alone, too: what another row says is not said of them.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import count, islice, repeat

from citewell.document import Block, Table
from citewell.text import content_stems

_DIVIDER = re.compile(r"[|\s:-]+")
_Column = tuple[str, int]
"""Its name, and how many columns before it have the same: several may have none."""


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    cells: Mapping[_Column, str]
    has_header: bool
    place: tuple[int, int]


@dataclass(frozen=True, slots=True)
class FoundRow:
    """`place` is None when a table has a row of that name under these columns, with other cells."""

    number: int
    place: tuple[int, int] | None


class Tables:
    def __init__(self) -> None:
        self._by_cell: dict[tuple[_Column, str], list[_Row]] = {}
        """Rows by each of their cells under its column."""
        self._bare: dict[tuple[str, ...], list[_Row]] = {}
        """Rows by all their cells."""

    def show(self, number: int, blocks: Iterable[Block]) -> None:
        for block in blocks:
            if isinstance(block, Table):
                header = _columns(block.header)
                for row in block.rows:
                    cells = [_plain(c) for c in row.cells]
                    fits = len(header) == len(cells)
                    named = dict(zip(header if fits else _columns(repeat("", len(cells))), cells, strict=True))
                    made = _Row(number, named, bool(header), (row.start, row.end))
                    self._bare.setdefault(tuple(cells), []).append(made)
                    for cell in named.items():
                        self._by_cell.setdefault(cell, []).append(made)

    def find(self, header: Sequence[str], cells: Sequence[str], cited: Sequence[int]) -> FoundRow | None:
        """The same row in a table that was shown; cited passages come first."""
        wanted = dict(zip(_columns(islice(header, len(cells))), map(_plain, cells), strict=False))
        alike = min((self._by_cell.get(cell, []) for cell in wanted.items()), key=len, default=[])
        if len(wanted) != len(cells):
            alike = []
        same = [row for row in alike if row.has_header and wanted.items() <= row.cells.items()]
        if not any(header):
            same += self._bare.get(tuple(_plain(c) for c in cells), [])
        if same:
            row = min(same, key=lambda r: r.number not in cited)
            return FoundRow(row.number, row.place)
        first_column, *others = wanted or {("", 0): ""}
        named = self._by_cell.get((first_column, wanted.get(first_column, "")), [])
        known = (row for row in named if any(other in row.cells for other in others))
        first = min(known, key=lambda r: r.number not in cited, default=None)
        return FoundRow(first.number, None) if first else None


def only_named_rows(claim: str, window: str) -> str | None:
    """The window without those rows of its tables that the claim does not name, where it names some and not all.

    A row is named by its first cell. Of two names of which one has all words of the other, the longer is meant.
    """
    said = frozenset(content_stems(claim))
    lines = window.split("\n")
    left_out: set[int] = set()
    for rows in _tables_in(lines):
        names = {row: frozenset(content_stems(lines[row].strip().strip("|").split("|")[0])) for row in rows}
        named = [row for row in rows if names[row] and names[row] <= said]
        meant = {row for row in named if not any(names[row] < names[other] for other in named)}
        if meant:
            left_out |= names.keys() - meant
    return "\n".join(line for at, line in enumerate(lines) if at not in left_out) if left_out else None


def _tables_in(lines: Sequence[str]) -> Iterator[list[int]]:
    """The lines of each table's rows, its header and what divides it from them left out."""
    rows: list[int] = []
    for at, line in enumerate([*lines, ""]):
        if line.lstrip().startswith("|"):
            rows.append(at)
            continue
        if rows:
            yield rows[2:] if len(rows) > 1 and _DIVIDER.fullmatch(lines[rows[1]]) else rows
        rows = []


def _columns(header: Iterable[str]) -> list[_Column]:
    numbers: defaultdict[str, Iterator[int]] = defaultdict(count)
    return [(name, next(numbers[name])) for name in map(_plain, header)]


def _plain(text: str) -> str:
    return " ".join(text.replace("*", " ").replace("`", " ").split()).strip(".,;: ").lower()
