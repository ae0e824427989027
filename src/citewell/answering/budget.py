"""The model budget: calls and tokens a minute and a day, for each key and in all."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from citewell.errors import ModelError

MINUTE, DAY = 60.0, 86_400.0
_MOST_KEYS = 10_000


@dataclass(frozen=True, slots=True)
class Allowance:
    """None: as many as one likes."""

    calls_per_minute: int | None = None
    calls_per_day: int | None = None
    tokens_per_minute: int | None = None
    tokens_per_day: int | None = None

    def of(self, seconds: float) -> tuple[int | None, int | None]:
        if seconds == MINUTE:
            return self.calls_per_minute, self.tokens_per_minute
        return self.calls_per_day, self.tokens_per_day


@dataclass(frozen=True, slots=True)
class Spending:
    """What is added to one count of a window that begins when it is first added to."""

    name: str
    seconds: float
    amount: int
    most: int | None
    """Nothing is added to any count when this one has reached it."""


class Counts(Protocol):
    """Counts of this process, or of all workers."""

    async def spend(self, spendings: Sequence[Spending]) -> tuple[Spending, float] | None:
        """Add all of them; or the first whose count is reached, and the seconds until its window ends."""
        ...


class LocalCounts:
    """Of this process, which is one of `workers` and takes its share."""

    def __init__(self, workers: int = 1, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._workers = workers
        self._clock = clock
        self._spent: dict[str, tuple[int, float]] = {}
        """Amounts, and when their windows end."""

    async def spend(self, spendings: Sequence[Spending]) -> tuple[Spending, float] | None:
        now = self._clock()
        for spending in spendings:
            amount, until = self._window(spending, now)
            if spending.most is not None and amount >= -(-spending.most // self._workers):
                return spending, until - now
        for spending in spendings:
            amount, until = self._window(spending, now)
            self._spent[spending.name] = amount + spending.amount, until
        if len(self._spent) > _MOST_KEYS:
            self._spent = {name: spent for name, spent in self._spent.items() if spent[1] > now}
        return None

    def _window(self, spending: Spending, now: float) -> tuple[int, float]:
        amount, until = self._spent.get(spending.name, (0, 0.0))
        return (amount, until) if until > now else (0, now + spending.seconds)


class ModelBudget:
    """Tokens are known when a reply is over: the call that goes beyond the budget is the last one."""

    def __init__(
        self, in_all: Allowance | None = None, by_key: Allowance | None = None, *, counts: Counts | None = None
    ) -> None:
        self.in_all = in_all or Allowance()
        self.by_key = by_key or Allowance()
        self.counts = counts or LocalCounts()
        self.told: Callable[[str, int, int], None] = lambda _owner, _calls, _tokens: None
        """Called with each call and its tokens, and whose it was."""
        self.refused: Callable[[], None] = lambda: None
        """Called when the budget is spent."""

    async def call(self, owner: str) -> None:
        """Count a call. Raises ModelError when the budget is spent."""
        spent = await self.counts.spend(self._spendings(owner, calls=1, tokens=0))
        if spent is not None:
            spending, left = spent
            self.refused()
            span = "minute" if spending.seconds == MINUTE else "day"
            whose = "the server's" if spending.name.startswith("all:") else "your"
            raise ModelError(f"What the model may cost in {whose} {span} is spent; ask again in {left:.0f} s.")
        self.told(owner, 1, 0)

    async def tokens(self, owner: str, count: int) -> None:
        made = self._spendings(owner, calls=0, tokens=count)
        await self.counts.spend([Spending(s.name, s.seconds, s.amount, None) for s in made])
        self.told(owner, 0, count)

    def _spendings(self, owner: str, *, calls: int, tokens: int) -> list[Spending]:
        return [
            Spending(f"{who}:{what}:{seconds:g}", seconds, amount, most)
            for who, allowance in (("all", self.in_all), (f"key:{owner}", self.by_key))
            for seconds in (MINUTE, DAY)
            for what, amount, most in zip(("calls", "tokens"), (calls, tokens), allowance.of(seconds), strict=True)
        ]
