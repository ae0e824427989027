"""The rate limiter: windows are exact at their edge, bounded in memory, and belong to the right client."""

import inspect
import time
from ipaddress import ip_network

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.api.admission.client_address import client_address
from citewell.api.admission.concurrency import ConcurrencyLimiter
from citewell.api.admission.rate_limits import LocalRateLimiter, RateLimiter, RateLimitStatus
from citewell.api.http_errors import LimitReached


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def windows(clock: Clock, address: int = 60, session: int = 20) -> RateLimiter:
    return RateLimiter({"address": address, "session": session}, clock=clock)


async def test_the_sixtieth_request_of_a_minute_is_served_and_the_next_is_not() -> None:
    clock = Clock()
    limits = windows(clock)
    for left in range(59, -1, -1):
        assert (await limits.admit("address", "a")).remaining == left
    assert not (await limits.admit("address", "a")).admitted
    assert (await limits.admit("address", "b")).admitted


async def test_the_window_slides_and_is_exact_at_its_edge() -> None:
    clock = Clock()
    limits = windows(clock, address=2)
    await limits.admit("address", "a")
    clock.now += 30
    await limits.admit("address", "a")
    clock.now += 29.999
    refused = await limits.admit("address", "a")
    assert not refused.admitted
    assert 0 < refused.reset <= 0.0011
    clock.now += 0.001
    assert (await limits.admit("address", "a")).admitted
    assert not (await limits.admit("address", "a")).admitted
    clock.now += 30
    assert (await limits.admit("address", "a")).admitted


async def test_a_refused_request_does_not_count() -> None:
    clock = Clock()
    limits = windows(clock, address=1)
    await limits.admit("address", "a")
    for _ in range(5):
        clock.now += 10
        assert not (await limits.admit("address", "a")).admitted
    clock.now += 10
    assert (await limits.admit("address", "a")).admitted


async def test_sessions_and_addresses_are_counted_apart() -> None:
    clock = Clock()
    limits = windows(clock, address=1, session=1)
    assert (await limits.admit("address", "same")).admitted
    assert (await limits.admit("session", "same")).admitted


@given(st.lists(st.floats(0, 40), max_size=60), st.integers(1, 5))
async def test_no_minute_ever_holds_more_than_the_limit(gaps: list[float], limit: int) -> None:
    clock = Clock()
    limits = windows(clock, address=limit)
    served: list[float] = []
    for gap in gaps:
        clock.now += gap
        if (await limits.admit("address", "a")).admitted:
            served.append(clock.now)
        else:
            # Refused for a reason: the minute that ends now is full.
            assert sum(clock.now - moment < 60 for moment in served) == limit
    assert all(sum(start <= moment < start + 60 for moment in served) <= limit for start in served)


def test_memory_is_bounded_however_many_clients_come() -> None:
    memory = LocalRateLimiter(max_keys=100)
    for i in range(1000):
        memory.admit("address", str(i), 5)
    assert len(memory) == 100


async def test_a_standing_that_is_not_admitted_names_the_limit_and_the_wait() -> None:
    with pytest.raises(LimitReached, match="20 requests a minute for each session") as caught:
        RateLimitStatus("session", 20, 0, 12.2, admitted=False).check()
    assert caught.value.retry_after == 12.2


async def test_the_eleventh_at_once_is_told_to_wait_and_a_freed_slot_is_given_again() -> None:
    slots = ConcurrencyLimiter(10)
    frees = [await slots.take() for _ in range(10)]
    with pytest.raises(LimitReached):
        await slots.take()
    await frees[3]()
    await slots.take()
    with pytest.raises(LimitReached):
        await slots.take()


async def test_each_of_several_workers_without_redis_takes_its_share() -> None:
    limits = RateLimiter({"address": 9}, workers=4)
    assert [(await limits.admit("address", "a")).admitted for _ in range(3)] == [True, True, False]
    slots = ConcurrencyLimiter(8, share=2)
    await slots.take()
    await slots.take()
    with pytest.raises(LimitReached):
        await slots.take()


@pytest.mark.fault("clock set back", "locks nobody out")
async def test_a_clock_that_is_set_back_locks_nobody_out() -> None:
    """The windows go by a clock that nobody sets: the default must not be the time of day."""
    assert LocalRateLimiter().admit("address", "a", 1).reset <= 60
    assert inspect.signature(LocalRateLimiter).parameters["clock"].default is time.monotonic


TRUSTED = (ip_network("10.0.0.0/8"), ip_network("fd00::/8"))


@pytest.mark.parametrize(
    ("peer", "forwarded", "address"),
    [
        ("203.0.113.9", [], "203.0.113.9"),
        ("203.0.113.9", ["198.51.100.1"], "203.0.113.9"),  # not our proxy: its word means nothing
        ("10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("10.0.0.1", ["6.6.6.6, 198.51.100.1"], "198.51.100.1"),  # what stands left was written by the client
        ("10.0.0.1", ["6.6.6.6", "198.51.100.1, 10.0.0.2"], "198.51.100.1"),
        ("10.0.0.1", ["10.0.0.3, 10.0.0.2"], "10.0.0.3"),
        ("10.0.0.1", ["nonsense"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1, <script>"], "10.0.0.1"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.1:40312"], "198.51.100.1"),
        ("10.0.0.1", ["[2001:db8::7]:40312"], "2001:db8::/64"),
        ("::ffff:10.0.0.1", ["198.51.100.1"], "198.51.100.1"),
        ("::ffff:203.0.113.9", [], "203.0.113.9"),
        ("2001:db8:1:2:3:4:5:6", [], "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::1", [], "2001:db8:1:2::/64"),
        ("fd00::1", ["2001:db8::7"], "2001:db8::/64"),
        (None, [], "local"),
    ],
)
def test_whose_request_it_is(peer: str | None, forwarded: list[str], address: str) -> None:
    assert client_address(peer, forwarded, TRUSTED) == address


@given(st.lists(st.text(max_size=30), max_size=5))
def test_a_client_that_is_no_proxy_cannot_choose_its_address(forwarded: list[str]) -> None:
    assert client_address("203.0.113.9", forwarded, TRUSTED) == "203.0.113.9"
