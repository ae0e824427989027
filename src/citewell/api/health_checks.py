"""Health checks: every part asked at the same time, each with a limit, the findings kept for a few seconds."""

import asyncio
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

from citewell.api.options import Probe
from citewell.errors import CitewellError
from citewell.logs import log
from citewell.values import ServiceStatus

VITAL = {"qdrant": "Vector index unavailable", "database": "Database connection failed"}
"""Without these nothing can be answered."""


@dataclass(frozen=True, slots=True)
class Findings:
    status: Literal["healthy", "degraded", "unhealthy"]
    services: Mapping[str, ServiceStatus]
    timestamp: datetime
    reason: str | None


class HealthChecks:
    def __init__(
        self,
        probes: Mapping[str, Probe],
        *,
        probe_seconds: float,
        cache_seconds: float,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._probes = probes
        self._probe_seconds = probe_seconds
        self._cache_seconds = cache_seconds
        self._clock = clock
        self._looking = asyncio.Lock()
        self._found: Findings | None = None
        self._found_at = 0.0

    async def look(self) -> Findings:
        """What is known, at most a few seconds old. Many who ask at once cost one look."""
        async with self._looking:
            if self._found is None or self._clock() - self._found_at >= self._cache_seconds:
                self._found = await self._look()
                self._found_at = self._clock()
            return self._found

    async def _look(self) -> Findings:
        async with asyncio.TaskGroup() as group:
            asked = {name: group.create_task(self._ask(name, probe)) for name, probe in self._probes.items()}
        services = {name: task.result() for name, task in asked.items()}
        missing = [VITAL[name] for name, service in services.items() if name in VITAL and service.status == "down"]
        if missing:
            return Findings("unhealthy", services, datetime.now(UTC), "; ".join(missing))
        weak = any(service.status != "up" for service in services.values())
        return Findings("degraded" if weak else "healthy", services, datetime.now(UTC), None)

    async def _ask(self, name: str, probe: Probe) -> ServiceStatus:
        begun = time.perf_counter()
        try:
            async with asyncio.timeout(self._probe_seconds):
                found = await probe()
        except TimeoutError:
            return ServiceStatus("down", None, f"no answer within {self._probe_seconds:g} s")
        except CitewellError as error:
            log("health", f"{name} is down", level="warning", error=f"{error.code}: {error}")
            return ServiceStatus("down", None, error.code)
        if found.latency_ms is None:
            return ServiceStatus(found.status, round((time.perf_counter() - begun) * 1000, 2), found.message)
        return found
