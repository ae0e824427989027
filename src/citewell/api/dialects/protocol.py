"""What a dialect does: events, answers and failures into what goes over the wire. Pure.

Each also makes a `Question` of its own typed body.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from pydantic import BaseModel

from citewell.api.http_errors import ApiFailure
from citewell.values import Answer, AnswerEvent


@dataclass(frozen=True, slots=True)
class WireEvent:
    """An event of a stream; `data` is ASCII JSON on one line."""

    name: str | None
    data: str

    def numbered(self, number: int) -> str:
        """As a server-sent event."""
        name = f"event: {self.name}\n" if self.name else ""
        return f"id: {number}\n{name}data: {self.data}\n\n"


class StreamRendering(Protocol):
    """One stream's events, in order. Remembers what was sent, so that the end can complete it."""

    def render(self, event: AnswerEvent) -> Sequence[WireEvent]: ...


class Dialect(Protocol):
    @property
    def name(self) -> str:
        """For metrics."""
        ...

    @property
    def failure_model(self) -> type[BaseModel]: ...

    @property
    def event_models(self) -> tuple[type[BaseModel], ...]:
        """What the `data` of a stream's events may be; empty where another protocol says it."""
        ...

    def reply(self, answer: Answer) -> bytes: ...

    def stream(self, request_id: str) -> StreamRendering: ...

    def status(self, failure: ApiFailure) -> int: ...

    def failure(self, failure: ApiFailure, request_id: str) -> bytes: ...
