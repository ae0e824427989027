"""Two runs of one evaluation, question by question: what got better, what got worse, and whether it is chance."""

from dataclasses import dataclass

from citewell.errors import InvalidInputError
from citewell_evaluation import Evaluation, Figure
from citewell_evaluation.statistics import bootstrap_mean

_EQUAL = 1e-6
"""Scores are written with six digits."""


@dataclass(frozen=True, slots=True)
class Change:
    id: str
    question: str
    before: float
    after: float

    @property
    def difference(self) -> float:
        return self.after - self.before


@dataclass(frozen=True, slots=True)
class Comparison:
    main: str
    difference: Figure
    """Mean of after minus before over the items that both runs have, with its 95 % interval."""
    better: tuple[Change, ...]
    worse: tuple[Change, ...]
    same: int
    only_before: tuple[str, ...]
    only_after: tuple[str, ...]

    @property
    def verdict(self) -> str:
        low, high = self.difference.low, self.difference.high
        if low is not None and low > 0:
            return "better"
        if high is not None and high < 0:
            return "worse"
        return "no difference beyond chance"


def compare(before: Evaluation, after: Evaluation) -> Comparison:
    """Raises InvalidInputError when the runs are not of the same kind and score."""
    if (before.kind, before.main) != (after.kind, after.main):
        raise InvalidInputError(
            f"The earlier run is `{before.kind}` by {before.main}, this one `{after.kind}` by {after.main}: "
            "they cannot be compared.",
            field="against",
        )
    old = {item.id: item.scores[before.main] for item in before.items if before.main in item.scores}
    scored = [item for item in after.items if after.main in item.scores]
    changes = [
        Change(item.id, item.question, old[item.id], item.scores[after.main]) for item in scored if item.id in old
    ]
    new = {item.id for item in scored}
    return Comparison(
        main=after.main,
        difference=bootstrap_mean([change.difference for change in changes]),
        better=tuple(sorted((c for c in changes if c.difference > _EQUAL), key=lambda c: (-c.difference, c.id))),
        worse=tuple(sorted((c for c in changes if c.difference < -_EQUAL), key=lambda c: (c.difference, c.id))),
        same=sum(abs(c.difference) <= _EQUAL for c in changes),
        only_before=tuple(sorted(old.keys() - new)),
        only_after=tuple(sorted(new - old.keys())),
    )
