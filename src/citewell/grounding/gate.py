"""The citation gate: model text goes in as it comes, checked Markdown comes out, sentence by sentence. Pure.

A sentence is held until it is whole. What the shown passages do not support is dropped, and so are markers of
passages never shown. The result depends on the text alone, not on how it was cut into deltas.
"""

import re
from collections.abc import Mapping
from typing import Final, Literal

from citewell.grounding.checks import Checker, Verdict
from citewell.grounding.cutting import first_end
from citewell.grounding.layout import Layout, Place
from citewell.grounding.lines import Line, classified
from citewell.grounding.markers import visible
from citewell.grounding.support import SupportJudge
from citewell.grounding.tables import cells_of, is_delimiter
from citewell.models import Passage

HELD_LIMIT: Final = 2000
"""Characters that may wait for the end of their sentence or line; a longer one is dropped."""
CODE_LIMIT: Final = 20_000
_LABEL_LEVEL: Final = 7


class CitationGate:
    def __init__(self, judge: SupportJudge) -> None:
        self._checker = Checker(judge)
        self._layout = Layout()
        self._buffer = ""
        """Text whose block is not known yet."""
        self._mode: Literal["line", "prose", "code", "skip"] = "line"
        self._blank = False
        self._prose = ""
        """Text of the present paragraph or item that is not checked yet."""
        self._first = True
        """Nothing of the present block was cut yet."""
        self._overlong = False
        """The sentence at hand was given up; its tail goes too."""
        self._item = False
        self._lead = ""
        self._fence = Line("fence")
        self._code: list[str] = []
        self._code_size = 0
        self._head: list[str] | None = None
        """Cells of the present table's header; empty when it may not stand."""
        self._numbers: tuple[int, ...] = ()
        """What the piece released last cites."""
        self._drops: list[str] = []
        self._supports: list[float] = []

    def show(self, number: int, passage: Passage) -> None:
        """Passage `number` was shown to the model. Its headings are evidence too, but are never quoted."""
        heading = " > ".join(t for t in (passage.page_title, *passage.heading_path) if t)
        self._checker.show(number, passage.text, heading)

    async def feed(self, delta: str) -> str:
        """What this delta releases."""
        self._buffer += visible(delta)
        return await self._advanced(closed=False)

    async def finish(self) -> str:
        """Check and release what is held; the text is over."""
        start = len(self._layout.text)
        await self._advanced(closed=True)
        if self._mode == "code":
            await self._end_code()
        self._layout.finish()
        return self._layout.text[start:]

    @property
    def released(self) -> str:
        return self._layout.text

    @property
    def dropped(self) -> int:
        return len(self._drops)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why each dropped piece was dropped."""
        return tuple(self._drops)

    @property
    def supports(self) -> tuple[float, ...]:
        """The scores of what was released with a citation."""
        return tuple(self._supports)

    @property
    def cited(self) -> Mapping[int, tuple[tuple[int, int], ...]]:
        """Marker to the places in that passage that support the answer."""
        return self._checker.cited

    async def _advanced(self, *, closed: bool) -> str:
        start = len(self._layout.text)
        going = True
        while going:
            match self._mode:
                case "line":
                    going = await self._line(closed=closed)
                case "prose":
                    going = await self._prose_line(closed=closed)
                case "code":
                    going = await self._code_line(closed=closed)
                case "skip":
                    going = self._skipped()
        return self._layout.text[start:]

    def _next_line(self, text: str, *, closed: bool) -> Line | None:
        """The line that begins `text`; one that stays unknown for too long counts as a definition, which is skipped."""
        newline = text.find("\n")
        line = text if newline < 0 else text[:newline]
        if len(line) > HELD_LIMIT:
            return classified(line[:HELD_LIMIT], whole=False) or Line("definition", text="overlong")
        return classified(line, whole=newline >= 0 or closed)

    async def _line(self, *, closed: bool) -> bool:
        if not self._buffer:
            return False
        line = self._next_line(self._buffer, closed=closed)
        if line is None:
            return False
        if line.kind != "row":
            self._end_table()
        if line.kind in ("prose", "item"):
            self._begin(line)
            self._buffer = self._buffer[line.prefix :]
            self._mode = "prose"
            return True
        if line.kind == "definition":
            if line.text:
                self._drops.append("a line without end")
            self._mode = "skip"
            return True
        text, _, self._buffer = self._buffer.partition("\n")
        match line.kind:
            case "blank" | "rule":
                self._blank = True
            case "heading":
                self._heading(line)
            case "row":
                await self._row(text)
            case "fence":
                self._fence, self._code, self._code_size = line, [], 0
                self._layout.begin(self._placed("code", line))
                self._mode = "code"
        return True

    def _skipped(self) -> bool:
        newline = self._buffer.find("\n")
        self._buffer = self._buffer[newline + 1 :] if newline >= 0 else ""
        if newline >= 0:
            self._mode = "line"
        return newline >= 0

    def _placed(self, kind: Literal["paragraph", "item", "row", "code"], line: Line) -> Place:
        place = Place(kind, line.indent, line.number > 0, max(line.number, 0), self._blank)
        self._blank = False
        return place

    def _begin(self, line: Line) -> None:
        self._item = line.kind == "item"
        if not self._item and not line.indent:
            self._lead = ""
        self._layout.begin(self._placed("item" if self._item else "paragraph", line))
        self._prose, self._first, self._overlong = "", True, False

    def _heading(self, line: Line) -> None:
        self._lead, self._blank = "", False
        text = self._checker.heading(line.text)
        self._layout.heading(line.level, f"{'#' * line.level} {text}" if text else "")

    async def _prose_line(self, *, closed: bool) -> bool:
        """Take in the rest of a line; the next line tells whether the block goes on."""
        newline = self._buffer.find("\n")
        if newline < 0:
            self._prose += self._buffer
            self._buffer = ""
            await self._cut(closed=closed)
            if closed:
                self._mode = "line"
            return False
        self._prose += self._buffer[:newline]
        self._buffer = self._buffer[newline:]
        rest = self._buffer[1:]
        line = self._next_line(rest, closed=closed) if rest or closed else None
        await self._cut(closed=line is not None and line.kind != "prose")
        if line is None:
            return False
        if line.kind == "prose":
            self._prose += "\n"
            self._buffer = rest[line.prefix :]
        else:
            self._buffer = rest
            self._mode = "line"
        return True

    async def _cut(self, *, closed: bool) -> None:
        """Check every sentence that is whole."""
        while self._prose:
            last = closed and len(self._prose) < HELD_LIMIT
            end = first_end(self._prose[:HELD_LIMIT], closed=last)
            if end is None and len(self._prose) < HELD_LIMIT:
                return
            if end is None:
                if not self._overlong:
                    self._drops.append("a sentence without end")
                self._overlong = True
                self._prose = self._prose[HELD_LIMIT:]
                continue
            piece, self._prose = self._prose[:end], self._prose[end:].lstrip()
            if not self._overlong:
                await self._sentence(piece, ends_block=last and not self._prose)
            self._overlong = self._first = False

    async def _sentence(self, piece: str, *, ends_block: bool) -> None:
        lead = self._lead if self._item else ""
        verdict = await self._checker.sentence(
            piece, lead=lead, ends_block=ends_block, alone=ends_block and self._first
        )
        match verdict.kind:
            case "release":
                self._release(verdict)
            case "wait":
                self._layout.wait(verdict.text, lead_in=False)
            case "lead_in":
                self._layout.wait(verdict.text, lead_in=True)
                self._lead = self._lead if self._item else re.sub(r"\s*\[\d+\]", "", verdict.text)
            case "label":
                self._layout.heading(_LABEL_LEVEL, verdict.text)
            case "drop":
                self._drops.append(verdict.reason)
            case "nothing":
                pass

    def _release(self, verdict: Verdict) -> None:
        self._layout.release(verdict.text)
        self._numbers = verdict.numbers
        self._supports.append(verdict.score)

    async def _row(self, text: str) -> None:
        cells = cells_of(text)
        if self._head is None:
            self._layout.begin(Place("row", blank_before=True))
            self._blank = False
            head = self._checker.head_of_table(cells)
            self._head = head or []
            if head:
                delimiter = "|" + " --- |" * len(head)
                self._layout.table_head("| " + " | ".join(head) + " |\n" + delimiter)
            return
        if is_delimiter(text):
            return
        if not self._head:
            self._drops.append("a row under a header that is not in evidence")
            return
        width = len(self._head)
        verdict = await self._checker.row(self._head, (cells + [""] * width)[:width])
        if verdict.kind == "release":
            self._release(verdict)
        elif verdict.kind == "drop":
            self._drops.append(verdict.reason)

    def _end_table(self) -> None:
        self._head = None
        self._layout.end_table()

    async def _code_line(self, *, closed: bool) -> bool:
        newline = self._buffer.find("\n")
        if newline < 0 and not closed:
            if len(self._buffer) > CODE_LIMIT:
                self._code_size += len(self._buffer)
                self._buffer = "\x00"  # the line goes on, but is not kept
            return False
        if newline < 0 and not self._buffer:
            return False
        line, _, self._buffer = self._buffer.partition("\n")
        mark = re.match(r"`+|~+", self._fence.text)
        fence = mark.group() if mark else "```"
        if re.fullmatch(re.escape(fence[0]) + "{" + str(len(fence)) + ",}", line.strip(" >")):
            await self._end_code()
            return True
        self._code_size += len(line)
        if self._code_size <= CODE_LIMIT:
            self._code.append(line[min(self._fence.indent, len(line) - len(line.lstrip(" "))) :])
        return True

    async def _end_code(self) -> None:
        self._mode = "line"
        if self._code_size > CODE_LIMIT:
            self._drops.append("code without end")
            return
        verdict = self._checker.code(self._fence.text, self._code)
        if verdict.kind == "drop":
            self._drops.append(verdict.reason)
            return
        before = self._numbers
        self._release(verdict)
        if not set(verdict.numbers) <= set(before):
            self._layout.begin(Place("paragraph", self._fence.indent))
            self._layout.release("".join(f"[{n}]" for n in verdict.numbers))
