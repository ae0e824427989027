"""A reading turned into a short Markdown answer: whole pieces, word for word, each followed by its marker. Pure."""

import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from citewell.extractive.choosing import Chooser
from citewell.extractive.forms import breaks_off
from citewell.extractive.pieces import Piece
from citewell.extractive.reading import Reading


class Disagreement(Protocol):
    """Two sentences that cannot both be true. `first` and `second` are places among the reading's passages, from 0."""

    @property
    def first(self) -> int: ...
    @property
    def first_sentence(self) -> str: ...
    @property
    def second(self) -> int: ...
    @property
    def second_sentence(self) -> str: ...


def compose(reading: Reading, conflict: Disagreement | None = None, *, limit: int = 4) -> str:
    """The answer; empty when nothing in the passages meets the question. At most `limit` sentences of prose."""
    if conflict is not None:
        return _disagreement(reading, conflict)
    return _render(reading, Chooser(reading, limit).choose())


def quoted(reading: Reading, *, limit: int = 4) -> list[Piece]:
    """The pieces that `compose` joins, in the same order."""
    return [reading.scored[index].piece for index in Chooser(reading, limit).choose()]


def _disagreement(reading: Reading, conflict: Disagreement) -> str:
    one, other = (" ".join(s.split()) for s in (conflict.first_sentence, conflict.second_sentence))
    first, second = (reading.passages[place].number for place in (conflict.first, conflict.second))
    return f"The sources disagree.\n\n- {one} [{first}]\n- {other} [{second}]"


def _render(reading: Reading, chosen: Sequence[int]) -> str:
    """Join pieces: sentences of one block into a paragraph, items into a list, rows into a table under their header."""
    lines: list[str] = []
    previous: Piece | None = None
    pieces = [reading.scored[index].piece for index in chosen]
    if sum(bool(p.sign) for p in pieces) == 1:
        # One item of a list, without the others, reads better as a sentence.
        pieces = [replace(p, kind="sentence", sign="") if p.kind == "item" else p for p in pieces]
    for piece in pieces:
        marker = f"[{reading.passages[piece.passage].number}]"
        lines += _joint(previous, piece, lines)
        match piece.kind:
            case "sentence":
                _append(lines, f"{piece.text} {marker}", glued=_glued(previous, piece))
            case "item":
                _append(lines, f"{_sign(piece)}{piece.text} {marker}", glued=_glued(previous, piece))
            case "row":
                lines += _row(previous, piece, marker)
            case "code" if previous is not None and _continues(previous, piece, lines):
                del lines[-2:]  # the fence that ended the part before, and the blank line
                lines += _code(previous, piece)[1:]
            case "code":
                lines += _code(previous, piece)
            case "formula":
                lines.append(f"{piece.text} {marker}")
        previous = piece
    return "\n".join(lines).strip()


def _glued(previous: Piece | None, piece: Piece) -> bool:
    if previous is None or previous.kind != piece.kind or piece.sign:
        return False
    if piece.kind == "sentence":
        return not previous.text.endswith(":")
    return previous.passage == piece.passage and previous.block == piece.block


def _append(lines: list[str], text: str, *, glued: bool) -> None:
    if glued and lines:
        lines[-1] = f"{lines[-1]} {text}"
    else:
        lines.append(text)


def _joint(previous: Piece | None, piece: Piece, lines: Sequence[str]) -> list[str]:
    """A blank line where Markdown needs one."""
    if previous is None or _glued(previous, piece) or (lines and lines[-1] == ""):
        return []
    if previous.kind == piece.kind == "item":
        return []
    if previous.kind == piece.kind == "row" and _one_table(previous, piece):
        return []
    return [""]


def _one_table(one: Piece, other: Piece) -> bool:
    return one.passage == other.passage and one.header == other.header


def _sign(piece: Piece) -> str:
    return f"{piece.sign} " if piece.sign else ""


def _row(previous: Piece | None, piece: Piece, marker: str) -> list[str]:
    body = f"{piece.text[:-1].rstrip()} {marker} |"
    if previous is not None and previous.kind == "row" and _one_table(previous, piece):
        return [body]
    columns = max(1, len(re.findall(r"(?<!\\)\|", piece.header or piece.text)) - 1)
    header = piece.header or "|" + "   |" * columns
    return [header, "|" + " --- |" * columns, body]


def _continues(previous: Piece, piece: Piece, lines: Sequence[str]) -> bool:
    """Whether code goes on that was too long for the passage before. Code of a step is indented, and left as it is."""
    if previous.kind != "code" or previous.passage == piece.passage or not breaks_off(previous.text):
        return False
    return lines[-2:] == [piece.text.split("\n", 1)[0].strip()[:3], ""]


def _code(previous: Piece | None, piece: Piece) -> list[str]:
    lines = piece.text.split("\n")
    indent = min((len(line) - len(line.lstrip()) for line in lines if line.strip()), default=0)
    inside = "   " if previous is not None and previous.kind == "item" and previous.sign[:1].isdigit() else ""
    fence = lines[0].strip()[:3]
    dedented = [inside + line[indent:] if line.strip() else "" for line in lines]
    if len(dedented) < 2 or dedented[-1].strip()[:3] != fence:
        dedented.append(inside + fence)
    return [*dedented, ""]
