"""Two entailment models as one: the mean of what they say of a claim. They err in different places."""

import asyncio
from collections.abc import Sequence
from typing import Final, Generic, TypeVar

from citewell.inference import Support
from citewell.judge.trained import SupportModel

One = TypeVar("One")
Other = TypeVar("Other")
SHARE: Final = 0.4
"""Of the second. On pages held out anything from a third to two thirds is as good."""


class MeanModel(Generic[One, Other]):
    def __init__(self, one: SupportModel[One], other: SupportModel[Other]) -> None:
        self._one, self._other = one, other
        self.name = f"{one.name}+{SHARE:g}*{other.name}"

    async def warm(self) -> None:
        await asyncio.gather(self._one.warm(), self._other.warm())

    def begin(self, texts: Sequence[str]) -> None:
        self._one.begin(texts)
        self._other.begin(texts)

    async def encode(self, texts: Sequence[str]) -> list[tuple[One, Other]]:
        one, other = await asyncio.gather(self._one.encode(texts), self._other.encode(texts))
        return list(zip(one, other, strict=True))

    async def support_all(self, pairs: Sequence[tuple[str, Sequence[tuple[One, Other]]]]) -> list[Support]:
        one, other = await asyncio.gather(
            self._one.support_all([(claim, [read[0] for read in seen]) for claim, seen in pairs]),
            self._other.support_all([(claim, [read[1] for read in seen]) for claim, seen in pairs]),
        )
        return [a.mean(b, SHARE) for a, b in zip(one, other, strict=True)]
