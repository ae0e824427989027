"""Turns: the values that a conversation is read back in. Pure."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Literal

from citewell.values import Answer, Status

Vote = Literal["up", "down"]


@dataclass(frozen=True, slots=True)
class Turn:
    """A question and its answer, as stored. The turn's id is the answer's."""

    question: str
    selection: str | None
    answer: Answer
    asked_at: datetime
    sequence: int
    """Counts the saves of the session from 1."""
    complete: bool
    """False: the reader left before the end; the answer's text is what had been shown."""
    request_id: str
    vote: Vote | None
    comment: str | None
    voted_at: datetime | None

    @property
    def id(self) -> str:
        return self.answer.id


@dataclass(frozen=True, slots=True)
class TurnPage:
    """Turns of a session, newest last."""

    turns: tuple[Turn, ...]
    earlier: str | None
    """Give it as `before` to read the turns before these; None when there are none."""


@dataclass(frozen=True, slots=True)
class AuthorEntry:
    """A turn as the author of the book sees it: no session, no selection, no sources."""

    question: str
    status: Status
    asked_at: datetime
    confidence: float | None
    latency_ms: float
    complete: bool
    refusal_reason: str | None
    conflicting_info: bool
    vote: Vote | None
    comment: str | None


@dataclass(frozen=True, slots=True)
class ModelDay:
    """What the hosted model cost on a day (UTC), for one key."""

    day: date
    owner: str
    """The digest of the key; empty where no keys are asked for."""
    calls: int
    tokens: int
