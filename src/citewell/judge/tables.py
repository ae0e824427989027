"""Rows of the tables that were shown. A row of an answer stands as one of them, each cell under its column."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from citewell.document import Block, Table


@dataclass(frozen=True, slots=True)
class _Row:
    number: int
    cells: Mapping[str, str]
    has_header: bool
    place: tuple[int, int]


@dataclass(frozen=True, slots=True)
class FoundRow:
    """`place` is None when a table has a row of that name under these columns, with other cells."""

    number: int
    place: tuple[int, int] | None


class Tables:
    def __init__(self) -> None:
        self._by_cell: dict[tuple[str, str], list[_Row]] = {}
        """Rows by each of their cells under its column's name."""
        self._bare: dict[tuple[str, ...], list[_Row]] = {}
        """Rows by all their cells."""

    def show(self, number: int, blocks: Iterable[Block]) -> None:
        for block in blocks:
            if isinstance(block, Table):
                header = [_plain(h) for h in block.header]
                for row in block.rows:
                    cells = [_plain(c) for c in row.cells]
                    names = header if len(header) == len(cells) else [str(i) for i in range(len(cells))]
                    named = dict(zip(names, cells, strict=True))
                    made = _Row(number, named, bool(header), (row.start, row.end))
                    self._bare.setdefault(tuple(named.values()), []).append(made)
                    for cell in named.items():
                        self._by_cell.setdefault(cell, []).append(made)

    def find(self, header: Sequence[str], cells: Sequence[str], cited: Sequence[int]) -> FoundRow | None:
        """The same row in a table that was shown; cited passages come first."""
        wanted = {_plain(h): _plain(c) for h, c in zip(header, cells, strict=False)}
        alike = min((self._by_cell.get(cell, []) for cell in wanted.items()), key=len, default=[])
        if len(wanted) != len(cells):
            alike = []
        same = [row for row in alike if row.has_header and wanted.items() <= row.cells.items()]
        if not any(header):
            same += self._bare.get(tuple(_plain(c) for c in cells), [])
        if same:
            row = min(same, key=lambda r: r.number not in cited)
            return FoundRow(row.number, row.place)
        name, *others = wanted or {"": ""}
        named = self._by_cell.get((name, wanted.get(name, "")), [])
        known = (row for row in named if any(other in row.cells for other in others))
        first = min(known, key=lambda r: r.number not in cited, default=None)
        return FoundRow(first.number, None) if first else None


def _plain(text: str) -> str:
    return " ".join(text.replace("*", " ").replace("`", " ").split()).strip(".,;: ").lower()
