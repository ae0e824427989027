"""The rate limiter: sliding windows per address and session. Owner of `limits` and `redis`.

Windows are kept in this process, or on Redis for several. A Redis that does not answer costs one short wait; then this
process counts alone until Redis is back.
"""

import asyncio
import contextlib
import math
import time
from collections import OrderedDict, deque
from collections.abc import AsyncGenerator, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, Self

from citewell.api.http_errors import LimitReached
from citewell.logs import log
from citewell.models import ServiceStatus

if TYPE_CHECKING:
    from limits import RateLimitItemPerMinute
    from limits.aio.strategies import MovingWindowRateLimiter
    from redis.asyncio import Redis

WINDOW = 60
MAX_KEYS = 50_000
Policy = Literal["address", "session"]


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
                f"Rate limit exceeded: {self.limit} requests a minute for each {self.policy}. Please try again later.",
                policy=self.policy,
                retry_after=self.reset,
            )


class LocalRateLimiter:
    """Exact moving windows in this process. Forgets the longest unused key when there are too many."""

    def __init__(self, *, clock: Callable[[], float] = time.time, max_keys: int = MAX_KEYS) -> None:
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
    """The sliding windows. Open it with `async with`: it watches for Redis to come back."""

    def __init__(
        self,
        limits: dict[Policy, int],
        *,
        redis_url: str | None = None,
        redis_wait: float = 0.25,
        clock: Callable[[], float] = time.time,
        look_again: float = 1.0,
    ) -> None:
        self._limits = limits
        self._clock = clock
        self._local = LocalRateLimiter(clock=clock)
        self._redis_url = redis_url
        self._redis_wait = redis_wait
        self._look_again = look_again
        self._shared: MovingWindowRateLimiter | None = None
        self._items: dict[Policy, RateLimitItemPerMinute] = {}
        self._errors: tuple[type[Exception], ...] = ()
        self._client: Redis | None = None
        self._away = asyncio.Event()

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncGenerator[Self]:
        if self._redis_url is None:
            yield self
            return
        # Loading these takes a while, and most do without Redis.
        from limits import RateLimitItemPerMinute
        from limits.aio.storage import RedisStorage
        from limits.aio.strategies import MovingWindowRateLimiter
        from redis.asyncio import BlockingConnectionPool, Redis
        from redis.exceptions import RedisError

        pool = BlockingConnectionPool.from_url(
            self._redis_url,
            max_connections=32,
            timeout=self._redis_wait,
            socket_timeout=self._redis_wait,
            socket_connect_timeout=self._redis_wait,
        )
        storage = RedisStorage(
            self._redis_url,
            implementation="redispy",
            key_prefix="citewell",
            connection_pool=pool,  # type: ignore[arg-type] # documented by limits, not in its annotation
        )
        self._shared = MovingWindowRateLimiter(storage)
        self._items = {policy: RateLimitItemPerMinute(amount) for policy, amount in self._limits.items()}
        self._client = Redis(connection_pool=pool)
        self._errors = (RedisError, OSError, TimeoutError)
        async with asyncio.TaskGroup() as group:
            watching = group.create_task(self._watch())
            try:
                yield self
            finally:
                watching.cancel()
        with contextlib.suppress(*self._errors):
            await pool.disconnect()

    async def admit(self, policy: Policy, key: str) -> RateLimitStatus:
        """Count a request; one that is not admitted does not count."""
        if self._shared is not None and not self._away.is_set():
            try:
                async with asyncio.timeout(self._redis_wait):
                    return await self._admit_shared(self._shared, policy, key)
            except self._errors as error:
                log(
                    "limits",
                    "Redis does not answer; this process counts alone",
                    level="warning",
                    error=type(error).__name__,
                )
                self._away.set()
        return self._local.admit(policy, key, self._limits[policy])

    async def _admit_shared(self, windows: "MovingWindowRateLimiter", policy: Policy, key: str) -> RateLimitStatus:
        item = self._items[policy]
        admitted = await windows.hit(item, policy, key)
        stats = await windows.get_window_stats(item, policy, key)
        reset = max(0.0, stats.reset_time - self._clock())
        return RateLimitStatus(policy, item.amount, max(0, stats.remaining), reset, admitted)

    async def _watch(self) -> None:
        while True:
            await self._away.wait()
            await asyncio.sleep(self._look_again)
            if await self._ping():
                log("limits", "Redis answers again")
                self._away.clear()

    async def _ping(self) -> bool:
        try:
            # Not the storage's own check: it swallows a cancellation.
            async with asyncio.timeout(self._redis_wait):
                return self._client is not None and bool(await self._client.ping())
        except self._errors:
            return False

    async def status(self) -> ServiceStatus | None:
        """For the health reply; None when Redis is not configured."""
        if self._shared is None:
            return None
        begun = time.perf_counter()
        if not self._away.is_set() and await self._ping():
            return ServiceStatus("up", round((time.perf_counter() - begun) * 1000, 2), "Redis")
        self._away.set()
        return ServiceStatus("degraded", None, "Redis does not answer; each process counts alone")


def rate_limit_headers(statuses: Sequence[RateLimitStatus]) -> dict[str, str]:
    if not statuses:
        return {}
    return {
        "ratelimit-policy": ", ".join(f'"{s.policy}";q={s.limit};w={WINDOW}' for s in statuses),
        "ratelimit": ", ".join(f'"{s.policy}";r={s.remaining};t={math.ceil(s.reset)}' for s in statuses),
    }
