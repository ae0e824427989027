"""The two models as one: the mean of what they say of a question or a claim. They err in different places."""

import asyncio
from collections.abc import Sequence
from typing import Final

from citewell.inference.larger_model import LargerModel
from citewell.inference.reading_model import ReadingModel
from citewell.inference.shipped_model import Asked, Encoded, Place
from citewell.inference.support import Support

JUDGING: Final = 0.5
"""The larger model's share of a verdict. On pages held out anything from a third to two thirds is as good."""
READING: Final = 0.6
"""Of whether a passage answers."""
PARTS: Final = 0.5
"""Of which of its parts do."""
LIKELIEST: Final = 3
"""Parts of a passage that the larger model is asked about: those that the smaller one finds likeliest."""
Both = tuple[Encoded, Encoded]


class MeanModel:
    def __init__(self, smaller: ReadingModel, larger: LargerModel) -> None:
        self._smaller, self._larger = smaller, larger
        self.name = f"{smaller.name}+{larger.name}-{JUDGING:g}-{READING:g}-{PARTS:g}-{LIKELIEST}"

    @property
    def sha256(self) -> str:
        """Of the larger model's weights."""
        return self._larger.sha256

    async def warm(self) -> None:
        await asyncio.gather(self._smaller.warm(), self._larger.warm())

    def begin(self, texts: Sequence[str]) -> None:
        self._smaller.begin(texts)
        self._larger.begin(texts)

    async def encode(self, texts: Sequence[str]) -> list[Both]:
        one, other = await asyncio.gather(self._smaller.encode(texts), self._larger.encode(texts))
        return list(zip(one, other, strict=True))

    async def support_all(self, pairs: Sequence[tuple[str, Sequence[Both]]]) -> list[Support]:
        one, other = await asyncio.gather(
            self._smaller.support_all([(claim, [read[0] for read in seen]) for claim, seen in pairs]),
            self._larger.support_all([(claim, [read[1] for read in seen]) for claim, seen in pairs]),
        )
        return [a.mean(b, JUDGING) for a, b in zip(one, other, strict=True)]

    async def read(self, question: str, texts: Sequence[str], units: Sequence[Sequence[Place]] = ()) -> list[Asked]:
        asked = list(units) or [()] * len(texts)
        read = await self.encode(texts)
        first = await self._smaller.ask_all(question, [one for one, _ in read], asked)
        likeliest = [_likeliest(told.units) for told in first]
        again = [[places[n] for n in numbers] for places, numbers in zip(asked, likeliest, strict=True)]
        second = await self._larger.ask_all(question, [other for _, other in read], again)
        return [_mean(*each) for each in zip(first, likeliest, second, strict=True)]


def _likeliest(scores: Sequence[float]) -> list[int]:
    return sorted(range(len(scores)), key=lambda number: -scores[number])[:LIKELIEST]


def _mean(one: Asked, numbers: Sequence[int], other: Asked) -> Asked:
    units = list(one.units)
    for number, score in zip(numbers, other.units, strict=True):
        units[number] += PARTS * (score - units[number])
    return Asked(one.answers + READING * (other.answers - one.answers), tuple(units))
