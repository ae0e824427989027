"""Checks: any text against passages or against the book. The route /check and every name that it has on the wire."""

from typing import Annotated

from fastapi import APIRouter, Body, Request, Response
from fastapi.openapi.models import Example
from pydantic import Field

from citewell.api.app_state import state_of
from citewell.api.dialects.query import NOT_BLANK
from citewell.api.dialects.wire import WholeReply, Wire, encoded, similarity
from citewell.api.guarded_route import GuardedRoute
from citewell.api.middleware import exchange_of, rendered
from citewell.api.openapi import BODY, GUARD, KEYED, LIMITS, SERVICES, failures, reply
from citewell.deadline import Deadline
from citewell.errors import InvalidInputError
from citewell.judge import MAX_CHECKED, Checked, CheckedSentence, Outcome
from citewell.values import Passage

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


class CheckedQuote(WholeReply):
    passage: int = Field(description="Its number, from 1")
    char_start: int | None = Field(description="Where in the passage, in code points")
    char_end: int | None
    text: str


class SentenceReply(WholeReply):
    text: str
    char_start: int = Field(description="Where in the text, in code points")
    char_end: int
    outcome: Outcome
    score: float = Field(description="How likely it is that the passages support the sentence")
    quote: CheckedQuote | None = Field(description="What says it, or says most of it")
    reason: str | None


class CheckedPassage(WholeReply):
    number: int
    source_url: str | None = Field(description="Null for passages of the request")
    title: str | None


class CheckResponse(WholeReply):
    sentences: list[SentenceReply] = Field(description="Every sentence, in the order of the text")
    supported: int
    contradicted: int
    not_stated: int
    passages: list[CheckedPassage]


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


def check_reply(checked: Checked) -> bytes:
    sentences = [_sentence(sentence, checked.passages) for sentence in checked.sentences]
    outcomes = [sentence.outcome for sentence in checked.sentences]
    return encoded(
        CheckResponse(
            sentences=sentences,
            supported=outcomes.count("supported"),
            contradicted=outcomes.count("contradicted"),
            not_stated=outcomes.count("not_stated"),
            passages=[
                CheckedPassage(number=number, source_url=passage.url or None, title=passage.page_title or None)
                for number, passage in enumerate(checked.passages, start=1)
            ],
        )
    )


def _sentence(sentence: CheckedSentence, passages: tuple[Passage, ...]) -> SentenceReply:
    quote = None
    if sentence.passage is not None:
        text = passages[sentence.passage - 1].text[sentence.quote_start : sentence.quote_end]
        quote = CheckedQuote(
            passage=sentence.passage,
            char_start=sentence.quote_start,
            char_end=sentence.quote_end,
            text=text if sentence.quote_start is not None else "",
        )
    return SentenceReply(
        text=sentence.text,
        char_start=sentence.start,
        char_end=sentence.end,
        outcome=sentence.outcome,
        score=similarity(sentence.score),
        quote=quote,
        reason=sentence.reason or None,
    )
