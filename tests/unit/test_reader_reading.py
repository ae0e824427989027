"""The trained reader over a model that follows a script: which passages are read, and which of their parts."""

import asyncio
from collections.abc import Sequence
from itertools import groupby

import pytest

from citewell.document import read_plain
from citewell.inference import Asked
from citewell.reader import TrainedReader
from citewell.values import Passage, ScoredPassage


class Scripted:
    """A passage answers with the logit that its text names; its units do as well."""

    name = "scripted"

    def __init__(self) -> None:
        self.asked: set[str] = set()

    async def warm(self) -> None:
        pass

    async def read(
        self, question: str, texts: Sequence[str], units: Sequence[Sequence[tuple[int, int]]] = ()
    ) -> list[Asked]:
        self.asked |= set(texts)
        logits = [float(text.rsplit(" ", 1)[1].rstrip(".")) for text in texts]
        return [Asked(logit, (logit,) * len(of)) for logit, of in zip(logits, units or [()] * len(texts), strict=True)]


def found(*logits: float, language: str = "en") -> list[ScoredPassage]:
    texts = [f"What is said here counts {logit}." for logit in logits]
    passages = [
        Passage(str(n), "/p", "", text, n, 0, len(text), blocks=read_plain(text), language=language)
        for n, text in enumerate(texts)
    ]
    return [ScoredPassage(passage, 0.5, 0.5, 0.0, 0.5) for passage in passages]


async def read(items: list[ScoredPassage]) -> tuple[list[str], int]:
    model = Scripted()
    readings = await TrainedReader(model).read("What is said?", items)
    return [reading.passage.id for reading in readings], len(model.asked)


@pytest.mark.parametrize(
    ("logits", "ids"),
    [
        ((4.0, -3.0, 5.0, 5.0, 5.0), ["0", "1"]),
        ((-3.0, 1.0, 5.0), ["0", "1"]),
        ((0.5, -3.0, 5.0, -4.0, 0.0), ["0", "1", "2", "3", "4"]),
        ((-3.0,), ["0"]),
        ((), []),
    ],
)
async def test_what_stands_behind_a_sure_answer_is_not_read(logits: tuple[float, ...], ids: list[str]) -> None:
    assert await read(found(*logits)) == (ids, len(ids))


async def test_another_language_is_left_to_the_search() -> None:
    assert await read(found(4.0, 4.0, 4.0, language="ur")) == (["0", "1", "2"], 0)


async def test_questions_are_read_in_the_order_they_came_and_not_all_at_once() -> None:
    told: list[str] = []

    class Slow(Scripted):
        async def read(
            self, question: str, texts: Sequence[str], units: Sequence[Sequence[tuple[int, int]]] = ()
        ) -> list[Asked]:
            await asyncio.sleep(0)
            told.append(question)
            return await super().read(question, texts, units)

    reader = TrainedReader(Slow(), turns=1)
    await asyncio.gather(*(reader.read(question, found(4.0, 3.0)) for question in ("one", "two", "three")))
    assert [question for question, _ in groupby(word.strip("?") for word in told)] == ["one", "two", "three"]


async def test_a_reader_who_leaves_gives_the_turn_to_the_next() -> None:
    reader = TrainedReader(Scripted(), turns=1)
    asked = [asyncio.create_task(reader.read("What is said?", found(4.0))) for _ in range(3)]
    asked[1].cancel()
    assert len(await asyncio.gather(*asked, return_exceptions=True)) == 3
    assert len(await reader.read("What is said?", found(4.0))) == 1


async def test_parts_are_asked_only_near_the_best() -> None:
    readings = await TrainedReader(Scripted()).read("What is said?", found(0.9, -5.0, 0.5))
    assert [reading.best > 0.0 for reading in readings] == [True, False, True]
