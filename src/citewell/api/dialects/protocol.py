"""What a dialect does: a body into a Question, events and failures into what goes over the wire. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from citewell.api.body import Json
from citewell.api.http_errors import Failure
from citewell.models import Answer, AnswerEvent, Question


@dataclass(frozen=True, slots=True)
class WireEvent:
    """An event of a stream; `data` is ASCII JSON on one line."""

    name: str | None
    data: str


class StreamRendering(Protocol):
    """One stream's events, in order. Remembers what was sent, so that the end can complete it."""

    def render(self, event: AnswerEvent) -> Sequence[WireEvent]: ...


class Dialect(Protocol):
    @property
    def name(self) -> str:
        """For metrics."""
        ...

    @property
    def asks_with(self) -> str:
        """The field of a body that tells this dialect from the other."""
        ...

    def question(self, body: Json, *, new_session_id: str, request_id: str) -> Question:
        """Raises InvalidInputError that names the field and the limit, and does not repeat the input."""
        ...

    def reply(self, answer: Answer) -> bytes: ...

    def stream(self, request_id: str) -> StreamRendering: ...

    def status(self, failure: Failure) -> int: ...

    def failure(self, failure: Failure, request_id: str) -> bytes: ...

    def failure_event(self, failure: Failure, request_id: str) -> WireEvent: ...
