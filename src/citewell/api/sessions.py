"""Sessions: conversations read back, deleted and rated. Their routes and every name that they have on the wire."""

from datetime import datetime

from fastapi import APIRouter, Request, Response
from pydantic import Field, field_validator

from citewell.api import documents
from citewell.api.body import Json, parse, validated
from citewell.api.dialects.query import ResponseMetadata, SelectedTextCitation, SourceCitation, metadata_of, sources_of
from citewell.api.dialects.wire import Wire, encoded
from citewell.api.guard import admitted, raw_body
from citewell.api.middleware import json_reply
from citewell.api.state import state_of
from citewell.conversations.sessions import session_id_of
from citewell.conversations.turns import Turn, TurnPage, Vote
from citewell.errors import InvalidInputError
from citewell.models import Mode

MAX_TURNS = 100
MAX_TURN_ID = 64
router = APIRouter(default_response_class=Response)


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


@router.get("/sessions/{session_id}", openapi_extra=documents.SESSION)
async def session(request: Request) -> Response:
    caller = await admitted(request)
    session_id = session_id_of(request.path_params["session_id"])
    page = await state_of(request).parts.conversations.session(
        session_id, owner=caller.owner, limit=_limit(request), before=_before(request)
    )
    return json_reply(session_reply(session_id, page))


@router.delete("/sessions/{session_id}", openapi_extra=documents.DELETE_SESSION)
async def delete_session(request: Request) -> Response:
    caller = await admitted(request)
    session_id = session_id_of(request.path_params["session_id"])
    deleted = await state_of(request).parts.conversations.delete_session(session_id, owner=caller.owner)
    return json_reply(encoded(DeletedResponse(deleted_turns=deleted)))


@router.post("/sessions/{session_id}/turns/{turn_id}/feedback", status_code=204, openapi_extra=documents.FEEDBACK)
async def feedback(request: Request) -> Response:
    caller = await admitted(request)
    state = state_of(request)
    session_id = session_id_of(request.path_params["session_id"])
    rating, comment = feedback_of(parse(await raw_body(request)))
    turn_id = request.path_params["turn_id"]
    await state.parts.conversations.feedback(session_id, turn_id, rating, comment, owner=caller.owner)
    return Response(status_code=204)


def _limit(request: Request) -> int:
    text = request.query_params.get("limit", "50")
    if not (text.isascii() and text.isdigit() and len(text) <= 3 and 1 <= int(text) <= MAX_TURNS):
        raise InvalidInputError(f"limit must be a whole number from 1 to {MAX_TURNS}.", field="limit")
    return int(text)


def _before(request: Request) -> str | None:
    before = request.query_params.get("before")
    if before is not None and not 1 <= len(before) <= MAX_TURN_ID:
        raise InvalidInputError(f"before must have 1 to {MAX_TURN_ID} characters.", field="before")
    return before


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
