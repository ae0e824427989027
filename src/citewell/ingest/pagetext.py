"""A page's text in the making: clean Markdown, block by block, with the places of its headings. Pure."""

import re
from dataclasses import dataclass, field

from citewell.models import Heading

MAX_TITLE = 200
ADMONITIONS = frozenset(
    "note tip info warning danger caution important success secondary abstract summary tldr hint check done question "
    "help faq attention failure fail missing error bug example quote cite seealso todo".split()
)
"""Kinds of boxes; a box without a title of its own is named by its kind."""
_SPACE = re.compile(r"\s+")
_OPENS_BLOCK = re.compile(r"(#{1,6}(?:\s|$)|`{3,}|~{3,})")
_BACKTICKS = re.compile(r"`+")


@dataclass(slots=True)
class PageText:
    """Collects blocks. Two blocks stand a blank line apart, except lines of one list."""

    headings: list[Heading] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _in_list: bool = False
    _kind: str = ""

    def box(self, title: str) -> None:
        """The title of an admonition. A mere kind ("note") is joined to the paragraph after it: "Note: …"."""
        if title.strip().lower() in ADMONITIONS:
            self._flush_kind()
            self._kind = title.strip().capitalize()
        else:
            self.prose(title)

    def heading(self, level: int, text: str, anchor: str) -> None:
        text = _SPACE.sub(" ", text).strip()
        if not text:
            return
        start = self._append(f"{'#' * level} {text}", "\n\n")
        self.headings.append(Heading(level, plain(text), anchor, start))

    def prose(self, text: str, indent: str = "") -> None:
        """A paragraph. What would read as a heading or a fence is escaped."""
        text = text.strip()
        if not text:
            return
        if _OPENS_BLOCK.match(text):
            text = "\\" + text
        if self._kind:
            text, self._kind = f"{self._kind}: {text}", ""
        if indent or "\n" in text:
            text = "\n".join(indent + line.strip() for line in text.split("\n") if line.strip())
        self._append(text, "\n\n")

    def item(self, marker: str, text: str, indent: str) -> None:
        """A list item; items of one list follow each other without a blank line."""
        lines = [line.strip() for line in text.split("\n") if line.strip()] or [""]
        hang = indent + " " * (len(marker) + 1)
        body = "\n".join([f"{indent}{marker} {lines[0]}".rstrip(), *(hang + line for line in lines[1:])])
        self._append(body, "\n" if self._in_list else "\n\n")
        self._in_list = True

    def code(self, source: str, info: str = "") -> None:
        """A fenced block, always at the left margin, so that its lines are those of the source."""
        longest = max((len(run) for run in _BACKTICKS.findall(source)), default=0)
        fence = "`" * max(3, longest + 1)
        source = source.removesuffix("\n")
        self._append(f"{fence}{_SPACE.sub(' ', info).strip().replace('`', '')}\n{source}\n{fence}", "\n\n")

    def math(self, source: str) -> None:
        self._append(f"$$\n{source.strip()}\n$$", "\n\n")

    def table(self, rows: list[list[str]]) -> None:
        """The first row is the header."""
        width = max((len(row) for row in rows), default=0)
        if not width:
            return
        lines = [_row(row, width) for row in rows]
        lines.insert(1, "|" + " --- |" * width)
        self._append("\n".join(lines), "\n\n")

    @property
    def text(self) -> str:
        self._flush_kind()
        return "".join(self._parts)

    def _flush_kind(self) -> None:
        if kind := self._kind:
            self._kind = ""
            self._append(f"{kind}:", "\n\n")

    def _append(self, block: str, separator: str) -> int:
        self._flush_kind()
        self._in_list = False
        if self._parts:
            block = separator + block
        start = self._length + (len(separator) if self._parts else 0)
        self._parts.append(block)
        self._length += len(block)
        return start


def _row(cells: list[str], width: int) -> str:
    padded = [*cells, *[""] * (width - len(cells))]
    return "|" + "".join(f" {_cell(cell)} |" for cell in padded)


def _cell(text: str) -> str:
    return _SPACE.sub(" ", text).strip().replace("\\|", "|").replace("|", "\\|")


def plain(text: str) -> str:
    """A heading or title as a label: one line, no code marks, not endless."""
    text = _SPACE.sub(" ", text.replace("`", "")).strip()
    return text if len(text) <= MAX_TITLE else text[: MAX_TITLE - 1].rstrip() + "…"


def code_span(text: str) -> str:
    """Inline code, fenced by as many backticks as its content needs."""
    longest = max((len(run) for run in _BACKTICKS.findall(text)), default=0)
    fence = "`" * (longest + 1)
    pad = " " if text.startswith("`") or text.endswith("`") else ""
    return f"{fence}{pad}{text}{pad}{fence}"
