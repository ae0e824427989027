"""Shared state of all workers, on Redis: rate limits, concurrency, idempotency. Owner of `redis`.

A Redis that does not answer costs one short wait; then RedisAway is raised at once until a watcher finds it back.
"""

import asyncio
import contextlib
import time
import uuid
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self, TypeVar

from citewell.answering.budget import Counts, Spending
from citewell.errors import MissingExtraError
from citewell.logs import log
from citewell.values import ServiceStatus

if TYPE_CHECKING:
    from redis.asyncio import Redis

T = TypeVar("T")
_PREFIX = "citewell:"
# By the clock of Redis, so that workers need not agree on the time: a window of hits, or of slots that are given back.
_ENTER = """
local time = redis.call('TIME')
local now = time[1] * 1000 + math.floor(time[2] / 1000)
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[1])
local taken = redis.call('ZCARD', KEYS[1])
local admitted = 0
if taken < tonumber(ARGV[2]) then
  redis.call('ZADD', KEYS[1], now, ARGV[3])
  redis.call('PEXPIRE', KEYS[1], ARGV[1])
  taken, admitted = taken + 1, 1
end
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')[2]
return {admitted, taken, oldest and (oldest + ARGV[1] - now) or ARGV[1]}
"""


# Counts with the most that each may reach (-1: any) and how long its window lasts from its beginning. All are added to,
# or none when one has reached its most: then its place and the milliseconds that its window still lasts.
_SPEND = """
for i, key in ipairs(KEYS) do
  local most = tonumber(ARGV[3 * i - 1])
  if most >= 0 and tonumber(redis.call('GET', key) or '0') >= most then
    return {i, math.max(redis.call('PTTL', key), 0)}
  end
end
for i, key in ipairs(KEYS) do
  redis.call('INCRBY', key, ARGV[3 * i - 2])
  if redis.call('PTTL', key) < 0 then redis.call('PEXPIRE', key, ARGV[3 * i]) end
end
return {0, 0}
"""


class RedisAway(Exception):
    """This process has to do without it."""


@dataclass(frozen=True, slots=True)
class Entered:
    """Where a window stands after somebody wanted to enter."""

    member: str
    admitted: bool
    taken: int
    reset: float
    """Seconds until the oldest leaves."""


class SharedState:
    """Open it with `async with`: it watches for Redis to come back."""

    def __init__(self, url: str, *, wait: float = 0.25, look_again: float = 1.0) -> None:
        self._url = url
        self._wait = wait
        self._look_again = look_again
        self._client: Redis | None = None
        self._errors: tuple[type[Exception], ...] = ()
        self._away = asyncio.Event()

    @contextlib.asynccontextmanager
    async def opened(self) -> AsyncGenerator[Self]:
        # Loading these takes a while, and most do without Redis.
        try:
            from redis.asyncio import BlockingConnectionPool, Redis
            from redis.exceptions import RedisError
        except ModuleNotFoundError as error:
            raise MissingExtraError("redis", error) from error

        pool = BlockingConnectionPool.from_url(
            self._url,
            max_connections=32,
            timeout=self._wait,
            socket_timeout=self._wait,
            socket_connect_timeout=self._wait,
        )
        self._client = Redis(connection_pool=pool)
        self._errors = (RedisError, OSError, TimeoutError)
        watching = asyncio.create_task(self._watch())
        try:
            yield self
        finally:
            watching.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await watching
            with contextlib.suppress(*self._errors):
                await pool.disconnect()

    async def enter(self, name: str, *, most: int, seconds: float) -> Entered:
        """Enter a window unless `most` did in the last `seconds`. Raises RedisAway."""
        member = uuid.uuid4().hex
        given = (str(int(seconds * 1000)), str(most), member)
        admitted, taken, reset = await self._evaluated(_ENTER, [_PREFIX + name], given)
        return Entered(member, bool(admitted), int(taken), float(reset) / 1000)

    async def spend(self, spendings: Sequence[Spending]) -> tuple[Spending, float] | None:
        """Counts over all workers. Raises RedisAway."""
        names = [f"{_PREFIX}budget:{spending.name}" for spending in spendings]
        limits = [(s.amount, -1 if s.most is None else s.most, int(s.seconds * 1000)) for s in spendings]
        given = [str(number) for limit in limits for number in limit]
        place, left = await self._evaluated(_SPEND, names, given)
        return (spendings[place - 1], left / 1000) if place else None

    async def _evaluated(self, script: str, keys: Sequence[str], given: Sequence[str]) -> list[Any]:
        async def work(client: "Redis") -> list[Any]:
            reply: list[Any] = await client.eval(script, len(keys), *keys, *given)
            return reply

        return await self._tried(work)

    async def leave(self, name: str, member: str) -> None:
        """Give a place back. Raises RedisAway; the place is then free when its time is over."""
        await self._tried(lambda client: client.zrem(_PREFIX + name, member))

    async def claim(self, name: str, value: str, *, seconds: float) -> str | None:
        """Set a value where there is none; else what is there. Raises RedisAway."""

        async def work(client: "Redis") -> str | bytes | None:
            if await client.set(_PREFIX + name, value, nx=True, ex=int(seconds)):
                return None
            return await client.get(_PREFIX + name) or value  # it ended at this very moment: to be asked once more

        found = await self._tried(work)
        return found.decode() if isinstance(found, bytes) else found

    async def put(self, name: str, value: str, *, seconds: float) -> None:
        """Raises RedisAway."""
        await self._tried(lambda client: client.set(_PREFIX + name, value, ex=int(seconds)))

    async def remove(self, name: str) -> None:
        """Raises RedisAway."""
        await self._tried(lambda client: client.delete(_PREFIX + name))

    async def status(self) -> ServiceStatus:
        begun = time.perf_counter()
        if not self._away.is_set() and await self._ping():
            return ServiceStatus("up", round((time.perf_counter() - begun) * 1000, 2), "Redis")
        self._away.set()
        return ServiceStatus("degraded", None, "Redis does not answer; each process counts alone")

    async def _tried(self, work: Callable[["Redis"], Awaitable[T]]) -> T:
        if self._client is None or self._away.is_set():
            raise RedisAway
        try:
            async with asyncio.timeout(self._wait):
                return await work(self._client)
        except self._errors as error:
            name = type(error).__name__
            log("limits", "Redis does not answer; this process counts alone", level="warning", error=name)
            self._away.set()
            raise RedisAway from error

    async def _watch(self) -> None:
        while True:
            await self._away.wait()
            await asyncio.sleep(self._look_again)
            if await self._ping():
                log("limits", "Redis answers again")
                self._away.clear()

    async def _ping(self) -> bool:
        try:
            async with asyncio.timeout(self._wait):
                return self._client is not None and bool(await self._client.ping())
        except self._errors:
            return False


class SharedCounts:
    """Of all workers; while Redis is away each process counts alone."""

    def __init__(self, shared: SharedState, alone: Counts) -> None:
        self._shared = shared
        self._alone = alone

    async def spend(self, spendings: Sequence[Spending]) -> tuple[Spending, float] | None:
        try:
            return await self._shared.spend(spendings)
        except RedisAway:
            return await self._alone.spend(spendings)
