"""The book's pages, its table of contents and questions to begin with: routes and every name on the wire."""

import json
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from citewell.api.app_state import state_of
from citewell.api.dialects.wire import WholeReply, Wire, dumped, encoded
from citewell.api.guarded_route import BookRoute
from citewell.api.middleware import json_reply, rendered
from citewell.api.openapi import GUARD, KEYED, LIMITS, SERVICES, Kinds, failures, reply
from citewell.document import Block, Part, Table, blocks_to_json, content
from citewell.errors import InvalidInputError, NotFoundError
from citewell.values import Page, PageEntry


class BookResponse(WholeReply):
    name: str = Field(description="BOOK_TITLE, else the title of the page at the book's root; may be empty")
    pages: int


class PageListEntry(WholeReply):
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


router = APIRouter(tags=["book"], dependencies=KEYED, route_class=BookRoute)
_READING: Kinds = (*GUARD, *SERVICES)


@router.get(
    "/book",
    summary="The book's name and size",
    response_model=BookResponse,
    responses=reply("The book", *LIMITS) | failures(*_READING),
)
async def book(request: Request) -> Response:
    state = state_of(request)
    contents = await state.book.contents()
    name = state.options.book_title or await state.book.root_title()
    return json_reply(encoded(BookResponse(name=name, pages=len(contents))))


@router.get(
    "/book/pages",
    summary="The book's table of contents",
    response_model=list[PageListEntry],
    responses=reply("Pages in the order of the book", *LIMITS) | failures(*_READING),
)
async def pages(request: Request) -> Response:
    return await rendered(pages_reply, await state_of(request).book.contents())


@router.get(
    "/book/questions",
    summary="Questions to begin with, from the book's headings",
    response_model=list[str],
    responses=reply("At most four, in the order of the book; each is one that the search finds", *LIMITS)
    | failures(*_READING, InvalidInputError),
)
async def questions(
    request: Request,
    url: Annotated[
        str,
        Query(
            max_length=2000,
            pattern=r"^[^\x00]*$",
            description="The page that the reader is on: its own questions, if it has some",
            examples=["/docs/intro"],
        ),
    ] = "",
) -> Response:
    offered = await state_of(request).book.questions(url)
    return json_reply(json.dumps(offered, ensure_ascii=False).encode())


@router.get(
    "/book/page",
    summary="A page of the book",
    response_model=PageResponse,
    responses=reply("The page as Markdown and as blocks", *LIMITS)
    | failures(*_READING, InvalidInputError, NotFoundError),
)
async def page(
    request: Request,
    url: Annotated[
        str,
        Query(
            min_length=1,
            max_length=2000,
            pattern=r"^[^\x00]+$",
            description="As /book/pages lists it",
            examples=["/docs/intro"],
        ),
    ],
) -> Response:
    return await rendered(page_reply, await state_of(request).book.page(url))


def pages_reply(pages: list[PageEntry]) -> bytes:
    entries = [PageListEntry(url=page.url, title=page.title, module=page.module) for page in pages]
    return b"[" + b",".join(encoded(entry) for entry in entries) + b"]"


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
