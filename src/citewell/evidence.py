"""What one run may quote: passages and selections, numbered in the order they were shown. Pure.

The numbers are the markers of the answer; they are never given twice and never change within a run.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from citewell.models import SELECTION_URL, Citation, Passage, ScoredPassage, Span

Ranges = Sequence[tuple[int, int]]


@dataclass(slots=True)
class Evidence:
    shown: list[ScoredPassage] = field(default_factory=list)

    def add(self, found: Sequence[ScoredPassage]) -> list[tuple[int, ScoredPassage]]:
        """Number what is new; return all of `found` with their numbers."""
        known = {item.passage.id: number for number, item in enumerate(self.shown, 1)}
        for item in found:
            if item.passage.id not in known:
                self.shown.append(item)
                known[item.passage.id] = len(self.shown)
        return [(known[item.passage.id], item) for item in found]

    def add_selection(self, text: str) -> int:
        """Show the reader's own selection; its score is 1, as the wire says."""
        passage = Passage(
            id=SELECTION_URL,
            url=SELECTION_URL,
            page_title="User Selection",
            text=text,
            chunk_index=0,
            char_start=0,
            char_end=len(text),
            heading_path=("Selected text",),
        )
        return self.add([ScoredPassage(passage, score=1.0, dense=1.0, bm25=0.0, fused=1.0)])[0][0]

    def numbered(self) -> list[tuple[int, ScoredPassage]]:
        return list(enumerate(self.shown, 1))

    def in_reading_order(self) -> list[tuple[int, ScoredPassage]]:
        """Sections in the order they were found, the passages of a section as they stand in the book."""
        sections: dict[tuple[str, tuple[str, ...]], list[tuple[int, ScoredPassage]]] = {}
        for number, item in self.numbered():
            sections.setdefault((item.passage.url, item.passage.heading_path), []).append((number, item))
        return [found for section in sections.values() for found in sorted(section, key=_place)]

    def citations(self, cited: Mapping[int, Ranges]) -> tuple[Citation, ...]:
        """The passages that the answer rests on, best first. A selection is cited once for each quoted place."""
        found: list[Citation] = []
        for number, ranges in cited.items():
            item = self.shown[number - 1]
            text = item.passage.text
            if item.passage.url == SELECTION_URL:
                found += [
                    Citation(number, item.passage, item.score, text[start:end], _span(text, start, end))
                    for start, end in sorted(set(ranges)) or [(0, len(text))]
                ]
            else:
                start = min((r[0] for r in ranges), default=0)
                end = max((r[1] for r in ranges), default=len(text))
                found.append(Citation(number, item.passage, item.score, text[start:end]))
        return tuple(sorted(found, key=lambda c: (-c.score, c.number, c.span.char_start if c.span else 0)))


def _place(found: tuple[int, ScoredPassage]) -> int:
    return found[1].passage.chunk_index


def _span(text: str, start: int, end: int) -> Span:
    return Span(start, end, text.count("\n", 0, start) + 1, text.count("\n", 0, max(start, end - 1)) + 1)
