"""Streamed prose into whole sentences with their markers. Incremental: no character is looked at more than a few times.

What a full stop means is decided by `citewell.document`; here it is decided when enough text has come to ask. A stop
inside a quotation, brackets or code ends nothing, as far as these close again soon.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from citewell.document import SENTENCE_END, ends_sentence
from citewell.gate.markers import FORMS

HELD_LIMIT: Final = 2000
"""Characters that may wait for the end of their sentence; a longer one is given up."""
_REACH: Final = 300
"""How far a quotation, a bracket or a code span may reach."""
_AHEAD: Final = 80
_MOST_MARKERS: Final = 12
_POINT: Final = re.compile(r"`+|[“\"(\[【]|[.!?…]+|[。！？]")
_CLOSING: Final = {"“": "”", '"': '"', "(": ")", "[": "]", "【": "】"}
_TICKS: Final = re.compile("`+")
_SUPERSCRIPTS: Final = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,4}")
_SPACE: Final = re.compile(r"\s{0,3}")
_GROUP_OPEN: Final = re.compile(r"\s{0,3}\\?[\[【［〔(][^\]】］〕)\n]{0,60}$")
_WHOLE_WORD: Final = re.compile(r"\s*\S+\s")


@dataclass(frozen=True, slots=True)
class Cut:
    """A sentence; `text` is empty when it was too long and was given up."""

    text: str
    first: bool
    last: bool
    """It begins, or ends, its block."""


class _MoreNeeded(Exception):
    """What has come does not decide it."""


class SentenceCutter:
    """The prose of one block."""

    def __init__(self) -> None:
        self._text = ""
        self._begin = 0
        self._at = 0
        self._first = True
        self._overlong = False

    def add(self, text: str) -> None:
        self._text = self._text[self._begin :] + text
        self._at -= self._begin
        self._begin = 0

    def cut(self, *, closed: bool) -> Iterator[Cut]:
        """Every sentence that is whole; with `closed` all that is left."""
        while True:
            try:
                end = self._end(closed=closed)
            except _MoreNeeded:
                return
            given_up = end is None
            if end is None:
                end = min(self._begin + HELD_LIMIT, len(self._text))
            piece = self._text[self._begin : end].strip()
            self._begin = self._at = end
            last = closed and not self._text[end:].strip()
            if given_up and not self._overlong:
                yield Cut("", self._first, last)
            elif piece and not given_up and not self._overlong:
                yield Cut(piece, self._first, last)
            if given_up or piece:
                self._first, self._overlong = False, given_up
            if end >= len(self._text):
                return

    def _end(self, *, closed: bool) -> int | None:
        """The end of the first sentence; None when it has none within the limit."""
        limit = self._begin + HELD_LIMIT
        while point := _POINT.search(self._text, self._at, limit):
            if point.end() == len(self._text) and not closed:
                self._at = point.start()
                raise _MoreNeeded
            sign = point.group()[0]
            if sign == "`":
                self._at = self._behind_code(point, closed=closed)
            elif sign in _CLOSING:
                self._at = self._behind_group(point, closed=closed)
            else:
                self._at = point.start()
                end = self._sentence_end(point, closed=closed)
                if end is not None and end <= limit:
                    return end
                self._at = point.end()
        if len(self._text) > limit:
            return None
        self._at = max(self._at, len(self._text))
        if closed:
            return len(self._text)
        raise _MoreNeeded

    def _behind_code(self, point: re.Match[str], *, closed: bool) -> int:
        """Behind the run of as many backticks, if there is one; else behind this run."""
        reach = point.end() + _REACH
        for run in _TICKS.finditer(self._text, point.end(), reach):
            if run.end() == len(self._text) and not closed:
                break
            if len(run.group()) == len(point.group()):
                return run.end()
        if len(self._text) < reach and not closed:
            self._at = point.start()
            raise _MoreNeeded
        return point.end()

    def _behind_group(self, point: re.Match[str], *, closed: bool) -> int:
        """At what closes the group, or at the full stop before it; behind the opening sign if nothing closes it."""
        start = point.start()
        before, behind = self._text[start - 1 : start] if start > self._begin else "", self._text[start + 1 : start + 2]
        if point.group() == '"' and (before.isalnum() or behind.isspace()):
            return point.end()  # an inch, or the end of a quotation that began too long ago
        reach = point.end() + _REACH
        close = self._text.find(_CLOSING[point.group()], point.end(), reach)
        if close < 0:
            if len(self._text) < reach and not closed:
                self._at = start
                raise _MoreNeeded
            return point.end()
        stop = close
        while self._text[stop - 1] in ".!?…" and stop > point.end():
            stop -= 1
        return stop if stop < close else close + 1

    def _sentence_end(self, point: re.Match[str], *, closed: bool) -> int | None:
        match = SENTENCE_END.match(self._text, point.start())
        if match is None:
            return None
        end = match.end()
        for _ in range(_MOST_MARKERS):
            space = _SPACE.match(self._text, end)
            place = space.end() if space else end
            marker = _SUPERSCRIPTS.match(self._text, place) if place == end else None
            marker = marker or FORMS.match(self._text, place)
            if marker is None:
                break
            end = marker.end()
        following = self._text[end : end + _AHEAD]
        if (
            not closed
            and len(following) < _AHEAD
            and (_GROUP_OPEN.match(following) or not _WHOLE_WORD.match(following))
        ):
            raise _MoreNeeded
        return end if ends_sentence(self._text, self._begin, match) else None
