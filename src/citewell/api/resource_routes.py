"""The other routes: health, metrics, sessions, the book's pages, the documentation, the demo page."""

from datetime import UTC, datetime

from fastapi import APIRouter, Request, Response

from citewell.api import documents, resources
from citewell.api.body import parse
from citewell.api.book import PageFiles
from citewell.api.headers import check_version
from citewell.api.routes import admitted, raw_body
from citewell.api.state import ApiState, state_of
from citewell.conversations.sessions import session_id_of
from citewell.errors import CitewellError, InvalidInputError

JSON = "application/json"
MAX_TURNS = 100
MAX_TURN_ID = 64


def resource_router(page: PageFiles, manual: PageFiles) -> APIRouter:
    router = APIRouter(default_response_class=Response)
    _add_health(router)
    _add_sessions(router)
    _add_book(router)
    _add_pages(router, page, manual)
    return router


def _json(body: bytes, status: int = 200) -> Response:
    return Response(body, status, media_type=JSON)


def _add_health(router: APIRouter) -> None:
    @router.get("/health", openapi_extra=documents.HEALTH)
    async def health(request: Request) -> Response:
        state = state_of(request)
        found = await state.health.look()
        body = resources.health_reply(found, state.options.version)
        return _json(body, 503 if found.status == "unhealthy" else 200)

    @router.get("/health/live", openapi_extra=documents.LIVE)
    async def live(request: Request) -> Response:
        del request
        return _json(resources.encoded(resources.LiveResponse()))

    @router.get("/health/ready", openapi_extra=documents.READY)
    async def ready(request: Request) -> Response:
        state = state_of(request)
        reason = await _not_ready(state)
        reply = resources.ReadyResponse(status="not_ready" if reason else "ready", reason=reason)
        return _json(resources.encoded(reply), 503 if reason else 200)

    @router.get("/metrics", openapi_extra=documents.METRICS)
    async def metrics(request: Request) -> Response:
        state = state_of(request)
        state.keys.check(request.headers)
        body = state.metrics.exposition(open_questions=state.slots.taken, generation_age=await _generation_age(state))
        return Response(body, headers={"content-type": state.metrics.content_type})


async def _not_ready(state: ApiState) -> str | None:
    if state.running.stops_at is not None:
        return "The server is stopping"
    if not state.warm.is_set():
        return "The server is warming up"
    return (await state.health.look()).reason


async def _generation_age(state: ApiState) -> float | None:
    if state.parts.generation is None:
        return None
    try:
        return (datetime.now(UTC) - (await state.parts.generation()).created_at).total_seconds()
    except CitewellError:
        return None


def _add_sessions(router: APIRouter) -> None:
    @router.get("/sessions/{session_id}", openapi_extra=documents.SESSION)
    async def session(request: Request) -> Response:
        await admitted(request)
        session_id = session_id_of(request.path_params["session_id"])
        page = await state_of(request).parts.conversations.session(
            session_id, limit=_limit(request), before=_before(request)
        )
        return _json(resources.session_reply(session_id, page))

    @router.delete("/sessions/{session_id}", openapi_extra=documents.DELETE_SESSION)
    async def delete_session(request: Request) -> Response:
        await admitted(request)
        session_id = session_id_of(request.path_params["session_id"])
        deleted = await state_of(request).parts.conversations.delete_session(session_id)
        return _json(resources.encoded(resources.DeletedResponse(deleted_turns=deleted)))

    @router.post("/sessions/{session_id}/turns/{turn_id}/feedback", status_code=204, openapi_extra=documents.FEEDBACK)
    async def feedback(request: Request) -> Response:
        await admitted(request)
        state = state_of(request)
        session_id = session_id_of(request.path_params["session_id"])
        rating, comment = resources.feedback_of(parse(await raw_body(request)))
        await state.parts.conversations.feedback(session_id, request.path_params["turn_id"], rating, comment)
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


def _add_book(router: APIRouter) -> None:
    @router.get("/book/pages", openapi_extra=documents.PAGES)
    async def pages(request: Request) -> Response:
        state = state_of(request)
        state.keys.check(request.headers)
        check_version(request.headers)
        return _json(resources.pages_reply(await state.book.contents()))

    @router.get("/book/questions", openapi_extra=documents.QUESTIONS)
    async def questions(request: Request) -> Response:
        state = state_of(request)
        state.keys.check(request.headers)
        check_version(request.headers)
        return _json(resources.questions_reply(await state.book.questions()))

    @router.get("/book/page", openapi_extra=documents.PAGE)
    async def page(request: Request) -> Response:
        state = state_of(request)
        state.keys.check(request.headers)
        check_version(request.headers)
        url = request.query_params.get("url", "")
        if not 1 <= len(url) <= 2000 or "\0" in url:
            raise InvalidInputError("url is required: the URL of a page as /book/pages lists it.", field="url")
        entry, markdown = await state.book.page(url)
        return _json(resources.page_reply(entry, markdown))


def _add_pages(router: APIRouter, page: PageFiles, manual: PageFiles) -> None:
    @router.get("/", include_in_schema=False)
    async def home(request: Request) -> Response:
        del request
        return page.response("index.html")

    @router.get("/page/{name:path}", include_in_schema=False)
    async def page_file(request: Request) -> Response:
        return page.response(request.path_params["name"])

    @router.get("/docs", include_in_schema=False)
    async def docs(request: Request) -> Response:
        del request
        return manual.response("index.html")

    @router.get("/apidocs/{name:path}", include_in_schema=False)
    async def docs_file(request: Request) -> Response:
        return manual.response(request.path_params["name"])
