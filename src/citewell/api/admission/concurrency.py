"""The concurrency limiter: how many questions may be answered at once, in this process or over all workers."""

from collections.abc import Awaitable, Callable
from contextlib import suppress

from citewell.api.admission.shared import RedisAway, SharedState
from citewell.api.http_errors import LimitReached

_SLOTS = "slots"


class ConcurrencyLimiter:
    """`count` slots over all workers that share `shared`; alone, or while Redis is away, `share` of them are ours."""

    def __init__(
        self, count: int, *, share: int | None = None, shared: SharedState | None = None, slot_seconds: float = 60.0
    ) -> None:
        """A slot whose owner died is free again after `slot_seconds`."""
        self.count = count
        self.taken = 0
        self._share = share or count
        self._shared = shared
        self._slot_seconds = slot_seconds

    async def take(self) -> Callable[[], Awaitable[None]]:
        """Take a slot; call what is returned to free it. Raises LimitReached."""
        member: str | None = None
        if self._shared is not None:
            with suppress(RedisAway):
                entered = await self._shared.enter(_SLOTS, most=self.count, seconds=self._slot_seconds)
                if not entered.admitted:
                    raise self._full()
                member = entered.member
        if member is None and self.taken >= self._share:
            raise self._full()
        self.taken += 1

        async def free() -> None:
            self.taken -= 1
            if member is not None and self._shared is not None:
                with suppress(RedisAway):
                    await self._shared.leave(_SLOTS, member)

        return free

    def _full(self) -> LimitReached:
        return LimitReached(
            f"{self.count} questions are being answered already. Please try again in a moment.",
            policy="concurrency",
            retry_after=1,
        )
