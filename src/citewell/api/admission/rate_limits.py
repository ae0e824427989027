"""The rate limiter: sliding windows per address, session and what else has a policy."""

import math
import time
from collections import OrderedDict, deque
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Literal

from citewell.api.admission.shared import RedisAway, SharedState
from citewell.api.http_errors import LimitReached

WINDOW = 60
MAX_KEYS = 50_000
Policy = Literal["address", "session", "book"]
_COUNTED: Mapping[Policy, str] = {"address": "address", "session": "session", "book": "address, of the book's pages"}


@dataclass(frozen=True, slots=True)
class RateLimitStatus:
    """Where a client stands with one limit after this request."""

    policy: Policy
    limit: int
    remaining: int
    reset: float
    """Seconds until the oldest request leaves the window."""
    admitted: bool = True

    def check(self) -> None:
        """Raises LimitReached."""
        if not self.admitted:
            raise LimitReached(
                f"Rate limit exceeded: {self.limit} requests a minute for each {_COUNTED[self.policy]}. "
                "Please try again later.",
                policy=self.policy,
                retry_after=self.reset,
            )


class LocalRateLimiter:
    """Exact moving windows in this process. Forgets the longest unused key when there are too many."""

    def __init__(self, *, clock: Callable[[], float] = time.monotonic, max_keys: int = MAX_KEYS) -> None:
        self._clock = clock
        self._max_keys = max_keys
        self._hits: OrderedDict[tuple[Policy, str], deque[float]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._hits)

    def admit(self, policy: Policy, key: str, limit: int) -> RateLimitStatus:
        now = self._clock()
        hits = self._hits.get((policy, key), deque())
        while hits and hits[0] <= now - WINDOW:
            hits.popleft()
        admitted = len(hits) < limit
        if admitted:
            hits.append(now)
            self._hits[policy, key] = hits
            self._hits.move_to_end((policy, key))
            while len(self._hits) > self._max_keys:
                self._hits.popitem(last=False)
        reset = hits[0] + WINDOW - now if hits else float(WINDOW)
        return RateLimitStatus(policy, limit, limit - len(hits), reset, admitted)


class RateLimiter:
    """The sliding windows: over all workers on Redis, else in this process."""

    def __init__(
        self,
        limits: Mapping[Policy, int],
        *,
        shared: SharedState | None = None,
        workers: int = 1,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Without Redis each of several workers admits its share."""
        self._limits = limits
        self._workers = workers
        self._local = LocalRateLimiter(clock=clock)
        self._shared = shared

    async def admit(self, policy: Policy, key: str) -> RateLimitStatus:
        """Count a request; one that is not admitted does not count."""
        limit = self._limits[policy]
        if self._shared is not None:
            with suppress(RedisAway):
                entered = await self._shared.enter(f"{policy}:{key}", most=limit, seconds=WINDOW)
                return RateLimitStatus(policy, limit, limit - entered.taken, entered.reset, entered.admitted)
        return self._local.admit(policy, key, max(1, limit // self._workers))


def rate_limit_headers(statuses: Sequence[RateLimitStatus]) -> dict[str, str]:
    if not statuses:
        return {}
    return {
        "ratelimit-policy": ", ".join(f'"{s.policy}";q={s.limit};w={WINDOW}' for s in statuses),
        "ratelimit": ", ".join(f'"{s.policy}";r={s.remaining};t={math.ceil(s.reset)}' for s in statuses),
    }
