"""Health asks every part at once, remembers for a few seconds, and knows which parts are vital."""

import asyncio
from collections.abc import Mapping

import pytest

from citewell.api.health_checks import HealthChecks
from citewell.api.options import Probe
from citewell.errors import DatabaseError, QdrantConnectionError
from citewell.values import ServiceStatus
from tests.support.api import UP


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def health(
    probes: Mapping[str, Probe] | None = None, clock: Clock | None = None, probe_seconds: float = 600
) -> HealthChecks:
    return HealthChecks({**UP, **(probes or {})}, probe_seconds=probe_seconds, cache_seconds=3, clock=clock or Clock())


async def test_all_up_is_healthy() -> None:
    found = await health().look()
    assert found.status == "healthy"
    assert found.reason is None
    assert set(found.services) == {"qdrant", "cohere", "gemini", "database"}


async def away() -> ServiceStatus:
    raise QdrantConnectionError("cannot reach http://10.0.0.7:6333")


async def no_database() -> ServiceStatus:
    raise DatabaseError("cannot reach it")


async def frozen() -> ServiceStatus:
    await asyncio.Event().wait()
    raise AssertionError


@pytest.mark.parametrize(
    ("name", "probe", "status"),
    [
        ("qdrant", away, "unhealthy"),
        ("database", no_database, "unhealthy"),
        ("database", frozen, "unhealthy"),
        ("cohere", away, "degraded"),
        ("gemini", frozen, "degraded"),
    ],
)
async def test_the_index_and_the_database_are_vital_the_others_are_not(name: str, probe: Probe, status: str) -> None:
    found = await health({name: probe}, probe_seconds=0.05 if probe is frozen else 600).look()
    assert found.status == status
    assert found.services[name].status == "down"
    assert (found.reason is not None) == (status == "unhealthy")


async def test_no_internals_are_shown() -> None:
    assert "10.0.0.7" not in str(await health({"qdrant": away}).look())


async def test_a_look_is_remembered_for_a_few_seconds_and_shared_by_those_who_ask_at_once() -> None:
    clock = Clock()
    looks = 0

    async def counted() -> ServiceStatus:
        nonlocal looks
        looks += 1
        await asyncio.sleep(0)
        return ServiceStatus("up")

    asked = health({"qdrant": counted}, clock)
    await asyncio.gather(*(asked.look() for _ in range(20)))
    assert looks == 1
    clock.now = 2.9
    await asked.look()
    assert looks == 1
    clock.now = 3.0
    await asked.look()
    assert looks == 2


async def test_the_probes_run_at_the_same_time() -> None:
    both = asyncio.Barrier(2)

    async def meets() -> ServiceStatus:
        await both.wait()
        return ServiceStatus("up")

    assert (await health({"qdrant": meets, "database": meets}).look()).status == "healthy"
