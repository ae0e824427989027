import pytest

from citewell.answering.budget import Allowance, LocalCounts, ModelBudget
from citewell.errors import ModelError


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def test_calls_are_counted_for_each_key_and_in_all() -> None:
    clock = Clock()
    allowances = Allowance(calls_per_minute=3), Allowance(calls_per_minute=2)
    budget = ModelBudget(*allowances, counts=LocalCounts(clock=clock))
    await budget.call("a")
    await budget.call("a")
    with pytest.raises(ModelError, match=r"your minute is spent; ask again in 60 s"):
        await budget.call("a")
    await budget.call("b")
    with pytest.raises(ModelError, match=r"the server's minute"):
        await budget.call("b")
    clock.now = 60.0
    await budget.call("a")


async def test_tokens_of_a_day_are_spent_by_the_reply_that_goes_beyond_them() -> None:
    clock = Clock()
    budget = ModelBudget(Allowance(tokens_per_day=100), counts=LocalCounts(clock=clock))
    await budget.call("a")
    await budget.tokens("a", 150)
    clock.now = 3600.0
    with pytest.raises(ModelError, match="day is spent"):
        await budget.call("a")
    clock.now = 86_400.0
    await budget.call("a")


async def test_one_of_several_workers_takes_its_share() -> None:
    budget = ModelBudget(Allowance(calls_per_day=4), counts=LocalCounts(workers=2))
    await budget.call("a")
    await budget.call("a")
    with pytest.raises(ModelError, match="day is spent"):
        await budget.call("a")


async def test_what_is_spent_is_told_and_without_limits_nothing_is_refused() -> None:
    told: list[tuple[str, int, int]] = []
    budget = ModelBudget()
    budget.told = lambda *spent: told.append(spent)
    for _ in range(50):
        await budget.call("a")
    await budget.tokens("a", 10**9)
    await budget.call("b")
    assert (sum(calls for _, calls, _ in told), sum(tokens for _, _, tokens in told)) == (51, 10**9)
    assert told[-1] == ("b", 1, 0)
