"""Questions: the routes /chat, /chat/run, /chat/stream. They check, ask the engine, and let a dialect speak."""

from collections.abc import Mapping
from dataclasses import replace

from fastapi import APIRouter, Request, Response

from citewell.api.admission.idempotency import Claim
from citewell.api.body import Json, parse
from citewell.api.dialects.message import MESSAGE_DIALECT
from citewell.api.dialects.protocol import Dialect
from citewell.api.dialects.query import QUERY_DIALECT
from citewell.api.documents import CHAT, CHAT_RUN, CHAT_STREAM
from citewell.api.guard import Caller, admitted, raw_body
from citewell.api.middleware import exchange_of
from citewell.api.state import state_of
from citewell.api.streams import AnswerRun, EventStream, replayed, unless_gone
from citewell.conversations.sessions import new_session_id
from citewell.errors import InvalidInputError
from citewell.logs import log, short
from citewell.models import AnswerEvent, Question

router = APIRouter(default_response_class=Response)


@router.post("/chat", openapi_extra=CHAT)
async def chat(request: Request) -> Response:
    caller = await admitted(request)
    raw = await raw_body(request)
    body = parse(raw)
    return await answered(request, caller, raw, body, streaming=QUERY_DIALECT.wants_stream(body))


@router.post("/chat/run", openapi_extra=CHAT_RUN)
async def chat_run(request: Request) -> Response:
    caller = await admitted(request)
    raw = await raw_body(request)
    return await answered(request, caller, raw, parse(raw), streaming=False)


@router.post("/chat/stream", openapi_extra=CHAT_STREAM)
async def chat_stream(request: Request) -> Response:
    # The body names the dialect, so it is read before anything that can be refused.
    raw = await raw_body(request)
    wrong: InvalidInputError | None = None
    body: Json = None
    try:
        body = parse(raw)
        exchange_of(request).dialect = dialect_of(body)
    except InvalidInputError as error:
        wrong = error
    caller = await admitted(request)
    if wrong is not None:
        raise wrong
    return await answered(request, caller, raw, body, streaming=True)


def dialect_of(body: Json) -> Dialect:
    """Raises InvalidInputError when the body speaks both dialects or neither."""
    dialects: tuple[Dialect, ...] = (QUERY_DIALECT, MESSAGE_DIALECT)
    spoken = [dialect for dialect in dialects if isinstance(body, Mapping) and dialect.asks_with in body]
    if len(spoken) == 1:
        return spoken[0]
    names = " and ".join(dialect.asks_with for dialect in dialects)
    found = "both" if spoken else "neither"
    raise InvalidInputError(f"Of {names} the body must have exactly one; it has {found}.", field=dialects[0].asks_with)


async def answered(request: Request, caller: Caller, raw: bytes, body: Json, *, streaming: bool) -> Response:
    """Ask the engine and let the exchange's dialect speak, in one reply or in events."""
    state, exchange = state_of(request), exchange_of(request)
    question = exchange.dialect.question(body, new_session_id=new_session_id(), request_id=exchange.request_id)
    question = replace(question, owner=caller.owner)
    standing = await state.rate_limiter.admit("session", f"{question.session_id}{caller.owner}")
    exchange.rate_limits.append(standing)
    standing.check()
    log("chat", "question received", query_length=len(question.text), session=short(question.session_id))
    run, headers = await _begun(request, caller, question, raw)
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


async def _begun(request: Request, caller: Caller, question: Question, raw: bytes) -> tuple[AnswerRun, dict[str, str]]:
    """A run of the engine, or of a kept answer. What it takes is freed when the exchange ends."""
    state, exchange = state_of(request), exchange_of(request)
    key = request.headers.get("idempotency-key")
    found = None if key is None else await state.idempotency.begin(caller.name, key, raw)
    seen: list[AnswerEvent] = []
    if isinstance(found, Claim):
        exchange.held.push_async_callback(found.end, seen)
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
