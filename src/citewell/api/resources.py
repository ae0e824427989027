"""Replies that belong to neither dialect: health, sessions, pages. Every name that they have on the wire. Pure."""

import json
from datetime import datetime
from typing import Literal

from pydantic import BaseModel, Field, field_validator

from citewell.api.body import Json, validated
from citewell.api.health import Findings
from citewell.api.query_dialect import (
    ResponseMetadata,
    SelectedTextCitation,
    SourceCitation,
    Wire,
    metadata_of,
    sources_of,
)
from citewell.api.wire import dumped
from citewell.conversations.turns import Turn, TurnPage, Vote
from citewell.models import Mode, PageEntry


class ServiceReply(Wire):
    status: Literal["up", "down", "degraded"]
    latency_ms: float | None = None
    message: str | None = Field(None, description="What is wrong, or what serves in its place")


class HealthResponse(Wire):
    status: Literal["healthy", "degraded", "unhealthy"]
    version: str
    services: dict[str, ServiceReply] = Field(
        description="qdrant, cohere, gemini, database and, with Redis, rate_limits"
    )
    timestamp: datetime
    reason: str | None = Field(None, description="Why it is unhealthy")


class LiveResponse(Wire):
    status: Literal["alive"] = "alive"


class ReadyResponse(Wire):
    status: Literal["ready", "not_ready"]
    reason: str | None = None


class TurnReply(Wire):
    turn_id: str
    query: str
    selected_text: str | None
    answer: str
    sources: list[SelectedTextCitation | SourceCitation]
    mode: Mode
    metadata: ResponseMetadata
    asked_at: datetime
    complete: bool = Field(description="False: the reader left before the end")
    rating: Vote | None
    comment: str | None


class SessionResponse(Wire):
    session_id: str
    turns: list[TurnReply] = Field(description="Newest last")
    earlier: str | None = Field(description="Give it as `before` to read the turns before these")


class DeletedResponse(Wire):
    deleted_turns: int


class FeedbackRequest(Wire):
    """What the reader thinks of an answer. Null takes the rating back."""

    rating: Vote | None = Field(description="up or down; null takes it back")
    comment: str | None = Field(None, max_length=2000)

    @field_validator("rating", mode="before")
    @classmethod
    def _known(cls, value: object) -> object:
        if value not in ("up", "down", None):
            raise ValueError("rating must be 'up', 'down' or null.")
        return value

    @field_validator("comment", mode="before")
    @classmethod
    def _trimmed(cls, value: object) -> object:
        return (value.strip() or None) if isinstance(value, str) else value


class PageListEntry(Wire):
    url: str
    title: str
    module: str


class PageResponse(Wire):
    url: str
    title: str
    markdown: str


def encoded(model: BaseModel) -> bytes:
    return dumped(model).encode()


def health_reply(found: Findings, version: str) -> bytes:
    services = {
        name: ServiceReply(status=s.status, latency_ms=s.latency_ms, message=s.message)
        for name, s in found.services.items()
    }
    reply = HealthResponse(status=found.status, version=version, services=services, timestamp=found.timestamp)
    if found.reason is not None:
        reply.reason = found.reason
    return dumped(reply, exclude_unset=True).encode()


def session_reply(session_id: str, page: TurnPage) -> bytes:
    turns = [_turn(turn) for turn in page.turns]
    return encoded(SessionResponse(session_id=session_id, turns=turns, earlier=page.earlier))


def _turn(turn: Turn) -> TurnReply:
    return TurnReply(
        turn_id=turn.id,
        query=turn.question,
        selected_text=turn.selection,
        answer=turn.answer.text,
        sources=sources_of(turn.answer.citations),
        mode=turn.answer.mode,
        metadata=metadata_of(turn.answer),
        asked_at=turn.asked_at,
        complete=turn.complete,
        rating=turn.vote,
        comment=turn.comment,
    )


def feedback_of(body: Json) -> tuple[Vote | None, str | None]:
    request = validated(FeedbackRequest, body)
    return request.rating, request.comment


def pages_reply(pages: list[PageEntry]) -> bytes:
    entries = [PageListEntry(url=page.url, title=page.title, module=page.module) for page in pages]
    return b"[" + b",".join(encoded(entry) for entry in entries) + b"]"


def questions_reply(questions: list[str]) -> bytes:
    return json.dumps(questions, ensure_ascii=False).encode()


def page_reply(page: PageEntry, markdown: str) -> bytes:
    return encoded(PageResponse(url=page.url, title=page.title, markdown=markdown))
