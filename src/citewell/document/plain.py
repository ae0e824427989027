"""Plain text and clean Markdown read into blocks, line by line, whatever is in it. Pure.

For text that no format's reader has seen: what a reader selected or pasted, and what a model wrote.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from citewell.document.blocks import (
    Block,
    Code,
    Definition,
    Formula,
    Heading,
    ListItem,
    Paragraph,
    Row,
    Table,
)

_FENCE = re.compile(r"[ \t]*(?:>[ \t]?)*(`{3,}|~{3,})(.*)")
_HEADING = re.compile(r"(#{1,6})(?:[ \t]+(.*?))?[ \t#]*$")
_ITEM = re.compile(r"([ \t]*)([-*+•]|\d{1,9}[.)])(?:[ \t]+|$)")
_SEPARATOR = re.compile(r"[ \t]*\|?(?:[ \t]*:?-+:?[ \t]*\|)+(?:[ \t]*:?-+:?[ \t]*)?$")
_CELL_EDGE = re.compile(r"(?<!\\)\|")
_MEANING = re.compile(r"[ \t]*:[ \t]+\S")
_TITLE = re.compile(r"\btitle=[\"']([^\"']*)[\"']")


def read_plain(text: str) -> tuple[Block, ...]:
    """The blocks in order; blank lines belong to none, and an unclosed fence runs to the end."""
    reading = _PlainReader(text)
    while reading.at < len(reading.lines):
        reading.block()
    return tuple(reading.blocks)


@dataclass(slots=True)
class _Line:
    start: int
    text: str


@dataclass(slots=True)
class _PlainReader:
    text: str
    lines: list[_Line] = field(init=False)
    blocks: list[Block] = field(default_factory=list)
    at: int = 0
    _items: list[tuple[int, int]] = field(default_factory=list)
    """The open list items: the column where their text begins and their number among the blocks."""

    def __post_init__(self) -> None:
        self.lines = []
        start = 0
        for line in self.text.split("\n"):
            self.lines.append(_Line(start, line.removesuffix("\r")))
            start += len(line) + 1

    def block(self) -> None:
        line = self.lines[self.at]
        if not line.text.strip():
            self.at += 1
            return
        self._leave_items(_columns(line.text))
        within = tuple(number for _, number in self._items)
        if fence := _FENCE.match(line.text):
            start, end = self._fenced(lambda other: _closes(other, fence[1]))
            language, caption = code_info(fence[2])
            self.blocks.append(Code(language, caption, start=start, end=end, within=within))
        elif line.text.strip() == "$$":
            start, end = self._fenced(lambda other: other.strip() == "$$")
            self.blocks.append(Formula(start=start, end=end, within=within))
        elif heading := _HEADING.match(line.text):
            self._items.clear()
            start, end = self._until(self.at)
            self.blocks.append(Heading(len(heading[1]), (heading[2] or "").strip(), start=start, end=end))
        elif self._is_table():
            self.blocks.append(replace(self._table(), within=within))
        elif item := _ITEM.match(line.text):
            self._item(item, within)
        else:
            self._paragraph(within)

    def _leave_items(self, column: int) -> None:
        """What is indented as far as an item's text belongs to it, and what follows it without a blank line."""
        while self._items and column < self._items[-1][0]:
            self._items.pop()

    def _until(self, last: int) -> tuple[int, int]:
        """The place of the lines up to `last`, without blanks at its ends; reading goes on behind it."""
        first = self.lines[self.at]
        start = first.start + len(first.text) - len(first.text.lstrip())
        end = self.lines[last].start + len(self.lines[last].text.rstrip())
        self.at = last + 1
        return start, max(start, end)

    def _fenced(self, closes: Callable[[str], bool]) -> tuple[int, int]:
        last = next((i for i in range(self.at + 1, len(self.lines)) if closes(self.lines[i].text)), None)
        if last is None:
            last = len(self.lines) - 1
            while last > self.at and not self.lines[last].text.strip():
                last -= 1
        return self._until(last)

    def _is_table(self) -> bool:
        line = self.lines[self.at].text
        if _is_row(line):
            return True
        below = self.lines[self.at + 1].text if self.at + 1 < len(self.lines) else ""
        return "|" in line and "|" in below and _SEPARATOR.match(below) is not None

    def _table(self) -> Table:
        first = last = self.at
        has_header = first + 1 < len(self.lines) and _SEPARATOR.match(self.lines[first + 1].text) is not None
        while last + 1 < len(self.lines) and "|" in self.lines[last + 1].text:
            if not (_is_row(self.lines[last + 1].text) or has_header):
                break
            last += 1
        rows = [_row(line) for line in self.lines[first : last + 1] if not _SEPARATOR.match(line.text)]
        start, end = self._until(last)
        header: tuple[str, ...] = ()
        if has_header and rows:
            header = rows.pop(0).cells
        return Table(header if any(header) else (), tuple(rows), start=start, end=end)

    def _item(self, item: re.Match[str], within: tuple[int, ...]) -> None:
        start, end = self._until(self._prose_end())
        self._items.append((_columns(item[1]) + len(item[2]) + 1, len(self.blocks)))
        marker = item[2] if item[2][0].isdigit() else "-"
        self.blocks.append(ListItem(len(within), marker, start=start, end=end, within=within))

    def _paragraph(self, within: tuple[int, ...]) -> None:
        first = self.lines[self.at].text
        below = self.at + 1
        start, end = self._until(self._prose_end())
        if below < self.at and _MEANING.match(self.lines[below].text):
            self.blocks.append(Definition(first.strip(), start=start, end=end, within=within))
        else:
            self.blocks.append(Paragraph(start=start, end=end, within=within))

    def _prose_end(self) -> int:
        last = self.at
        while last + 1 < len(self.lines) and not _begins_block(self.lines[last + 1].text):
            last += 1
        return last


def code_info(info: str) -> tuple[str, str]:
    """The language and the title that stand behind an opening fence."""
    words = info.strip("{} \t").split(maxsplit=1)
    language = words[0].strip("{}.").split(",")[0] if words and "=" not in words[0] else ""
    title = _TITLE.search(info)
    return language, title[1] if title else ""


def _begins_block(line: str) -> bool:
    if not line.strip() or _is_row(line):
        return True
    return any(mark.match(line) for mark in (_FENCE, _HEADING, _ITEM)) or line.strip() == "$$"


def _closes(line: str, fence: str) -> bool:
    stripped = line.strip().lstrip("> \t")
    return len(stripped) >= len(fence) and not stripped.strip(fence[0])


def _columns(line: str) -> int:
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(4))


def _is_row(line: str) -> bool:
    stripped = line.strip()
    return len(stripped) > 1 and stripped[0] == "|" and stripped[-1] == "|"


def _row(line: _Line) -> Row:
    body = line.text.strip()
    start = line.start + len(line.text) - len(line.text.lstrip())
    inner = body.removeprefix("|")
    inner = inner[:-1] if inner.endswith("|") and not inner.endswith("\\|") else inner
    cells = tuple(cell.strip().replace("\\|", "|") for cell in _CELL_EDGE.split(inner))
    return Row(cells, start, start + len(body))
