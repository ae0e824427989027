"""Streamed Markdown into pieces to check: sentences, headings, table rows, code blocks. Incremental and pure.

What comes out depends on the text alone, not on how it was cut into deltas.
"""

import re
from dataclasses import dataclass, field
from typing import Final, Literal

from citewell.gate.cutting import HELD_LIMIT, SentenceCutter
from citewell.gate.lines import MarkdownLine, classified

CODE_LIMIT: Final = 20_000
_UNDECIDED: Final = 160
"""Characters after which the kind of a line is not asked again before the line is whole."""
_DELIMITER: Final = re.compile(r"[\s|:]*-[\s|:-]*")
_BAR: Final = re.compile(r"(?<!\\)\|")
_CODE: Final = re.compile(r"`[^`]*`")

BlockKind = Literal["paragraph", "item", "row", "code"]


@dataclass(slots=True)
class Place:
    """A block of the model's text. It is written when its first piece is released."""

    kind: BlockKind
    indent: int = 0
    """Columns, of an item or of what stands inside one."""
    ordered: bool = False
    number: int = 0
    """As the model counts."""
    blank_before: bool = False
    written: bool = False


@dataclass(frozen=True, slots=True)
class BlockBegun:
    place: Place


@dataclass(frozen=True, slots=True)
class SentenceRead:
    text: str
    lead: str
    """The lead-in of the list that it stands in."""
    first: bool
    last: bool
    """It begins, or ends, its block."""
    item: bool


@dataclass(frozen=True, slots=True)
class HeadingRead:
    level: int
    text: str


@dataclass(frozen=True, slots=True)
class TableBegun:
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RowRead:
    cells: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TableEnded:
    pass


@dataclass(frozen=True, slots=True)
class CodeRead:
    opening: str
    indent: int
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GivenUp:
    reason: str


Piece = BlockBegun | SentenceRead | HeadingRead | TableBegun | RowRead | TableEnded | CodeRead | GivenUp


@dataclass(slots=True)
class MarkdownStream:
    """Feed text, take pieces."""

    _buffer: str = ""
    """Text whose block is not known yet."""
    _held: list[str] = field(default_factory=list)
    """Text that waits for the end of its line."""
    _held_size: int = 0
    _waits: int = 0
    """So many more characters may come before a line without end is looked at again."""
    _mode: Literal["line", "prose", "code", "skip"] = "line"
    _blank: bool = False
    _cutter: SentenceCutter = field(default_factory=SentenceCutter)
    _item: bool = False
    _lead: str = ""
    _fence: MarkdownLine = field(default_factory=lambda: MarkdownLine("fence"))
    _code: list[str] = field(default_factory=list)
    _code_size: int = 0
    _in_table: bool = False
    _pieces: list[Piece] = field(default_factory=list)

    def feed(self, delta: str) -> list[Piece]:
        self._held.append(delta)
        self._held_size += len(delta)
        if self._held_size < self._waits and "\n" not in delta:
            return []
        return self._advanced(closed=False)

    def finish(self) -> list[Piece]:
        pieces = self._advanced(closed=True)
        if self._mode == "code":
            self._end_code()
        return [*pieces, *self._taken()]

    def _advanced(self, *, closed: bool) -> list[Piece]:
        self._buffer = "".join([self._buffer, *self._held])
        self._held, self._held_size, self._waits = [], 0, 0
        going = True
        at = 0
        while going:
            match self._mode:
                case "line":
                    going, at = self._line(at, closed=closed)
                case "prose":
                    going, at = self._prose_line(at, closed=closed)
                case "code":
                    going, at = self._code_line(at, closed=closed)
                case "skip":
                    going, at = self._skipped(at)
        self._buffer = self._buffer[at:]
        return self._taken()

    def _taken(self) -> list[Piece]:
        pieces, self._pieces = self._pieces, []
        return pieces

    def _next_line(self, start: int, *, closed: bool) -> MarkdownLine | None:
        """The line that begins at `start`; unknown for too long, it counts as a definition, which is skipped."""
        newline = self._buffer.find("\n", start)
        line = self._buffer[start : newline if newline >= 0 else start + HELD_LIMIT + 1]
        if len(line) > HELD_LIMIT:
            return classified(line[:HELD_LIMIT], whole=False) or MarkdownLine("definition", text="overlong")
        found = classified(line, whole=newline >= 0 or closed)
        if found is None and len(line) > _UNDECIDED:
            self._waits = HELD_LIMIT + 1 - len(line)
        return found

    def _line(self, at: int, *, closed: bool) -> tuple[bool, int]:
        if at >= len(self._buffer):
            return False, at
        line = self._next_line(at, closed=closed)
        if line is None:
            return False, at
        if line.kind != "row" and self._in_table:
            self._in_table = False
            self._pieces.append(TableEnded())
        if line.kind in ("prose", "item"):
            self._begin(line)
            self._mode = "prose"
            return True, at + line.prefix
        if line.kind == "definition":
            if line.text:
                self._pieces.append(GivenUp("a line without end"))
            self._mode = "skip"
            return True, at
        newline = self._buffer.find("\n", at)
        end = newline if newline >= 0 else len(self._buffer)
        self._whole_line(line, self._buffer[at:end])
        return True, min(end + 1, len(self._buffer))

    def _whole_line(self, line: MarkdownLine, text: str) -> None:
        match line.kind:
            case "heading":
                self._lead, self._blank = "", False
                self._pieces.append(HeadingRead(line.level, line.text))
            case "row":
                self._row(text)
            case "fence":
                self._fence, self._code, self._code_size = line, [], 0
                self._pieces.append(BlockBegun(self._placed("code", line)))
                self._mode = "code"
            case _:
                self._blank = True

    def _skipped(self, at: int) -> tuple[bool, int]:
        newline = self._buffer.find("\n", at)
        if newline < 0:
            return False, len(self._buffer)
        self._mode = "line"
        return True, newline + 1

    def _placed(self, kind: BlockKind, line: MarkdownLine) -> Place:
        place = Place(kind, line.indent, line.number > 0, max(line.number, 0), self._blank)
        self._blank = False
        return place

    def _begin(self, line: MarkdownLine) -> None:
        self._item = line.kind == "item"
        if not self._item and not line.indent:
            self._lead = ""
        self._pieces.append(BlockBegun(self._placed("item" if self._item else "paragraph", line)))
        self._cutter = SentenceCutter()

    def _prose_line(self, at: int, *, closed: bool) -> tuple[bool, int]:
        """Take in the rest of a line; the next line tells whether the block goes on."""
        newline = self._buffer.find("\n", at)
        if newline < 0:
            self._cutter.add(self._buffer[at:])
            self._cut(closed=closed)
            if closed:
                self._mode = "line"
            return False, len(self._buffer)
        self._cutter.add(self._buffer[at:newline])
        following = newline + 1
        known = following < len(self._buffer) or closed
        line = self._next_line(following, closed=closed) if known else None
        self._cut(closed=line is not None and line.kind != "prose")
        if line is None:
            return False, newline
        if line.kind == "prose":
            self._cutter.add("\n")
            return True, following + line.prefix
        self._mode = "line"
        return True, min(following, len(self._buffer))

    def _cut(self, *, closed: bool) -> None:
        for cut in self._cutter.cut(closed=closed):
            if not cut.text:
                self._pieces.append(GivenUp("a sentence without end"))
                continue
            lead = self._lead if self._item else ""
            self._pieces.append(SentenceRead(cut.text, lead, cut.first, cut.last, self._item))
            if cut.last and cut.text.endswith(":") and not self._item:
                self._lead = cut.text

    def _row(self, text: str) -> None:
        if not self._in_table:
            self._in_table = True
            self._blank = False
            self._pieces.append(TableBegun(cells_of(text)))
        elif not _DELIMITER.fullmatch(text):
            self._pieces.append(RowRead(cells_of(text)))

    def _code_line(self, at: int, *, closed: bool) -> tuple[bool, int]:
        newline = self._buffer.find("\n", at)
        if newline < 0 and not closed:
            size = len(self._buffer) - at
            if size <= CODE_LIMIT:
                self._waits = CODE_LIMIT + 1 - size
                return False, at
            self._code_size += size
            self._buffer = "\x00"  # the line goes on, but is not kept
            return False, 0
        if at >= len(self._buffer):
            return False, at
        end = newline if newline >= 0 else len(self._buffer)
        line = self._buffer[at:end]
        fence = self._fence.text[: len(self._fence.text) - len(self._fence.text.lstrip(self._fence.text[:1]))]
        bare = line.strip(" >")
        if len(bare) >= len(fence) and not bare.strip(fence[0]):
            self._end_code()
        else:
            self._code_size += len(line)
            if self._code_size <= CODE_LIMIT:
                self._code.append(line[min(self._fence.indent, len(line) - len(line.lstrip(" "))) :])
        return True, min(end + 1, len(self._buffer))

    def _end_code(self) -> None:
        self._mode = "line"
        if self._code_size > CODE_LIMIT:
            self._pieces.append(GivenUp("code without end"))
        else:
            self._pieces.append(CodeRead(self._fence.text, self._fence.indent, tuple(self._code)))


def cells_of(line: str) -> tuple[str, ...]:
    """The cells of a row; bars inside code spans and behind a backslash are text."""
    masked = _CODE.sub(lambda m: m.group().replace("|", "\x01"), line.strip().replace("\\|", "\x01"))
    return tuple(c.replace("\x01", "|").strip() for c in _BAR.split(masked.strip("|")))
