"""The sentence splitter, the only one: prose into sentences with exact offsets, in time linear in the text. Pure."""

import re
from collections.abc import Iterator

from citewell.document.blocks import Span

STOPWORDS = frozenset(
    "a an the this that these those i you he she it we they me him her us them my your his its our their mine yours "
    "is am are was were be been being do does did doing done have has had having will would shall should can could may "
    "might must of in on at by for with about to from into onto out up down over under again than then so such as if "
    "and or but nor not no because while until what which who whom whose when where why how there here all any both "
    "each few more most other some own same too very just also only s t d ll re ve m one ones get gets got let".split()
)
# A word that ends in a full stop without ending the sentence.
_ABBREVIATIONS = frozenset(
    "e.g i.e etc vs cf al fig figs eq eqs sec secs ch no nos vol pp p ed eds approx ca max min resp incl dept est "
    "dr mr mrs ms prof st jr sr gen col lt sgt rev hon inc ltd co corp u.s u.k u.n e.u a.m p.m ph.d b.sc m.sc "
    "jan feb mar apr jun jul aug sep sept oct nov dec mon tue wed thu fri sat sun viz v ver".split()
)
# Those that may end a sentence, when a word such as "The" or "It" follows.
_MAY_END = frozenset("etc al a.m p.m inc ltd co corp u.s u.k u.n e.u ph.d b.sc m.sc".split())
SENTENCE_END = re.compile(
    r"((?<![.!?…])[.!?…]++|[。！？])"
    r"([\"'”’)\]*_]*+)(?=\s|$|\[\d|[。！？]|(?<=[。！？]))"
)
_FOLLOWING = re.compile(r"\s*+(?P<opening>[\"'“‘(\[`*_]*+)(?P<word>[^\W_]?\w*)")
_IDENTIFIER = re.compile(r"[a-z]+(?:\d|_[a-z])\w*\s")  # "tf2", "robot_state_publisher": may begin a sentence
_BACKTICKS = re.compile("`+")
_MARKERS = re.compile(r"(?:\s*\[\d{1,4}\])+")
_WORD_EDGE = re.compile(r"[\s(\[\"'“‘]")
_LONGEST_WORD = 60
_STEP_NUMBER = re.compile(r"\d{1,3}")


def split_sentences(text: str, start: int = 0, end: int | None = None) -> list[Span]:
    """The sentences of `text[start:end]` (one paragraph or list item), as places in `text`.

    Abbreviations, initials, decimals, versions, file names and code spans do not end one. Citation markers that
    follow a full stop belong to the sentence before them.
    """
    stretch = text[start:end]
    code = code_spans(stretch)
    inside = next(code, None)
    found: list[Span] = []
    begin = 0
    for match in SENTENCE_END.finditer(stretch):
        while inside is not None and inside.end <= match.start():
            inside = next(code, None)
        if match.end() <= begin or (inside is not None and inside.start <= match.start()):
            continue
        if not ends_sentence(stretch, begin, match):
            continue
        stop = match.end()
        if markers := _MARKERS.match(stretch, stop):
            stop = markers.end()
        found.extend(trimmed(stretch, begin, stop))
        begin = stop
    found.extend(trimmed(stretch, begin, len(stretch)))
    return [Span(start + first, start + last) for first, last in found] if start else found


def trimmed(text: str, start: int, end: int) -> list[Span]:
    """The stretch without blank space at its ends; none when there is nothing else in it."""
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    return [Span(start, end)] if end > start else []


def code_spans(text: str) -> Iterator[Span]:
    """Code in a line of Markdown: between runs of as many backticks, these included."""
    runs = [match.span() for match in _BACKTICKS.finditer(text)]
    later: dict[int, list[int]] = {}
    for number in range(len(runs) - 1, -1, -1):
        later.setdefault(runs[number][1] - runs[number][0], []).append(number)
    number = 0
    while number < len(runs):
        opening = runs[number]
        same = later[opening[1] - opening[0]]
        while same and same[-1] <= number:
            same.pop()
        if same:
            number = same[-1]
            yield Span(opening[0], runs[number][1])
        number += 1


def ends_sentence(text: str, begin: int, match: re.Match[str]) -> bool:
    """Whether a sentence that begins at `begin` ends at a match of SENTENCE_END. Looks a word back and a word ahead."""
    following = _FOLLOWING.match(text, match.end())
    if following is None or (following.end() == len(text) and not following["opening"] and not following["word"]):
        return True
    if match[1] == ".":
        return _ends_at_stop(text, begin, match, following)
    # "Wait… what", and "our “Hello, world!” project": a small letter goes on.
    may_go_on = match[1][0] in ".…" or bool(match[2])
    return not (may_go_on and not following["opening"] and following["word"][:1].islower())


def _ends_at_stop(text: str, begin: int, match: re.Match[str], following: re.Match[str]) -> bool:
    before = text[max(begin, match.start() - _LONGEST_WORD) : match.start()]
    word = _WORD_EDGE.split(before)[-1].lower()
    if following["word"][:1].islower() and not _begins_small(text, following):
        # "e.g. this", "approx. 5": a lower-case letter goes on.
        return word not in _ABBREVIATIONS and "\n" in text[match.end() : match.end() + 2] and len(word) > 3
    is_initial = len(word) == 1 and before[-1:].isupper()
    if is_initial or _is_step(text, begin, match.start() - len(word), word):
        return False
    return following["word"].lower() in STOPWORDS if word in _MAY_END else word not in _ABBREVIATIONS


def _begins_small(text: str, following: re.Match[str]) -> bool:
    """A path or a name in code may begin a sentence."""
    return following["opening"][:1] == "`" or _IDENTIFIER.match(text, following.start("word")) is not None


def _is_step(text: str, begin: int, number: int, word: str) -> bool:
    """ "3. Build the workspace": the number of a step."""
    is_first = number - begin < _LONGEST_WORD and not text[begin:number].strip(" \t\n-*+")
    return is_first and _STEP_NUMBER.fullmatch(word) is not None
