"""Examples into rows of tokens: passages and the sentences that ask them, packed side by side.

Within a row a mask keeps examples apart. A passage begins at place `PASSAGE_FROM`, as behind a question; a sentence
begins at 0. The first token of a question is [CLS], of a claim [unused1]: the network is told what is asked of it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

QUESTION_MARK, CLAIM_MARK, END = 101, 2, 102
PASSAGE_FROM = 16
LONGEST_PASSAGE, LONGEST_SENTENCE = 320, 96
ROW = 640

SUPPORT = {"supported": 0, "contradicted": 1, "neutral": 2, "unsupported": 3}
"""`unsupported`: contradicted or not stated, which of the two is not known."""


@dataclass(frozen=True, slots=True)
class Claim:
    text: str
    label: str
    sees: tuple[int, ...]
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A question to one passage, or to the part of it at `view`; the rest of the passage is then hidden."""

    text: str
    answerable: bool
    passage: int
    view: tuple[int, int] | None = None
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Example:
    passages: tuple[str, ...]
    claims: tuple[Claim, ...] = ()
    questions: tuple[Asked, ...] = ()


@dataclass(slots=True)
class Row:
    ids: list[int] = field(default_factory=list)
    places: list[int] = field(default_factory=list)
    kinds: list[int] = field(default_factory=list)
    segment: list[int] = field(default_factory=list)
    sees: list[tuple[int, ...]] = field(default_factory=list)
    """For each segment: the segments that it may look at, itself included."""
    claims: list[tuple[int, int, float]] = field(default_factory=list)
    """First token, label, weight."""
    questions: list[tuple[int, bool, float, bool]] = field(default_factory=list)
    """First token, answerable, weight, whether it sees only a part."""
    hidden: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Tokens of a sentence (from, to) that do not see these tokens (from, to)."""

    def add(self, ids: Sequence[int], *, place: int, kind: int, sees: tuple[int, ...]) -> tuple[int, int, int]:
        start, number = len(self.ids), len(self.sees)
        self.ids += ids
        self.places += range(place, place + len(ids))
        self.kinds += [kind] * len(ids)
        self.segment += [number] * len(ids)
        self.sees.append((*sees, number))
        return number, start, len(self.ids)


class Packer:
    def __init__(self, tokenizer: Tokenizer) -> None:
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._known: dict[str, tuple[list[int], list[tuple[int, int]]]] = {}

    def tokens(self, text: str) -> tuple[list[int], list[tuple[int, int]]]:
        found = self._known.get(text)
        if found is None:
            encoded = self._tokenizer.encode(text, add_special_tokens=False)
            found = self._known[text] = (encoded.ids, encoded.offsets)
        return found

    def length(self, example: Example) -> int:
        passages = sum(min(len(self.tokens(p)[0]), LONGEST_PASSAGE) + 1 for p in example.passages)
        sentences = sum(
            min(len(self.tokens(s.text)[0]), LONGEST_SENTENCE) + 2 for s in (*example.claims, *example.questions)
        )
        return passages + sentences

    def add(self, row: Row, example: Example) -> None:
        placed = []
        for text in example.passages:
            ids, offsets = self.tokens(text)
            ids = [*ids[:LONGEST_PASSAGE], END]
            placed.append((*row.add(ids, place=PASSAGE_FROM, kind=1, sees=()), offsets[:LONGEST_PASSAGE]))
        for claim in example.claims:
            ids = [CLAIM_MARK, *self.tokens(claim.text)[0][:LONGEST_SENTENCE], END]
            _, start, _ = row.add(ids, place=0, kind=0, sees=tuple(placed[i][0] for i in claim.sees))
            row.claims.append((start, SUPPORT[claim.label], claim.weight))
        for asked in example.questions:
            number, first, last, offsets = placed[asked.passage]
            seen = [i for i, (a, b) in enumerate(offsets) if asked.view is None or asked.view[0] <= a < asked.view[1]]
            if not seen:
                continue  # behind the place where the passage was cut
            ids = [QUESTION_MARK, *self.tokens(asked.text)[0][:LONGEST_SENTENCE], END]
            _, start, end = row.add(ids, place=0, kind=0, sees=(number,))
            if asked.view is not None:
                row.hidden += [(start, end, first, first + seen[0]), (start, end, first + seen[-1] + 1, last)]
            row.questions.append((start, asked.answerable, asked.weight, asked.view is not None))

    def rows(self, examples: Iterable[Example]) -> Iterator[Row]:
        """Fill rows in the order given."""
        row = Row()
        for example in examples:
            if row.ids and len(row.ids) + self.length(example) > ROW:
                yield row
                row = Row()
            self.add(row, example)
        if row.ids:
            yield row


def tensors(rows: Sequence[Row]) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """ids, places, kinds and the mask [rows, tokens, tokens]. Padding looks at itself."""
    longest = max(len(r.ids) for r in rows)
    ids, places, kinds = (np.zeros((len(rows), longest), np.int64) for _ in range(3))
    mask = np.zeros((len(rows), longest, longest), bool)
    for i, row in enumerate(rows):
        size = len(row.ids)
        ids[i, :size], places[i, :size], kinds[i, :size] = row.ids, row.places, row.kinds
        allowed = np.zeros((len(row.sees), len(row.sees)), bool)
        for segment, seen in enumerate(row.sees):
            allowed[segment, list(seen)] = True
        segment_of = np.array(row.segment)
        mask[i, :size, :size] = allowed[segment_of][:, segment_of]
        for start, end, first, last in row.hidden:
            mask[i, start:end, first:last] = False
        mask[i, range(size, longest), range(size, longest)] = True
    return torch.from_numpy(ids), torch.from_numpy(places), torch.from_numpy(kinds), torch.from_numpy(mask)
