"""Examples into rows of tokens: passages and the sentences that ask them, packed side by side.

Within a row a mask keeps examples apart. A passage begins at place `PASSAGE_FROM`, as behind a question; a sentence
begins at 0. The first token of a question is [CLS], of a claim [unused1]: the network is told what is asked of it.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Tokenizer
from torch import Tensor

from training.model import Look

QUESTION_MARK, CLAIM_MARK, END = 101, 2, 102
PASSAGE_FROM = 16
LONGEST_PASSAGE, LONGEST_SENTENCE = 320, 96
ROW = 640

SUPPORT = {"supported": 0, "contradicted": 1, "neutral": 2, "unsupported": 3}
"""`unsupported`: contradicted or not stated, which of the two is not known."""


class Claim(NamedTuple):
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
    together: bool = False
    """The passages are what a search shows to one question: which of them answers is told over all of them."""


def questions_alone(examples: Iterable[Example]) -> list[Example]:
    """Without the near copies of public passages."""
    return [replace(example, claims=()) for example in examples if example.questions]


def claims_alone(examples: Iterable[Example]) -> list[Example]:
    """What a judge learns from."""
    return [replace(example, questions=()) for example in examples if example.claims]


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
    choices: dict[tuple[int, str], list[int]] = field(default_factory=dict)
    """The places in `questions` of one question's views of the parts of a passage, or of all that a search shows."""
    shown: list[list[int]] = field(default_factory=list)
    """The places in `questions` of one question to all that a search shows."""
    hidden: list[tuple[int, int, int, int]] = field(default_factory=list)
    """Tokens of a sentence (from, to) that do not see these tokens (from, to)."""
    examples: list[tuple[list[tuple[int, int]], int, int]] = field(default_factory=list)
    """The spans of an example's passages, where its sentences begin, and where they end."""

    def add(self, ids: Sequence[int], *, place: int, kind: int, sees: tuple[int, ...]) -> tuple[int, int, int]:
        start, number = len(self.ids), len(self.sees)
        self.ids += ids
        self.places += range(place, place + len(ids))
        self.kinds += [kind] * len(ids)
        self.segment += [number] * len(ids)
        self.sees.append((*sees, number))
        return number, start, len(self.ids)


class Packer:
    def __init__(self, tokenizer: Tokenizer, passage_from: int = PASSAGE_FROM, *, marked: bool = False) -> None:
        """`marked`: every question ends with its mark, however it was typed."""
        tokenizer.no_truncation()
        tokenizer.no_padding()
        self._tokenizer = tokenizer
        self._passage_from = passage_from
        self._marked = marked
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
            placed.append((*row.add(ids, place=self._passage_from, kind=1, sees=()), offsets[:LONGEST_PASSAGE]))
        middle = len(row.ids)
        for claim in example.claims:
            ids = [CLAIM_MARK, *self.tokens(claim.text)[0][:LONGEST_SENTENCE], END]
            _, start, _ = row.add(ids, place=0, kind=0, sees=tuple(placed[i][0] for i in claim.sees))
            row.claims.append((start, SUPPORT[claim.label], claim.weight))
        wholes: dict[str, list[int]] = {}
        for asked in example.questions:
            number, first, last, offsets = placed[asked.passage]
            seen = [i for i, (a, b) in enumerate(offsets) if asked.view is None or asked.view[0] <= a < asked.view[1]]
            if not seen:
                continue  # behind the place where the passage was cut
            text = asked.text.rstrip(" ?!.…") + "?" if self._marked else asked.text
            ids = [QUESTION_MARK, *self.tokens(text)[0][:LONGEST_SENTENCE], END]
            _, start, end = row.add(ids, place=0, kind=0, sees=(number,))
            if asked.view is not None:
                row.hidden += [(start, end, first, first + seen[0]), (start, end, first + seen[-1] + 1, last)]
                beside = placed[0][0] if example.together else number
                row.choices.setdefault((beside, asked.text), []).append(len(row.questions))
            else:
                wholes.setdefault(asked.text, []).append(len(row.questions))
            row.questions.append((start, asked.answerable, asked.weight, asked.view is not None))
        if example.together:
            row.shown += wholes.values()
        row.examples.append(([(a, b) for _, a, b, _ in placed], middle, len(row.ids)))

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


def tensors(rows: Sequence[Row]) -> tuple[Tensor, Tensor, Tensor, list[Look]]:
    """ids, places and kinds of all tokens, row behind row, and who looks at what."""
    looks, offset = [], 0
    for row in rows:
        segment_of, sees = np.array(row.segment), row.sees
        for spans, middle, end in row.examples:
            looks += [Look(offset + a, offset + b, offset + a) for a, b in spans]
            if end == middle:
                continue
            first = spans[0][0]
            inside = segment_of[first:end]
            allowed = np.zeros((end - middle, len(sees)), bool)
            for i, segment in enumerate(segment_of[middle:end]):
                allowed[i, list(sees[segment])] = True
            mask = allowed[:, inside]
            for start, stop, a, b in row.hidden:
                if middle <= start < end:
                    mask[start - middle : stop - middle, a - first : b - first] = False
            looks.append(Look(offset + middle, offset + end, offset + first, torch.from_numpy(mask)))
        offset += len(row.ids)
    ids, places, kinds = (
        torch.tensor([t for row in rows for t in part(row)])
        for part in (lambda r: r.ids, lambda r: r.places, lambda r: r.kinds)
    )
    return ids, places, kinds, looks
