"""The circuit breaker: a model service that failed several times in a row is left alone for a while."""

import time
from collections.abc import Callable

from citewell.errors import ModelError

FAILURES = 5
REST_SECONDS = 20.0


class Breaker:
    def __init__(
        self,
        *,
        failures: int = FAILURES,
        rest: float = REST_SECONDS,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = failures
        self._rest = rest
        self._clock = clock
        self._failures = 0
        self._rests_until = 0.0

    def check(self) -> None:
        """Raises ModelError while the service is left alone; afterwards one question at a time tries it again."""
        if self._failures < self._most:
            return
        left = self._rests_until - self._clock()
        if left > 0:
            raise ModelError(f"The model service failed {self._failures} times; it is asked again in {left:.0f} s.")
        self._rests_until = self._clock() + self._rest

    def failed(self) -> None:
        self._failures += 1
        self._rests_until = self._clock() + self._rest

    def worked(self) -> None:
        self._failures = 0
