"""What a model has read is kept on disk and not read again."""

from collections.abc import Sequence
from pathlib import Path

from citewell.inference import Asked
from citewell_evaluation.kept import KeptReadings


class Counting:
    name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def warm(self) -> None:
        return None

    async def read(
        self, question: str, texts: Sequence[str], units: Sequence[Sequence[tuple[int, int]]] = ()
    ) -> list[Asked]:
        self.asked += texts
        return [
            Asked(float(len(text)), tuple(float(end) for _, end in places))
            for text, places in zip(texts, units, strict=True)
        ]


async def test_only_what_is_new_is_asked_and_the_scores_are_the_same(tmp_path: Path) -> None:
    model = Counting()
    units = [[(0, 3)], []]
    first = await KeptReadings(model, tmp_path).read("Why?", ["one", "two2"], units)
    again = await KeptReadings(model, tmp_path).read("Why?", ["two2", "three", "one"], [[], [], [(0, 3)]])
    assert model.asked == ["one", "two2", "three"]
    assert again == [first[1], Asked(5.0), first[0]]


async def test_another_question_or_other_units_are_another_reading(tmp_path: Path) -> None:
    model = Counting()
    kept = KeptReadings(model, tmp_path)
    await kept.read("Why?", ["one"])
    await kept.read("How?", ["one"])
    await kept.read("Why?", ["one"], [[(0, 3)]])
    assert len(model.asked) == 3
