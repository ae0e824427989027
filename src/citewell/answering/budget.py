"""The model budget: calls and tokens a minute and a day, for each key and in all, counted in this process."""

import time
from collections.abc import Callable
from dataclasses import dataclass

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


@dataclass(slots=True)
class _Spent:
    until: float
    calls: int = 0
    tokens: int = 0


class ModelBudget:
    """Tokens are known when a reply is over: the call that goes beyond the budget is the last one."""

    def __init__(
        self,
        in_all: Allowance | None = None,
        by_key: Allowance | None = None,
        *,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._in_all = in_all or Allowance()
        self._by_key = by_key or Allowance()
        self._clock = clock
        self._spent: dict[tuple[str | None, float], _Spent] = {}
        self.told: Callable[[int, int], None] = lambda _calls, _tokens: None
        """Called with each call and its tokens."""

    def call(self, owner: str) -> None:
        """Count a call. Raises ModelError when the budget is spent."""
        windows = [(who, seconds) for who in (None, owner) for seconds in (MINUTE, DAY)]
        for who, seconds in windows:
            spent = self._window(who, seconds)
            calls, tokens = (self._in_all if who is None else self._by_key).of(seconds)
            if (calls is not None and spent.calls >= calls) or (tokens is not None and spent.tokens >= tokens):
                span = "minute" if seconds == MINUTE else "day"
                whose = "the server's" if who is None else "your"
                left = max(0.0, spent.until - self._clock())
                raise ModelError(f"What the model may cost in {whose} {span} is spent; ask again in {left:.0f} s.")
        for who, seconds in windows:
            self._window(who, seconds).calls += 1
        self.told(1, 0)

    def tokens(self, owner: str, count: int) -> None:
        for who in (None, owner):
            for seconds in (MINUTE, DAY):
                self._window(who, seconds).tokens += count
        self.told(0, count)

    def _window(self, who: str | None, seconds: float) -> _Spent:
        now = self._clock()
        spent = self._spent.get((who, seconds))
        if spent is None or spent.until <= now:
            if len(self._spent) > _MOST_KEYS:
                self._spent = {key: spent for key, spent in self._spent.items() if spent.until > now}
            spent = self._spent[who, seconds] = _Spent(now + seconds)
        return spent
