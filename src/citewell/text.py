"""Prose taken apart, with exact offsets: blocks of Markdown, sentences, words and their stems. Pure.

The only module that imports Stemmer. Splitting, grounding and the built-in model all cut text here, so that
a sentence is the same sentence everywhere.
"""

import re
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import Stemmer

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


# A word that ends in a full stop without ending the sentence.
_ABBREVIATIONS = frozenset(
    "e.g i.e etc vs cf al fig figs eq eqs sec secs ch no nos vol pp p ed eds approx ca max min resp incl dept est "
    "dr mr mrs ms prof st jr sr gen col lt sgt rev hon inc ltd co corp u.s u.k u.n e.u a.m p.m ph.d b.sc m.sc "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun viz v ver".split()
)
# Those that may end a sentence, when a word such as "The" or "It" follows.
_MAY_END = frozenset("etc al a.m p.m inc ltd co corp u.s u.k u.n e.u ph.d b.sc m.sc".split())
_END = re.compile(r"([.!?…]+|[。！？])([\"'”’)\]*_]*)(?=\s|$|\[\d|[。！？]|(?<=[。！？]))")
_OPENS = re.compile(r"^[\"'“‘(\[`*_]*([^\W_])", re.UNICODE)
_IDENTIFIER = re.compile(r"^[a-z]+(?:\d|_[a-z])\w*\s")  # "tf2", "robot_state_publisher": may begin a sentence
_CODE_SPAN = re.compile(r"(`+)(?:(?!\1).)*?\1(?!`)", re.DOTALL)
_MARKERS = re.compile(r"(?:\s*\[\d{1,4}\])+")


def sentences(text: str, offset: int = 0) -> list[Sentence]:
    """Split prose (one paragraph or list item) into sentences.

    Abbreviations, initials, decimals, versions, file names and code spans do not end one. Citation markers that
    follow a full stop belong to the sentence before them. Offsets are into `text`, plus `offset`.
    """
    spans = [m.span() for m in _CODE_SPAN.finditer(text)]
    found: list[Sentence] = []
    start = 0
    for match in _END.finditer(text):
        if any(a <= match.start() < b for a, b in spans) or match.end() <= start:
            continue
        end = match.end()
        if not _ends_sentence(text, start, match):
            continue
        if markers := _MARKERS.match(text, end):
            end = markers.end()
        found.extend(_trimmed(text, start, end, offset))
        start = end
    found.extend(_trimmed(text, start, len(text), offset))
    return found


def _trimmed(text: str, start: int, end: int, offset: int) -> list[Sentence]:
    piece = text[start:end]
    left = start + len(piece) - len(piece.lstrip())
    right = left + len(piece.strip())
    return [Sentence(text[left:right], left + offset, right + offset)] if right > left else []


def _ends_sentence(text: str, start: int, match: re.Match[str]) -> bool:
    mark = match.group(1)
    if mark != ".":
        following = text[match.end() :].lstrip()
        return not (mark[0] in ".…" and following[:1].islower())
    following = text[match.end() :].lstrip()
    if not following:
        return True
    opening = _OPENS.match(following)
    before = text[start : match.start()]
    word = re.split(r"[\s(\[\"'“‘]", before)[-1].lower()
    if opening and opening.group(1).islower() and not following.startswith("`") and not _IDENTIFIER.match(following):
        # "e.g. this", "approx. 5": a lower-case letter goes on; but a path or a name in code may begin a sentence.
        return word not in _ABBREVIATIONS and "\n" in text[match.end() : match.end() + 2] and len(word) > 3
    if len(word) == 1 and before[-1:].isupper():
        return False  # an initial
    if re.fullmatch(r"\d{1,3}", word) and not before[: -len(word)].strip(" \t\n-*+"):
        return False  # "3. Build the workspace": the number of a step
    if word in _MAY_END:
        return bool(opening) and re.split(r"\W", following.lstrip("\"'“‘([`*_"), maxsplit=1)[0].lower() in STOPWORDS
    return word not in _ABBREVIATIONS


_WORD = re.compile(r"[^\W_]+(?:[-_.'’:/][^\W_]+)*", re.UNICODE)
STOPWORDS = frozenset(
    "a an the this that these those i you he she it we they me him her us them my your his its our their mine yours "
    "is am are was were be been being do does did doing done have has had having will would shall should can could may "
    "might must of in on at by for with about to from into onto out up down over under again than then so such as if "
    "and or but nor not no because while until what which who whom whose when where why how there here all any both "
    "each few more most other some own same too very just also only s t d ll re ve m one ones get gets got let".split()
)
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
