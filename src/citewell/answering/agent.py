"""The agent: a hosted model over a task, on the OpenAI Agents SDK.

What a model says leaves here as raw text; nothing is trusted before the gate has seen it. The SDK takes seconds to
import, so only `sdk.py` imports it, and that is loaded by `warm_up` when a hosted model is configured.
"""

import asyncio
import contextlib
import random
from collections.abc import AsyncGenerator

from citewell.answering.breaker import Breaker
from citewell.answering.budget import ModelBudget
from citewell.answering.hosted_model import GENERATION_SECONDS, Calls, HostedModel, Task
from citewell.deadline import Deadline
from citewell.errors import ModelAwayError, ModelError

NOT_FOUND = "answer not found in book"
"""What the instructions tell a model to reply when the passages do not hold the answer."""
ATTEMPTS = 3
MAX_TEXT = 24_000
"""Characters a model may say in one answer; more is a model that does not stop."""


class BookAgent:
    """Runs tasks on a hosted model."""

    def __init__(
        self, hosted: HostedModel, *, seconds: float = GENERATION_SECONDS, budget: ModelBudget | None = None
    ) -> None:
        self.model = hosted.name
        self.budget = budget or ModelBudget()
        self._hosted = hosted
        self._seconds = seconds
        self._breaker = Breaker()

    async def run(self, task: Task, deadline: Deadline) -> AsyncGenerator[str, None]:
        """The model's text as it comes; "" after each search, and nothing when the model says that it found nothing.

        What may pass and fails before the first text is tried again. Raises ModelError or DeadlineError.
        """
        from citewell.answering import sdk

        ends = deadline.within(self._seconds)
        calls = Calls(self.budget, task.owner, task.use)
        for attempt in range(1, ATTEMPTS + 1):
            self._breaker.check()
            said = ""
            try:
                async with contextlib.aclosing(sdk.run(task, self._hosted, calls)) as deltas:
                    while (delta := await self._next(deltas, ends)) is not None:
                        held, said = _may_be_not_found(said), said + delta
                        if len(said) > MAX_TEXT:
                            raise ModelError("The model did not stop talking.")
                        if not delta or not _may_be_not_found(said):
                            yield said if held and delta else delta
                if not said.strip():
                    raise ModelAwayError("The model gave an empty reply.")
                self._breaker.worked()
                return
            except ModelAwayError as error:
                self._breaker.failed()
                wait = error.retry_after or random.uniform(0.1, 0.4) * 2 ** (attempt - 1)  # noqa: S311 jitter, no secret
                if said or attempt == ATTEMPTS or not calls.left or wait >= ends.left:
                    raise
            await asyncio.sleep(wait)

    async def _next(self, deltas: AsyncGenerator[str, None], ends: Deadline) -> str | None:
        async with ends.kept(f"The model did not finish within {self._seconds:g} s."):
            return await anext(deltas, None)

    async def ping(self) -> None:
        """Look whether the model service answers, by a call that costs nothing. Raises ModelError."""
        from citewell.answering import sdk

        await sdk.ping(self._hosted)

    def warm_up(self) -> None:
        """Load the SDK, so that the first question does not wait for it. Takes seconds: call it in a thread."""
        import citewell.answering.sdk  # noqa: F401 the import is the work


def _may_be_not_found(said: str) -> bool:
    """Whether the model may be on the way to saying that the book does not know, and nothing else."""
    plain = said.strip().strip("\"'`*").rstrip(".").lower()
    return NOT_FOUND.startswith(plain)
