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
        self._rows: list[_Row] = []

    def show(self, number: int, blocks: Iterable[Block]) -> None:
        for block in blocks:
            if isinstance(block, Table):
                header = [_plain(h) for h in block.header]
                for row in block.rows:
                    cells = [_plain(c) for c in row.cells]
                    names = header if len(header) == len(cells) else [str(i) for i in range(len(cells))]
                    named = dict(zip(names, cells, strict=True))
                    self._rows.append(_Row(number, named, bool(header), (row.start, row.end)))

    def find(self, header: Sequence[str], cells: Sequence[str], cited: Sequence[int]) -> FoundRow | None:
        """The same row in a table that was shown; cited passages come first."""
        wanted = {_plain(h): _plain(c) for h, c in zip(header, cells, strict=False)}
        said = [_plain(c) for c in cells]
        name, *others = wanted or {"": ""}
        known: FoundRow | None = None
        for row in sorted(self._rows, key=lambda r: r.number not in cited):
            same = row.has_header and wanted.items() <= row.cells.items() and len(wanted) == len(cells)
            if same or (not any(header) and said == list(row.cells.values())):
                return FoundRow(row.number, row.place)
            if row.cells.get(name) == wanted.get(name) and any(o in row.cells for o in others):
                known = known or FoundRow(row.number, None)
        return known


def _plain(text: str) -> str:
    return " ".join(text.replace("*", " ").replace("`", " ").split()).strip(".,;: ").lower()
