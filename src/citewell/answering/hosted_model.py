"""A hosted model (LLM): where it is, what it is asked, and how many calls a question may cost. No SDK here."""

import hashlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from importlib.resources import files

from citewell.answering.budget import ModelBudget
from citewell.contracts import RetrievedContent
from citewell.errors import ModelError
from citewell.values import Filters, Message

INSTRUCTIONS = files(__package__).joinpath("instructions.md").read_text("utf-8")
PROMPT_HASH = hashlib.sha256(INSTRUCTIONS.encode()).hexdigest()[:16]
CALLS = 4
"""Calls to the model that one question may cost, searches and retries included."""
GENERATION_SECONDS = 25.0

Search = Callable[[str, int, Filters], Awaitable[RetrievedContent]]
"""Search the book; the passages go into this run's evidence."""


@dataclass(frozen=True, slots=True)
class HostedModel:
    """A model behind an OpenAI-compatible server."""

    name: str
    base_url: str
    api_key: str = field(repr=False)
    seconds: float = GENERATION_SECONDS
    """For one call; the client's own default would be ten minutes."""


@dataclass(slots=True)
class ModelUse:
    calls: int = 0
    tokens: int = 0


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
    owner: str = ""
    """Whose budget it is on."""
    use: ModelUse = field(default_factory=ModelUse)
    """What it has cost, filled in while it runs."""


@dataclass(slots=True)
class Calls:
    """What a question may still ask of the model."""

    budget: ModelBudget
    owner: str
    use: ModelUse

    @property
    def left(self) -> int:
        return CALLS - self.use.calls

    async def spend(self) -> None:
        if not self.left:
            raise ModelError(f"The model gave no answer within {CALLS} calls.")
        await self.budget.call(self.owner)
        self.use.calls += 1

    async def cost(self, tokens: int) -> None:
        self.use.tokens += tokens
        await self.budget.tokens(self.owner, tokens)
