"""The concurrency limiter: how many questions may be answered at once, in this process."""

from collections.abc import Callable

from citewell.api.http_errors import LimitReached


class ConcurrencyLimiter:
    def __init__(self, count: int) -> None:
        self.count = count
        self.taken = 0

    def take(self) -> Callable[[], None]:
        """Take a slot; call what is returned to free it. Raises LimitReached."""
        if self.taken >= self.count:
            raise LimitReached(
                f"{self.count} questions are being answered already. Please try again in a moment.",
                policy="concurrency",
                retry_after=1,
            )
        self.taken += 1
        return self._free

    def _free(self) -> None:
        self.taken -= 1
