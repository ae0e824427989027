"""The lines of code that the passages hold, to check code blocks against."""

import re
from collections.abc import Sequence
from typing import Final

from citewell.document import code_spans

_PROMPT: Final = re.compile(r"^(?:\$|>>>|\.\.\.|PS>|C:\\>|#(?= (?:apt|sudo|cd|ls|ros2|pip|docker)))\s+")
_COMMENT: Final = re.compile(r"^(?:#(?!include|define|if|endif|!)|//|--\s|;|<!--|/\*|\*)")

Range = tuple[int, int]


class Listings:
    def __init__(self) -> None:
        self._lines: dict[str, list[tuple[int, Range]]] = {}
        """Line without its outer spaces to the passages and places that hold it."""

    def add(self, number: int, text: str) -> None:
        start = 0
        for line in text.split("\n"):
            self._add(number, line, start)
            start += len(line) + 1
        for start, end in code_spans(text):
            code = text[start:end].strip("`")
            self._add(number, code, text.index(code, start) if code else start)

    def _add(self, number: int, line: str, start: int) -> None:
        if key := _key(line):
            left = start + len(line) - len(line.lstrip())
            self._lines.setdefault(key, []).append((number, (left, left + len(line.strip()))))

    def found(self, lines: Sequence[str]) -> tuple[list[str] | None, dict[int, list[Range]]]:
        """The lines without the model's own comments, and where they stand; None when a line is foreign."""
        kept: list[str] = []
        places: list[list[tuple[int, Range]]] = []
        for line in lines:
            key = _key(line)
            if not re.search(r"\w", key):
                kept.append(line.rstrip())
            elif here := self._lines.get(key):
                kept.append(line.rstrip())
                places.append(here)
            elif not _COMMENT.match(key):
                return None, {}
        if not places:
            return None, {}
        return kept, _fewest(places)


def _key(line: str) -> str:
    return re.sub(r"\s+", " ", _PROMPT.sub("", line.strip()))


def _fewest(places: Sequence[Sequence[tuple[int, Range]]]) -> dict[int, list[Range]]:
    """Passages that hold the lines, few of them: always the one that holds most of what is left."""
    left = list(places)
    chosen: dict[int, list[Range]] = {}
    while left:
        counts: dict[int, int] = {}
        for here in left:
            for number in {n for n, _ in here}:
                counts[number] = counts.get(number, 0) + 1
        best = min(counts, key=lambda n: (-counts[n], n))
        chosen[best] = [next(r for n, r in here if n == best) for here in left if any(n == best for n, _ in here)]
        left = [here for here in left if all(n != best for n, _ in here)]
    return chosen
