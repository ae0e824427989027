"""Passages cut into what can be quoted whole: sentences, list items, table rows, code blocks. Word for word."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from citewell.text import Block, blocks, is_signpost, sentences

PieceKind = Literal["sentence", "item", "row", "code", "formula", "heading"]


@dataclass(frozen=True, slots=True)
class Numbered:
    """A passage as the answering model sees it, with the number that a marker names it by."""

    number: int
    text: str
    title: str = ""
    heading_path: tuple[str, ...] = ()
    score: float = 1.0
    """Cosine similarity to the question, 0–1."""
    bm25: float = 0.0
    rank: float = 1.0
    """What the search ranked it by, 0–1; comparable within one search only."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that can be quoted. `text` is `passage.text[start:end]`, on one line and without its list sign."""

    passage: int
    """Which of the passages, counted from 0."""
    kind: PieceKind
    text: str
    start: int
    end: int
    block: int
    """Which block of the passage."""
    place: int
    """Which sentence of the block, or row of the table."""
    level: int = 0
    """A list item's indent."""
    sign: str = ""
    """A list item's sign, such as "3." or "-"; for later sentences of an item it is empty."""
    header: str = ""
    """A table row's header row."""
    section: str = ""
    """The heading inside the passage that the piece stands under."""


_SIGN = re.compile(r"^[ \t]*(?:>[ \t]?)*([-*+]|\d{1,9}[.)])[ \t]+")
_QUOTE = re.compile(r"^[ \t]*>[ \t]?", re.MULTILINE)
_FENCED_NOTE = re.compile(r"^[ \t]*:{3,}[ \t]*\w*(?:\[[^\]]*\])?[^\n]*$", re.MULTILINE)
_RULE_ROW = re.compile(r"^[ \t]*\|?[ \t:|-]+\|?[ \t]*$")
_ENDS = re.compile(r"[.!?…:;。！？]['\"”’)\]*_`]*(?:\s*\[\d{1,4}\])*$")
_LABEL = re.compile(r"^(?:\*\*|__)[^*_]{1,60}(?:\*\*|__):?$")


def cut(passages: Sequence[Numbered]) -> list[Piece]:
    """Every piece of every passage, in reading order; a sentence that a neighbour repeats is kept once."""
    found: list[Piece] = []
    seen: set[str] = set()
    for index, passage in enumerate(passages):
        for piece in _pieces(index, passage.text, (passage.title, *passage.heading_path)):
            if piece.kind in ("sentence", "row"):
                if (key := piece.text.casefold()) in seen:
                    continue
                seen.add(key)
            found.append(piece)
    return found


def _pieces(index: int, text: str, titles: Sequence[str]) -> list[Piece]:
    found: list[Piece] = []
    section = ""
    for number, block in enumerate(blocks(text)):
        if block.kind == "heading":
            section = text[block.start : block.end].strip().strip("#").strip()
            section = re.sub(r"\s*\{#[^}]*\}$", "", section)
            found.append(Piece(index, "heading", section, block.start, block.end, number, 0, block.level))
        elif block.kind == "code":
            found.append(
                Piece(index, "code", text[block.start : block.end], block.start, block.end, number, 0, section=section)
            )
        elif block.kind == "table":
            found.extend(_rows(index, text, block, number, section))
        else:
            found.extend(_prose(index, text, block, number, section, titles))
            if found and found[-1].kind == "heading" and found[-1].block == number:
                section = found[-1].text
    return found


def _rows(index: int, text: str, block: Block, number: int, section: str) -> list[Piece]:
    lines: list[tuple[int, str]] = []
    start = block.start
    for line in text[block.start : block.end].split("\n"):
        lines.append((start, line))
        start += len(line) + 1
    headed = len(lines) > 1 and bool(_RULE_ROW.match(lines[1][1]))
    header = lines[0][1].strip() if headed else ""
    rows = lines[2:] if headed else lines
    return [
        Piece(index, "row", line.strip(), at, at + len(line), number, place, header=header, section=section)
        for place, (at, line) in enumerate(rows)
        if not _RULE_ROW.match(line)
    ]


def _prose(index: int, text: str, block: Block, number: int, section: str, titles: Sequence[str]) -> list[Piece]:
    start, raw = block.start, text[block.start : block.end]
    sign, level = "", 0
    if block.kind == "list_item" and (match := _SIGN.match(raw)):
        sign, level = match.group(1), block.level
        start, raw = start + match.end(), raw[match.end() :]
    kind: PieceKind = "item" if block.kind == "list_item" else "sentence"
    if raw.lstrip().startswith("$$"):
        return [Piece(index, "formula", raw.strip(), start, block.end, number, 0, section=section)]
    if kind == "sentence" and is_signpost(raw, titles):
        return []
    if kind == "sentence" and _is_label(_FENCED_NOTE.sub("", raw), text, block):
        return [Piece(index, "heading", _flat(raw).strip("*_: "), start, block.end, number, 0, 6)]
    found: list[Piece] = []
    for text_of, first, last in _between_notes(raw, start):
        flat = _flat(text_of)
        if flat and "```" not in flat:  # a fence inside a line would open a code block in the answer
            place = len(found)
            sign_here = sign if place == 0 else ""
            found.append(Piece(index, kind, flat, first, last, number, place, level, sign_here, "", section))
    return found


def _between_notes(raw: str, start: int) -> list[tuple[str, int, int]]:
    """The sentences between the lines that open and close a note (`:::tip`)."""
    found: list[tuple[str, int, int]] = []
    at = 0
    for note in _FENCED_NOTE.finditer(raw):
        found += _lines_or_sentences(raw[at : note.start()], start + at)
        at = note.end()
    return found + _lines_or_sentences(raw[at:], start + at)


def _lines_or_sentences(raw: str, start: int) -> list[tuple[str, int, int]]:
    """Sentences; where line after line has no full stop (verse, pasted lists), each line stands for itself."""
    lines = [line for line in raw.split("\n") if line.strip()]
    ended = sum(bool(_ENDS.search(line.rstrip())) for line in lines)
    if len(lines) > 3 and ended * 4 < len(lines) and sum(map(len, lines)) < 60 * len(lines):
        found, at = [], start
        for line in raw.split("\n"):
            if line.strip():
                left = at + len(line) - len(line.lstrip())
                found.append((line.strip(), left, left + len(line.strip())))
            at += len(line) + 1
        return found
    return [(s.text, s.start, s.end) for s in sentences(raw, start)]


def _is_label(raw: str, text: str, block: Block) -> bool:
    """A line that only names what follows: a heading that lost its sign, the title of a note."""
    flat = raw.strip()
    if not flat:
        return True
    if _LABEL.match(flat):
        return True
    rest = text[block.end :].strip()
    whole = (block.start == 0 and not rest) or rest.startswith("$$")
    return not whole and "\n" not in flat and len(flat) <= 80 and len(flat.split()) <= 10 and not _ENDS.search(flat)


def _flat(text: str) -> str:
    return " ".join(_QUOTE.sub("", text).split())
