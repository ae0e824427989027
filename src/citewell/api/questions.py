"""Questions: the routes /chat, /chat/run, /chat/stream. They check, ask the engine, and let a dialect speak."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Body, Request, Response
from pydantic import Discriminator, Tag

from citewell.api.admission.idempotency import KeyClaim
from citewell.api.app_state import state_of
from citewell.api.body import Json, parsed
from citewell.api.dialects.message import MESSAGE_DIALECT, ChatRunRequest, ChatRunResponse
from citewell.api.dialects.protocol import Dialect
from citewell.api.dialects.query import QUERY_DIALECT, ChatRequest, ChatResponse
from citewell.api.examples import MESSAGE_EXAMPLES, QUERY_EXAMPLES
from citewell.api.guard import admitted, caller_of, raw_body
from citewell.api.guarded_route import ParsedRequest, ReaderRoute
from citewell.api.http_errors import KeyConflict
from citewell.api.middleware import exchange_of
from citewell.api.openapi import BODY, GUARD, KEYED, SERVICES, IdempotencyKey, answer, failures
from citewell.api.streams import AnswerRun, EventStream, replayed, unless_gone
from citewell.conversations.session_ids import new_session_id
from citewell.errors import InvalidInputError
from citewell.logs import log, short
from citewell.values import AnswerEvent, Question

router = APIRouter(tags=["questions"], dependencies=KEYED, route_class=ReaderRoute)


@router.post(
    "/chat",
    summary="Ask, as a developer",
    response_model=ChatResponse,
    responses=answer("The answer, or with `stream` its events", QUERY_DIALECT)
    | failures(*GUARD, *BODY, KeyConflict, *SERVICES),
)
async def chat(
    request: Request,
    asked: Annotated[ChatRequest, Body(openapi_examples=QUERY_EXAMPLES)],
    idempotency_key: IdempotencyKey = None,
) -> Response:
    return await answered(request, _developer(request, asked), idempotency_key, streaming=asked.stream)


@router.post(
    "/chat/run",
    summary="Ask, as a reader",
    response_model=ChatRunResponse,
    responses=answer("The answer", MESSAGE_DIALECT, stream=False)
    | failures(*GUARD, *BODY, KeyConflict, *SERVICES, dialects=(MESSAGE_DIALECT,)),
)
async def chat_run(
    request: Request,
    asked: Annotated[ChatRunRequest, Body(openapi_examples=MESSAGE_EXAMPLES)],
    idempotency_key: IdempotencyKey = None,
) -> Response:
    return await answered(request, _reader(request, asked), idempotency_key, streaming=False)


class EitherDialectRoute(ReaderRoute):
    """The body names the dialect, so it is read before anything that can be refused."""

    async def checked(self, request: Request) -> Request:
        raw = await raw_body(request)
        try:
            body = await parsed(raw)
            exchange_of(request).dialect = dialect_of(body)
        except InvalidInputError:
            await admitted(request, self.policy, self.audience)
            raise
        await admitted(request, self.policy, self.audience)
        return ParsedRequest(request, raw, body)


def _tag(body: object) -> str:
    return "dialect[reader]" if isinstance(body, Mapping) and "message" in body else "dialect[developer]"


EitherBody = Annotated[
    Annotated[ChatRequest, Tag("dialect[developer]")] | Annotated[ChatRunRequest, Tag("dialect[reader]")],
    Discriminator(_tag),
]


either = APIRouter(route_class=EitherDialectRoute)


@either.post(
    "/chat/stream",
    summary="Ask, as either, and read the answer while it is made",
    response_class=Response,
    responses=answer(
        "Events. Readers get named ones, developers get `data` with a `type`. A failure after the first event is the "
        "last event.",
        QUERY_DIALECT,
        MESSAGE_DIALECT,
        one=False,
    )
    | failures(*GUARD, *BODY, KeyConflict, *SERVICES, dialects=(QUERY_DIALECT, MESSAGE_DIALECT)),
)
async def chat_stream(
    request: Request,
    asked: Annotated[EitherBody, Body(openapi_examples=QUERY_EXAMPLES | MESSAGE_EXAMPLES)],
    idempotency_key: IdempotencyKey = None,
) -> Response:
    question = _developer(request, asked) if isinstance(asked, ChatRequest) else _reader(request, asked)
    return await answered(request, question, idempotency_key, streaming=True)


router.include_router(either)


def _developer(request: Request, asked: ChatRequest) -> Question:
    return QUERY_DIALECT.question(asked, new_session_id=new_session_id(), request_id=exchange_of(request).request_id)


def _reader(request: Request, asked: ChatRunRequest) -> Question:
    return MESSAGE_DIALECT.question(asked, request_id=exchange_of(request).request_id)


def dialect_of(body: Json) -> Dialect:
    """Raises InvalidInputError when the body speaks both dialects or neither."""
    dialects: dict[str, Dialect] = {"query": QUERY_DIALECT, "message": MESSAGE_DIALECT}
    spoken = [dialect for field, dialect in dialects.items() if isinstance(body, Mapping) and field in body]
    if len(spoken) == 1:
        return spoken[0]
    found = "both" if spoken else "neither"
    raise InvalidInputError(f"Of query and message the body must have exactly one; it has {found}.", field="query")


async def answered(request: Request, question: Question, key: str | None, *, streaming: bool) -> Response:
    """Ask the engine and let the exchange's dialect speak, in one reply or in events."""
    state, exchange, owner = state_of(request), exchange_of(request), caller_of(request).owner
    question = replace(question, owner=owner)
    standing = await state.rate_limiter.admit("session", f"{question.session_id}{owner}")
    exchange.rate_limits.append(standing)
    standing.check()
    log("chat", "question received", query_length=len(question.text), session=short(question.session_id))
    run, headers = await _begun(request, question, key)
    if not streaming:
        answer = await unless_gone(request.receive, run.answer())
        return Response(exchange.dialect.reply(answer), headers=headers, media_type="application/json")
    rendering = exchange.dialect.stream(exchange.request_id)
    shown = await unless_gone(request.receive, run.until_shown(rendering))
    return EventStream(
        run,
        rendering,
        shown,
        heartbeat_seconds=state.options.heartbeat_seconds,
        send_seconds=state.options.send_seconds,
        headers=headers,
    )


async def _begun(request: Request, question: Question, key: str | None) -> tuple[AnswerRun, dict[str, str]]:
    """A run of the engine, or of a kept answer. What it takes is freed when the exchange ends."""
    state, exchange, caller = state_of(request), exchange_of(request), caller_of(request)
    found = None if key is None else await state.idempotency.begin(caller.name, key, await request.body())
    seen: list[AnswerEvent] = []
    if isinstance(found, KeyClaim):
        exchange.held.push_async_callback(state.idempotency.end, found, seen)
    is_kept = isinstance(found, tuple)
    if not is_kept:
        exchange.held.push_async_callback(await state.concurrency.take())
    run = AnswerRun(
        replayed(found) if isinstance(found, tuple) else state.parts.engine.stream(question),
        seen=seen,
        open_runs=state.open_runs,
        metrics=state.metrics,
        dialect=exchange.dialect.name,
        query_length=len(question.text),
    )
    exchange.held.push_async_callback(run.aclose)
    return run, {"idempotency-replayed": "true"} if is_kept else {}
