"""Citations as a reader sees them: numbered from 1 in the order of use, passages of one place joined. Pure.

The gate works with the numbers of the evidence; its text is renumbered on its way out, sentence by sentence.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from citewell.answering.evidence import Evidence, Ranges
from citewell.values import SELECTION_URL, Citation, ScoredPassage, SelectionSpan

_MARKERS = re.compile(r"(?:\[\d{1,4}\])+")
_MARKER = re.compile(r"\[(\d{1,4})\]")
_FENCE = re.compile(r"^[ \t]*(`{3,}|~{3,})", re.MULTILINE)
_CODE = re.compile(r"(`+)(?:(?!\1).)+?\1", re.DOTALL)


@dataclass(slots=True)
class Sources:
    evidence: Evidence
    _numbers: dict[str, int] = field(default_factory=dict)
    """Place to number, in the order of use."""
    _fence: str = ""
    """The open code block, if the text released last ended in one."""

    def renumbered(self, text: str) -> str:
        """Released text with the reader's numbers; what stands in code is left as it is."""
        lines = text.splitlines(keepends=True)
        return "".join(self._line(line) for line in lines)

    def _line(self, line: str) -> str:
        fence = _FENCE.match(line)
        if self._fence:
            if fence and fence[1].startswith(self._fence) and not line.strip().strip(self._fence[0]):
                self._fence = ""
            return line
        if fence:
            self._fence = fence[1]
            return line
        parts: list[str] = []
        at = 0
        for code in _CODE.finditer(line):
            parts += [self._markers(line[at : code.start()]), code.group()]
            at = code.end()
        return "".join([*parts, self._markers(line[at:])])

    def _markers(self, text: str) -> str:
        return _MARKERS.sub(self._run, text)

    def _run(self, markers: re.Match[str]) -> str:
        """Markers that stand together; two passages of one place need only one."""
        given = [int(number) for number in _MARKER.findall(markers.group())]
        if not all(1 <= number <= len(self.evidence.shown) for number in given):
            return markers.group()
        return "".join(f"[{number}]" for number in dict.fromkeys(map(self._number, given)))

    def _number(self, shown: int) -> int:
        place = _place(self.evidence.shown[shown - 1])
        return self._numbers.setdefault(place, len(self._numbers) + 1)

    def citations(self, cited: Mapping[int, Ranges]) -> tuple[Citation, ...]:
        """What the answer rests on, best first. A selection is cited once for each quoted place."""
        found: dict[str, Citation] = {}
        selected: list[Citation] = []
        for number in sorted(cited, key=self._number):
            item = self.evidence.shown[number - 1]
            if item.passage.url == SELECTION_URL:
                selected += _selected(self._number(number), item, cited[number])
                continue
            quote = _quote(item.passage.text, cited[number])
            place = _place(item)
            if (first := found.get(place)) is not None:
                quote = f"{first.quote}\n\n{quote}"
                item = item if item.score > first.score else ScoredPassage(first.passage, first.score, 0.0, 0.0, 0.0)
            found[place] = Citation(self._number(number), item.passage, item.score, quote)
        ordered = [*selected, *found.values()]
        return tuple(sorted(ordered, key=lambda c: (-c.score, c.number, c.span.char_start if c.span else 0)))


def _place(item: ScoredPassage) -> str:
    return item.passage.section_url


def _quote(text: str, ranges: Ranges) -> str:
    start = min((r[0] for r in ranges), default=0)
    end = max((r[1] for r in ranges), default=len(text))
    return text[start:end]


def _selected(number: int, item: ScoredPassage, ranges: Ranges) -> list[Citation]:
    text = item.passage.text
    return [
        Citation(number, item.passage, item.score, text[start:end], _span(text, start, end))
        for start, end in sorted(set(ranges)) or [(0, len(text))]
    ]


def _span(text: str, start: int, end: int) -> SelectionSpan:
    return SelectionSpan(start, end, text.count("\n", 0, start) + 1, text.count("\n", 0, max(start, end - 1)) + 1)
