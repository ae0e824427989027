"""A page's text in the making: clean Markdown, block by block, and the typed blocks that it is made of. Pure."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial

from citewell.document import (
    Admonition,
    Block,
    Caption,
    Code,
    Definition,
    Formula,
    Heading,
    ListItem,
    Paragraph,
    Part,
    Row,
    Tab,
    Table,
    code_info,
    fenced,
    part_of,
    table_lines,
)
from citewell.document.language import language_of

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
class _Container:
    """An item, definition, box or tab that is open, and what to go back to when it is left."""

    anchor: str
    part: Part
    sections: list[tuple[int, Part, str]]
    own_part: Part | None
    block: int | None = None
    """Its own block; None until that is written."""


@dataclass(slots=True)
class PageText:
    """Collects blocks. Two blocks stand a blank line apart, except lines of one list."""

    blocks: list[Block] = field(default_factory=list)
    _parts: list[str] = field(default_factory=list)
    _length: int = 0
    _in_list: bool = False
    _after_kind: bool = False
    """The last block is "Note:": the next paragraph stands in the same line."""
    _open: list[_Container] = field(default_factory=list)
    _anchor: str = ""
    _part: Part = "body"
    _sections: list[tuple[int, Part, str]] = field(default_factory=list)
    """The headings above: their levels, what their sections are for, and where a link to them lands."""

    @property
    def text(self) -> str:
        return "".join(self._parts)

    @property
    def headings(self) -> list[Heading]:
        return [block for block in self.blocks if isinstance(block, Heading)]

    def enter(self, part: Part | None = None) -> int:
        """What comes until `leave` is inside the next item, definition, box or tab. Returns the depth to go back to."""
        self._open.append(_Container(self._anchor, self._part, self._sections[:], part))
        self._part = part or self._part
        return len(self._open) - 1

    def leave(self, depth: int) -> None:
        """Out of all containers that were entered since `depth`."""
        while len(self._open) > depth:
            container = self._open.pop()
            self._anchor, self._part, self._sections = container.anchor, container.part, container.sections

    @contextmanager
    def inside(self, part: Part | None = None) -> Iterator[None]:
        depth = self.enter(part)
        yield
        self.leave(depth)

    def heading(self, level: int, text: str, anchor: str) -> None:
        text = _SPACE.sub(" ", text).strip()
        if not text:
            return
        title = plain(text)
        while self._sections and self._sections[-1][0] >= level:
            self._sections.pop()
        _, part_above, anchor_above = self._sections[-1] if self._sections else (0, "body", "")
        around = next((container.own_part for container in reversed(self._open) if container.own_part), None)
        if part_above == "navigation":
            part_above = "body"  # what has headings of its own only calls itself "Next steps"
        self._part = part_of(title) or around or part_above
        self._anchor = anchor
        self._add(partial(Heading, level, title), self._write(f"{'#' * level} {text}"))
        self._anchor = anchor or anchor_above  # what stands under a heading without one is reached by the one above
        self._sections.append((level, self._part, self._anchor))

    def prose(self, text: str, indent: str = "") -> None:
        """A paragraph. What would read as a heading or a fence is escaped."""
        if written := self._prose(text, indent):
            self._add(Paragraph, written)

    def caption(self, text: str, indent: str = "") -> None:
        """What is written at a figure, a table or a listing."""
        if written := self._prose(text, indent):
            self._add(Caption, written)

    def item(self, marker: str, text: str, indent: str) -> None:
        """A list item; items of one list follow each other without a blank line."""
        lines = _lines(text) or [""]
        hang = indent + " " * (len(marker) + 1)
        body = "\n".join([f"{indent}{marker} {lines[0]}".rstrip(), *(hang + line for line in lines[1:])])
        written = self._write(body, "\n" if self._in_list else "\n\n")
        self._in_list = True
        level = sum(isinstance(self.blocks[i], ListItem) for i in self._within())
        self._add(partial(ListItem, level, marker), written, holds=True)

    def define(self, terms: list[str], meaning: str, anchor: str = "") -> None:
        """A term, or several, and the first paragraph of what it means."""
        terms = [_SPACE.sub(" ", term).strip() for term in terms]
        terms = [term for term in terms if term]
        lines = _lines(meaning)
        body = [*terms, *([f": {lines[0]}", *(f"  {line}" for line in lines[1:])] if lines else [])]
        if not body:
            return
        self._anchor = anchor or self._anchor
        written = self._write("\n".join([_escaped(body[0]), *body[1:]]))
        self._add(partial(Definition, plain(", ".join(terms))), written, holds=True)

    def box(self, kind: str, title: str, indent: str = "") -> None:
        """The title of an admonition. Without one it is named by its kind, in the line of what follows: "Note: …"."""
        title = title.strip()
        if title and title.lower() != kind.lower():
            if written := self._prose(title, indent):
                self._add(partial(Admonition, kind.lower(), plain(title)), written, holds=True)
        elif kind.lower() in ADMONITIONS:
            name = kind.capitalize()
            written = self._write(f"{indent}{name}:")
            self._after_kind = True
            self._add(partial(Admonition, kind.lower(), name), written, holds=True)

    def tab(self, label: str, indent: str = "") -> None:
        if written := self._prose(label, indent):
            self._add(partial(Tab, plain(label)), written, holds=True)

    def code(self, source: str, info: str = "") -> None:
        """A fenced block, always at the left margin, so that its lines are those of the source.

        A caption that stands right above it is its own, if it is not that of other code above.
        """
        info = _SPACE.sub(" ", info).strip().replace("`", "")
        language, title = code_info(info)
        caption = title or self._caption_above()
        self._add(partial(Code, language, caption), self._write(fenced(source.removesuffix("\n"), info)))

    def _caption_above(self) -> str:
        match self.blocks[-2:]:
            case [Code(), Caption()]:
                return ""
            case [*_, Caption()]:
                return self._parts[-1].strip()
        return ""

    def math(self, source: str) -> None:
        self._add(Formula, self._write(f"$$\n{source.strip()}\n$$"))

    def table(self, rows: list[list[str]]) -> None:
        """The first row is the header."""
        width = max((len(row) for row in rows), default=0)
        if not width:
            return
        padded = [tuple(_SPACE.sub(" ", cell).strip() for cell in (*row, *[""] * (width - len(row)))) for row in rows]
        lines = table_lines(padded)
        written = self._write("\n".join(lines))
        at = written[0] + len(lines[0]) + len(lines[1]) + 2
        placed: list[Row] = []
        for cells, line in zip(padded[1:], lines[2:], strict=True):
            placed.append(Row(cells, at, at + len(line)))
            at += len(line) + 1
        self._add(partial(Table, padded[0] if any(padded[0]) else (), tuple(placed)), written)

    def _prose(self, text: str, indent: str) -> tuple[int, int] | None:
        lines = _lines(text)
        if not lines:
            return None
        lines[0] = _escaped(lines[0])
        if self._after_kind:
            return self._write("\n".join([lines[0], *(indent + line for line in lines[1:])]), " ")
        return self._write("\n".join(indent + line for line in lines))

    def _within(self) -> tuple[int, ...]:
        return tuple(container.block for container in self._open if container.block is not None)

    def _add(self, kind: Callable[..., Block], place: tuple[int, int], *, holds: bool = False) -> None:
        """`holds`: the block is the own one of the container that was entered last."""
        within = self._within() if self._open else ()
        self.blocks.append(kind(start=place[0], end=place[1], anchor=self._anchor, part=self._part, within=within))
        if holds and self._open and self._open[-1].block is None:
            self._open[-1].block = len(self.blocks) - 1

    def _write(self, block: str, separator: str = "\n\n") -> tuple[int, int]:
        """Returns the block's place, without the blanks that it is indented by."""
        self._in_list = self._after_kind = False
        separator = separator if self._parts else ""
        self._parts.append(separator + block)
        self._length += len(separator) + len(block)
        return self._length - len(block.lstrip()), self._length - len(block) + len(block.rstrip())


@dataclass(frozen=True, slots=True)
class PageContent:
    """What a reader makes of a page's source."""

    text: PageText
    title: str = ""
    module: str = ""
    """The part of the book, if the page names it."""
    language: str = ""
    version: str = ""
    letters: int = 0
    """That stand in the source as readers see it."""
    problems: tuple[tuple[str, str], ...] = ()
    """Codes and messages of what is missing or wrong; an empty message is no problem."""
    rule_against: str = ""
    """Why it is no page of the book; empty when it is one."""
    links: tuple[str, ...] = ()
    """Every `href` of the whole page, as it stands."""


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _escaped(line: str) -> str:
    return "\\" + line if _OPENS_BLOCK.match(line) else line


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


def spoken(text: str) -> str:
    """The language of a page that does not name it; English when its words do not tell."""
    return language_of(text) or "en"
