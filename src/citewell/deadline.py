"""The deadline, the one clock of a question: when it must be answered, handed down to all that it waits for."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Self

from citewell.errors import DeadlineError


@dataclass(frozen=True, slots=True)
class Deadline:
    at: float
    """By the event loop's clock."""

    @classmethod
    def after(cls, seconds: float) -> Self:
        return cls(asyncio.get_running_loop().time() + seconds)

    def within(self, seconds: float) -> "Deadline":
        """The same, or an earlier one."""
        return Deadline(min(self.at, asyncio.get_running_loop().time() + seconds))

    @property
    def left(self) -> float:
        """In seconds; not less than 0."""
        return max(0.0, self.at - asyncio.get_running_loop().time())

    @contextlib.asynccontextmanager
    async def kept(self, otherwise: str) -> AsyncIterator[None]:
        """Raises DeadlineError with this message when the moment comes before the end of the block."""
        try:
            async with asyncio.timeout_at(self.at) as limit:
                yield
        except TimeoutError as error:
            if not limit.expired():
                raise
            raise DeadlineError(otherwise) from error
