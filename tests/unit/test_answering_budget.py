import pytest

from citewell.answering.budget import Allowance, ModelBudget
from citewell.errors import ModelError


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_calls_are_counted_for_each_key_and_in_all() -> None:
    clock = Clock()
    budget = ModelBudget(Allowance(calls_per_minute=3), Allowance(calls_per_minute=2), clock=clock)
    budget.call("a")
    budget.call("a")
    with pytest.raises(ModelError, match=r"your minute is spent; ask again in 60 s"):
        budget.call("a")
    budget.call("b")
    with pytest.raises(ModelError, match=r"the server's minute"):
        budget.call("b")
    clock.now = 60.0
    budget.call("a")


def test_tokens_of_a_day_are_spent_by_the_reply_that_goes_beyond_them() -> None:
    clock = Clock()
    budget = ModelBudget(Allowance(tokens_per_day=100), clock=clock)
    budget.call("a")
    budget.tokens("a", 150)
    clock.now = 3600.0
    with pytest.raises(ModelError, match="day is spent"):
        budget.call("a")
    clock.now = 86_400.0
    budget.call("a")


def test_what_is_spent_is_told_and_without_limits_nothing_is_refused() -> None:
    told: list[tuple[int, int]] = []
    budget = ModelBudget()
    budget.told = lambda calls, tokens: told.append((calls, tokens))
    for _ in range(50):
        budget.call("")
    budget.tokens("", 10**9)
    budget.call("")
    assert (sum(calls for calls, _ in told), sum(tokens for _, tokens in told)) == (51, 10**9)
