"""The judge that ships, over a model that says what the test says: where the outcomes part."""

from collections.abc import Mapping, Sequence

import pytest

from citewell.inference import Support
from citewell.judge import Lines, TrainedJudge


class ToldModel:
    """Says of each claim what the test says."""

    name = "told"

    def __init__(self, told: Mapping[str, Support]) -> None:
        self._told = told

    async def warm(self) -> None: ...

    def begin(self, texts: Sequence[str]) -> None: ...

    async def encode(self, texts: Sequence[str]) -> list[str]:
        return list(texts)

    async def support_all(self, pairs: Sequence[tuple[str, Sequence[str]]]) -> list[Support]:
        return [self._told[claim] for claim, _ in pairs]


@pytest.mark.parametrize(
    ("support", "outcome"),
    [
        (Support(0.7, 0.2, 0.1), "supported"),
        (Support(0.6, 0.35, 0.05), "not_stated"),  # likelier so than not: it is not said to be contradicted
        (Support(0.2, 0.7, 0.1), "contradicted"),
        (Support(0.2, 0.1, 0.7), "not_stated"),
    ],
)
async def test_the_outcome_follows_the_line_and_what_is_likeliest(support: Support, outcome: str) -> None:
    judge = TrainedJudge(ToldModel({"One.": support}), Lines(supported=0.65, conflict=0.9))
    [verdict] = await judge.judge([("One.", ("P",))])
    assert (verdict.outcome, verdict.score) == (outcome, support.supported)
