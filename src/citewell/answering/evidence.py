"""Evidence, the context of an answer: passages and selections it may quote, numbered in the order shown. Pure.

These numbers are what a model cites and the gate checks; they are never given twice and never change within a run.
A reader sees the numbers of `sources.py` in their place.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from citewell.document import read_plain
from citewell.values import SELECTION_URL, Passage, ScoredPassage

Ranges = Sequence[tuple[int, int]]
Cited = Mapping[int, Ranges]
"""Numbers to the places that an answer rests on."""


@dataclass(slots=True)
class Evidence:
    shown: list[ScoredPassage] = field(default_factory=list)

    def add(self, found: Sequence[ScoredPassage]) -> list[tuple[int, ScoredPassage]]:
        """Number what is new; return all of `found` with their numbers."""
        return [(self.number(item), item) for item in found]

    def number(self, item: ScoredPassage) -> int:
        for number, known in enumerate(self.shown, 1):
            if known.passage.id == item.passage.id:
                return number
        self.shown.append(item)
        return len(self.shown)

    def add_selection(self, text: str) -> ScoredPassage:
        """Show the reader's own selection; its score is 1, as the wire says."""
        passage = Passage(
            id=SELECTION_URL,
            url=SELECTION_URL,
            page_title="User Selection",
            text=text,
            chunk_index=0,
            char_start=0,
            char_end=len(text),
            blocks=read_plain(text),
            heading_path=("Selected text",),
        )
        item = ScoredPassage(passage, score=1.0, dense=1.0, bm25=0.0, fused=1.0)
        self.number(item)
        return item

    def numbered(self) -> list[tuple[int, ScoredPassage]]:
        return list(enumerate(self.shown, 1))

    @property
    def of_book(self) -> list[tuple[int, ScoredPassage]]:
        return [(number, item) for number, item in self.numbered() if item.passage.url != SELECTION_URL]
