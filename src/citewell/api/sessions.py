"""Sessions: conversations read back, deleted and rated. Their routes and every name that they have on the wire."""

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Body, Path, Query, Request, Response
from pydantic import AfterValidator, Field, field_validator
from pydantic.json_schema import SkipJsonSchema

from citewell.api.app_state import state_of
from citewell.api.dialects.message import ReaderSource, reader_reply
from citewell.api.dialects.query import (
    SESSION_PATTERN,
    ResponseMetadata,
    SelectedTextCitation,
    SourceCitation,
    metadata_of,
    sources_of,
)
from citewell.api.dialects.wire import WholeReply, Wire, dumped, encoded
from citewell.api.examples import EXAMPLE_ID, EXAMPLE_TURN, FEEDBACK_EXAMPLES
from citewell.api.guard import caller_of
from citewell.api.guarded_route import GuardedRoute, ReaderRoute
from citewell.api.middleware import json_reply, rendered
from citewell.api.openapi import BODY, GUARD, KEYED, LIMITS, SERVICES, failures, reply
from citewell.conversations.session_ids import session_id_of
from citewell.conversations.turns import Turn, TurnPage, Vote
from citewell.errors import InvalidInputError, NotFoundError
from citewell.values import ConfidenceLevel, Mode

MAX_TURNS = 100
MAX_TURN_ID = 64
router = APIRouter(tags=["sessions"], dependencies=KEYED, route_class=GuardedRoute)
readers = APIRouter(route_class=ReaderRoute)


class TurnReply(WholeReply):
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


class SessionResponse(WholeReply):
    session_id: str
    turns: list[TurnReply] = Field(description="Newest last")
    earlier: str | None = Field(description="Give it as `before` to read the turns before these")


class SharedAnswer(Wire):
    """An answer by its id alone, as a reader shares it: nothing of the conversation it was given in."""

    question: str
    response: str
    confidence: float
    confidence_level: ConfidenceLevel
    sources: list[ReaderSource]
    should_answer: bool
    refusal_reason: str | None = None
    asked_at: datetime


class DeletedResponse(WholeReply):
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


SessionId = Annotated[
    str, AfterValidator(session_id_of), Path(json_schema_extra={"pattern": SESSION_PATTERN}, examples=[EXAMPLE_ID])
]
TurnId = Annotated[str, Path(min_length=1, max_length=MAX_TURN_ID, examples=[EXAMPLE_TURN])]


@router.get(
    "/sessions/{session_id}",
    summary="Read a conversation back",
    response_model=SessionResponse,
    responses=reply("Turns", *LIMITS) | failures(*GUARD, InvalidInputError, NotFoundError, *SERVICES),
)
async def session(
    request: Request,
    session_id: SessionId,
    limit: Annotated[int, Query(ge=1, le=MAX_TURNS)] = 50,
    before: Annotated[
        str | SkipJsonSchema[None],
        Query(min_length=1, max_length=MAX_TURN_ID, description="The `earlier` of the reply before"),
    ] = None,
) -> Response:
    page = await state_of(request).parts.conversations.session(
        session_id, owner=caller_of(request).owner, limit=limit, before=before
    )
    return await rendered(session_reply, session_id, page)


@router.delete(
    "/sessions/{session_id}",
    summary="Forget a conversation",
    response_model=DeletedResponse,
    responses=reply("Forgotten", *LIMITS) | failures(*GUARD, InvalidInputError, *SERVICES),
)
async def delete_session(request: Request, session_id: SessionId) -> Response:
    deleted = await state_of(request).parts.conversations.delete_session(session_id, owner=caller_of(request).owner)
    return json_reply(encoded(DeletedResponse(deleted_turns=deleted)))


@readers.post(
    "/sessions/{session_id}/turns/{turn_id}/feedback",
    summary="Say whether an answer helped",
    status_code=204,
    responses=reply("Noted", *LIMITS, status=204) | failures(*GUARD, *BODY, NotFoundError, *SERVICES),
)
async def feedback(
    request: Request,
    session_id: SessionId,
    turn_id: TurnId,
    said: Annotated[FeedbackRequest, Body(openapi_examples=FEEDBACK_EXAMPLES)],
) -> Response:
    await state_of(request).parts.conversations.feedback(
        session_id, turn_id, said.rating, said.comment, owner=caller_of(request).owner
    )
    return Response(status_code=204)


@readers.get(
    "/answers/{turn_id}",
    summary="An answer by its id, as a reader shares it",
    response_model=SharedAnswer,
    responses=reply("The answer", *LIMITS) | failures(*GUARD, InvalidInputError, NotFoundError, *SERVICES),
)
async def shared(request: Request, turn_id: TurnId) -> Response:
    return json_reply(shared_reply(await state_of(request).parts.conversations.turn(turn_id)))


router.include_router(readers)


def session_reply(session_id: str, page: TurnPage) -> bytes:
    turns = [_turn(turn) for turn in page.turns]
    return encoded(SessionResponse(session_id=session_id, turns=turns, earlier=page.earlier))


def shared_reply(turn: Turn) -> bytes:
    reply = reader_reply(turn.answer)
    shared = SharedAnswer(
        question=turn.question,
        response=reply.response,
        confidence=reply.confidence,
        confidence_level=reply.confidence_level,
        sources=reply.sources,
        should_answer=reply.should_answer,
        refusal_reason=reply.refusal_reason,
        asked_at=turn.asked_at,
    )
    return dumped(shared, exclude_none=True).encode()


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
