"""The book's pages, its table of contents and questions to begin with: routes and every name on the wire."""

import json
from typing import Literal

from fastapi import APIRouter, Request, Response
from pydantic import Field

from citewell.api import documents
from citewell.api.dialects.wire import Wire, dumped, encoded
from citewell.api.guard import admitted
from citewell.api.middleware import json_reply
from citewell.api.state import state_of
from citewell.document import Block, Part, Table, blocks_to_json, content
from citewell.errors import InvalidInputError
from citewell.models import Page, PageEntry

router = APIRouter(default_response_class=Response)


class PageListEntry(Wire):
    url: str
    title: str
    module: str


class PageBlock(Wire):
    """A block of a page. A field that its type does not have is left out."""

    type: Literal[
        "heading", "paragraph", "list_item", "definition", "table", "code", "formula", "admonition", "tab", "caption"
    ]
    start: int = Field(description="Where the block begins in `markdown`, in code points.")
    end: int
    text: str = Field(description="Inline Markdown; of code and formulas the source; of a table nothing.")
    anchor: str | None = Field(None, description="The fragment of a link to the block.")
    part: Part | None = Field(None, description="What the block is for, when that is not the body of the book.")
    within: list[int] | None = Field(None, description="The blocks that hold this one, outermost first.")
    level: int | None = Field(None, description="Of a heading from 1; of a list item from 0.")
    kind: str | None = Field(None, description="Of an admonition: note, tip, details and so on.")
    title: str | None = None
    marker: str | None = None
    term: str | None = None
    header: list[str] | None = None
    rows: list[list[str]] | None = None
    language: str | None = None
    caption: str | None = None
    label: str | None = None


class PageResponse(Wire):
    url: str
    title: str
    module: str
    language: str
    markdown: str
    blocks: list[PageBlock]


@router.get("/book/pages", openapi_extra=documents.PAGES)
async def pages(request: Request) -> Response:
    state = state_of(request)
    await admitted(request, "book")
    return json_reply(pages_reply(await state.book.contents()))


@router.get("/book/questions", openapi_extra=documents.QUESTIONS)
async def questions(request: Request) -> Response:
    state = state_of(request)
    await admitted(request, "book")
    return json_reply(questions_reply(await state.book.questions()))


@router.get("/book/page", openapi_extra=documents.PAGE)
async def page(request: Request) -> Response:
    state = state_of(request)
    await admitted(request, "book")
    url = request.query_params.get("url", "")
    if not 1 <= len(url) <= 2000 or "\0" in url:
        raise InvalidInputError("url is required: the URL of a page as /book/pages lists it.", field="url")
    return json_reply(page_reply(await state.book.page(url)))


def pages_reply(pages: list[PageEntry]) -> bytes:
    entries = [PageListEntry(url=page.url, title=page.title, module=page.module) for page in pages]
    return b"[" + b",".join(encoded(entry) for entry in entries) + b"]"


def questions_reply(questions: list[str]) -> bytes:
    return json.dumps(questions, ensure_ascii=False).encode()


def page_reply(page: Page) -> bytes:
    reply = PageResponse(
        url=page.url,
        title=page.title,
        module=page.module,
        language=page.language,
        markdown=page.text,
        blocks=[_block(page.text, block) for block in page.blocks],
    )
    return dumped(reply, exclude_unset=True).encode()


def _block(markdown: str, block: Block) -> PageBlock:
    data = blocks_to_json([block])[0]
    if isinstance(block, Table):
        data["rows"] = [list(row.cells) for row in block.rows]
    return PageBlock.model_validate(data | {"text": content(markdown, block)})
