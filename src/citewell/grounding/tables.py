"""Rows of Markdown tables."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from citewell.grounding.support import plain
from citewell.text import blocks

_DELIMITER: Final = re.compile(r"^[\s|:-]*-[\s|:-]*$")
_BAR: Final = re.compile(r"(?<!\\)\|")


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a passage's table: column to cell, as plain words."""

    cells: Mapping[str, str]
    head: bool
    start: int
    end: int


def cells_of(line: str) -> list[str]:
    """The cells of a line; bars inside code spans are text."""
    masked = re.sub(r"`[^`]*`", lambda m: m.group().replace("|", "\x01"), line.strip())
    return [c.replace("\x01", "|").strip() for c in _BAR.split(masked.strip().strip("|"))]


def is_delimiter(line: str) -> bool:
    return bool(_DELIMITER.match(line))


@lru_cache(maxsize=256)
def table_rows(text: str) -> tuple[Row, ...]:
    found: list[Row] = []
    for block in blocks(text):
        if block.kind != "table":
            continue
        lines = text[block.start : block.end].split("\n")
        has_head = len(lines) > 1 and is_delimiter(lines[1])
        head = [plain(c) for c in cells_of(lines[0])] if has_head else []
        start = block.start
        for i, line in enumerate(lines):
            if not is_delimiter(line) and not (has_head and i == 0):
                cells = [plain(c) for c in cells_of(line)]
                names = head if len(head) == len(cells) else [str(n) for n in range(len(cells))]
                found.append(Row(dict(zip(names, cells, strict=True)), has_head, start, start + len(line)))
            start += len(line) + 1
    return tuple(found)
