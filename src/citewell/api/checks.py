"""Checks: any text against passages or against the book. The route /check."""

from typing import Annotated

from fastapi import APIRouter, Body, Request, Response
from fastapi.openapi.models import Example
from pydantic import Field

from citewell.api.app_state import state_of
from citewell.api.dialects.checked import CheckResponse, check_reply
from citewell.api.dialects.query import NOT_BLANK
from citewell.api.dialects.wire import Wire
from citewell.api.guarded_route import GuardedRoute
from citewell.api.middleware import exchange_of, rendered
from citewell.api.openapi import BODY, GUARD, KEYED, LIMITS, SERVICES, failures, reply
from citewell.deadline import Deadline
from citewell.errors import InvalidInputError
from citewell.judge import MAX_CHECKED

MAX_PASSAGES = 50
router = APIRouter(tags=["checks"], dependencies=KEYED, route_class=GuardedRoute)
_EXAMPLES: dict[str, Example] = {
    "passages": {"value": {"text": "The arm lifts 5 kg.", "passages": ["The arm has a payload of 5 kg."]}},
    "book": {"value": {"text": "A node is a process."}},
}


class CheckRequest(Wire):
    """A text, and the passages that it is held against. Without passages, the book."""

    text: str = Field(min_length=1, max_length=MAX_CHECKED, json_schema_extra={"pattern": NOT_BLANK})
    passages: list[Annotated[str, Field(json_schema_extra={"pattern": NOT_BLANK})]] | None = Field(
        None, min_length=1, max_length=MAX_PASSAGES, description="`[1]` in the text cites the first of them"
    )


@router.post(
    "/check",
    summary="Check a text against passages, or against the book",
    response_model=CheckResponse,
    responses=reply("Each sentence: supported, contradicted or not stated", *LIMITS)
    | failures(*GUARD, *BODY, *SERVICES),
)
async def check(request: Request, asked: Annotated[CheckRequest, Body(openapi_examples=_EXAMPLES)]) -> Response:
    state = state_of(request)
    if not asked.text.strip() or any(not passage.strip() for passage in asked.passages or ()):
        raise InvalidInputError("text and passages may not be empty.", field="text")
    if state.parts.check is None:
        raise InvalidInputError("This server checks nothing.", field="text")
    exchange_of(request).held.push_async_callback(await state.concurrency.take())
    seconds = state.options.answer_seconds
    async with Deadline.after(seconds).kept(f"The text was not checked within {seconds:g} s."):
        checked = await state.parts.check(asked.text, asked.passages)
        return await rendered(check_reply, checked)
