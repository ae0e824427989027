"""The book's pages, its table of contents and questions to begin with: routes and every name on the wire."""

import json

from fastapi import APIRouter, Request, Response

from citewell.api import documents
from citewell.api.dialects.wire import Wire, encoded
from citewell.api.headers import check_version
from citewell.api.middleware import json_reply
from citewell.api.state import state_of
from citewell.errors import InvalidInputError
from citewell.models import PageEntry

router = APIRouter(default_response_class=Response)


class PageListEntry(Wire):
    url: str
    title: str
    module: str


class PageResponse(Wire):
    url: str
    title: str
    markdown: str


@router.get("/book/pages", openapi_extra=documents.PAGES)
async def pages(request: Request) -> Response:
    state = state_of(request)
    state.keys.check(request.headers)
    check_version(request.headers)
    return json_reply(pages_reply(await state.book.contents()))


@router.get("/book/questions", openapi_extra=documents.QUESTIONS)
async def questions(request: Request) -> Response:
    state = state_of(request)
    state.keys.check(request.headers)
    check_version(request.headers)
    return json_reply(questions_reply(await state.book.questions()))


@router.get("/book/page", openapi_extra=documents.PAGE)
async def page(request: Request) -> Response:
    state = state_of(request)
    state.keys.check(request.headers)
    check_version(request.headers)
    url = request.query_params.get("url", "")
    if not 1 <= len(url) <= 2000 or "\0" in url:
        raise InvalidInputError("url is required: the URL of a page as /book/pages lists it.", field="url")
    entry, markdown = await state.book.page(url)
    return json_reply(page_reply(entry, markdown))


def pages_reply(pages: list[PageEntry]) -> bytes:
    entries = [PageListEntry(url=page.url, title=page.title, module=page.module) for page in pages]
    return b"[" + b",".join(encoded(entry) for entry in entries) + b"]"


def questions_reply(questions: list[str]) -> bytes:
    return json.dumps(questions, ensure_ascii=False).encode()


def page_reply(page: PageEntry, markdown: str) -> bytes:
    return encoded(PageResponse(url=page.url, title=page.title, markdown=markdown))
