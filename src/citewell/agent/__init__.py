"""The agent: a model over a task, on the OpenAI Agents SDK.

What a model says leaves here as raw text; nothing is trusted before the gate has seen it. The SDK takes seconds to
import, so only `sdk.py` imports it, and that is loaded by the first run or by `warm_up`.
"""

import asyncio
import contextlib
import hashlib
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from dataclasses import dataclass
from importlib.resources import files

from citewell.contracts import RetrievedContent
from citewell.errors import DeadlineError, ModelError
from citewell.models import Filters, Message

INSTRUCTIONS = files(__package__).joinpath("instructions.md").read_text("utf-8")
PROMPT_HASH = hashlib.sha256(INSTRUCTIONS.encode()).hexdigest()[:16]
NOT_FOUND = "answer not found in book"
"""What the instructions tell a model to reply when the passages do not hold the answer."""
BUILT_IN = "citewell-extractive"
ATTEMPTS = 3
GENERATION_SECONDS = 25.0
MAX_TEXT = 24_000
"""Characters a model may say in one answer; more is a model that does not stop."""

Search = Callable[[str, int, Filters], Awaitable[RetrievedContent]]
"""Search the book; the passages go into this run's evidence."""


@dataclass(frozen=True, slots=True)
class HostedModel:
    """A model behind an OpenAI-compatible server."""

    name: str
    base_url: str
    api_key: str
    seconds: float = GENERATION_SECONDS
    """For one call; the client's own default would be ten minutes."""


@dataclass(frozen=True, slots=True)
class Task:
    """One run of the agent."""

    question: str
    history: tuple[Message, ...]
    selection: str | None
    confined: bool
    """Only the selection may be used; `search` is None then."""
    first_result: RetrievedContent | None
    """The result of the engine's own search, handed over as a finished tool call."""
    search: Search | None
    draft: Callable[[], str]
    """What the built-in model says: an answer composed of the evidence, or ""."""


class BookAgent:
    """Runs tasks on a hosted model, or on the built-in one when there is none."""

    def __init__(self, hosted: HostedModel | None = None, *, deadline: float = GENERATION_SECONDS) -> None:
        self.model = hosted.name if hosted else BUILT_IN
        self.built_in = hosted is None
        self._hosted = hosted
        self._deadline = deadline

    async def run(self, task: Task) -> AsyncGenerator[str, None]:
        """The model's text as it comes; "" after each search. Raises ModelError or DeadlineError.

        What fails before the first text is tried again, twice; after it, never.
        """
        if self._hosted is None:
            for line in (task.draft() or NOT_FOUND).splitlines(keepends=True):
                yield line
            return
        await asyncio.to_thread(self.warm_up)  # seconds at the first run, nothing later; the loop goes on meanwhile
        ends = asyncio.get_running_loop().time() + self._deadline
        async with contextlib.aclosing(self._attempts(task, self._hosted)) as deltas:
            while True:
                try:
                    async with asyncio.timeout_at(ends):
                        delta = await anext(deltas)
                except StopAsyncIteration:
                    return
                except TimeoutError as error:
                    raise DeadlineError(f"The model did not finish within {self._deadline:g} s.") from error
                yield delta

    async def _attempts(self, task: Task, hosted: HostedModel) -> AsyncGenerator[str, None]:
        from citewell.agent import sdk

        for attempt in range(1, ATTEMPTS + 1):
            said = 0
            try:
                async with contextlib.aclosing(sdk.run(task, hosted)) as deltas:
                    async for delta in deltas:
                        said += len(delta)
                        if said > MAX_TEXT:
                            raise ModelError("The model did not stop talking.")
                        yield delta
                if said:
                    return
                raise ModelError("The model gave an empty reply.")
            except ModelError:
                if said or attempt == ATTEMPTS:
                    raise
            await asyncio.sleep(random.uniform(0.1, 0.4) * 2 ** (attempt - 1))  # noqa: S311 jitter, not a secret

    async def ping(self) -> None:
        """Look whether the model service answers, by a call that costs nothing. Raises ModelError."""
        if self._hosted is not None:
            from citewell.agent import sdk

            await sdk.ping(self._hosted)

    def warm_up(self) -> None:
        """Load the SDK, if a model needs it, before the first question does. Takes seconds: call it in a thread."""
        if self._hosted is not None:
            import citewell.agent.sdk  # noqa: F401 the import is the work
