"""Words and their stems, and Markdown taken apart for those who do not read a page's blocks yet. Pure.

The only module that imports Stemmer.
"""

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import Stemmer

from citewell.document import STOPWORDS, split_sentences

__all__ = [
    "STOPWORDS",
    "Block",
    "BlockKind",
    "Sentence",
    "blocks",
    "content_stems",
    "is_signpost",
    "sentences",
    "stem",
    "words",
]

BlockKind = Literal["heading", "paragraph", "list_item", "table", "code"]


@dataclass(frozen=True, slots=True)
class Block:
    """A block of Markdown; `start` and `end` are offsets into the text it was found in."""

    kind: BlockKind
    start: int
    end: int
    level: int = 0
    """Of a heading; of a list item, its indent in columns."""


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    start: int
    end: int


_FENCE = re.compile(r"^[ \t]*(?:>[ \t]?)*(`{3,}|~{3,})")
_HEADING = re.compile(r"^(#{1,6})(?:[ \t]|$)")
_ITEM = re.compile(r"^([ \t]*)(?:[-*+]|\d{1,9}[.)])[ \t]+")
_TABLE_ROW = re.compile(r"^[ \t]*\|.*\|[ \t]*$")


def blocks(text: str) -> list[Block]:
    """The blocks of clean Markdown in order. Blank lines belong to none; an unclosed fence runs to the end."""
    found: list[Block] = []
    lines = list(_lines(text))
    i = 0
    while i < len(lines):
        start, line = lines[i]
        if not line.strip():
            i += 1
            continue
        kind: BlockKind
        level = 0
        last = i
        if fence := _FENCE.match(line):
            kind = "code"
            last = _fence_end(lines, i, fence.group(1))
        elif heading := _HEADING.match(line):
            kind, level = "heading", len(heading.group(1))
        elif _TABLE_ROW.match(line):
            kind = "table"
            while last + 1 < len(lines) and _TABLE_ROW.match(lines[last + 1][1]):
                last += 1
        elif item := _ITEM.match(line):
            kind, level = "list_item", len(item.group(1).expandtabs(4))
            last = _prose_end(lines, i)
        else:
            kind = "paragraph"
            last = _prose_end(lines, i)
        found.append(Block(kind, start, lines[last][0] + len(lines[last][1]), level))
        i = last + 1
    return found


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line
        start += len(line) + 1


def _fence_end(lines: list[tuple[int, str]], first: int, fence: str) -> int:
    close = re.compile(r"^[ \t]*(?:>[ \t]?)*" + re.escape(fence[0]) + "{" + str(len(fence)) + r",}[ \t]*$")
    for i in range(first + 1, len(lines)):
        if close.match(lines[i][1]):
            return i
    return len(lines) - 1


def _prose_end(lines: list[tuple[int, str]], first: int) -> int:
    last = first
    while last + 1 < len(lines):
        line = lines[last + 1][1]
        if (
            not line.strip()
            or _FENCE.match(line)
            or _HEADING.match(line)
            or _ITEM.match(line)
            or _TABLE_ROW.match(line)
        ):
            break
        last += 1
    return last


def sentences(text: str, offset: int = 0) -> list[Sentence]:
    """The sentences of one paragraph or list item, with their text. Offsets are into `text`, plus `offset`."""
    return [Sentence(text[start:end], start + offset, end + offset) for start, end in split_sentences(text)]


_WORD = re.compile(r"[^\W_]+(?:[-_.'’:/][^\W_]+)*", re.UNICODE)
_LOCAL = threading.local()
_BETWEEN_LINKS = re.compile(r"\s+[·›»→|]\s+")
_SHORTEST_TRAIL = 2
_LONGEST_STEP = 100
_SENTENCE_END = re.compile(r"[.!?…:;。！？][\"'”’)\]*_`]*$")


def words(text: str) -> list[str]:
    """Words as they stand; identifiers such as `nav2_bringup` or `rclpy.init` stay whole."""
    return [m.group() for m in _WORD.finditer(text)]


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The English stem of a word, in lower case. Identifiers and numbers are only lowered."""
    word = word.lower().replace("’", "'")
    if not word.isalpha():
        return word.removesuffix("'s")
    stemmer = getattr(_LOCAL, "stemmer", None)
    if stemmer is None:  # a Stemmer is not safe to share between threads
        stemmer = _LOCAL.stemmer = Stemmer.Stemmer("english")
    stemmed: str = stemmer.stemWord(word)
    return stemmed


def content_stems(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order, with repetitions."""
    return [stem(w) for w in words(text) if w.lower() not in STOPWORDS]


def is_signpost(paragraph: str, titles: Sequence[str]) -> bool:
    """Whether a paragraph only says where it stands: a trail of links, or nothing beyond the titles above it.

    Trails are "Book · Part 2 · Chapter 3"; the others are mostly the alternative text of a picture.
    """
    flat = paragraph.strip().strip("*_")
    steps = _BETWEEN_LINKS.split(flat)
    if len(steps) > _SHORTEST_TRAIL:
        starts = (step.lstrip("*_[")[:1] for step in steps)
        return all(start.isupper() or start.isdigit() for start in starts) and max(map(len, steps)) <= _LONGEST_STEP
    if _SENTENCE_END.search(flat) or len(flat) > _LONGEST_STEP:
        return False
    said = set(content_stems(flat))
    return said <= set(content_stems(" ".join(titles)))
