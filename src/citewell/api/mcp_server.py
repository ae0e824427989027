"""The book for editors and assistants, over the Model Context Protocol. The only importer of `mcp`.

Three tools render the same engine: `search_documentation`, `ask`, `read_page`. Over HTTP the server is stateless: each
request stands alone, and passes the same keys and limits as every other.
"""

import contextlib
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from typing import Annotated, Any

from pydantic import Field, ValidationError

from citewell import __version__
from citewell.api.body import MAX_BODY, invalid
from citewell.api.options import Answering, ReadableBook
from citewell.contracts import ResponseGeneration, RetrievedContent, response_generation, retrieved_content
from citewell.conversations.session_ids import new_session_id
from citewell.errors import CitewellError, EndlessAnswerError, MissingExtraError
from citewell.models import RetrievalRequest
from citewell.values import FILTER_FIELDS, Completed, Failed, Question, filters_of

try:
    from mcp.server import MCPServer
    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError
    from mcp.server.transport_security import TransportSecuritySettings
    from mcp_types import CallToolResult, InputRequiredResult
    from starlette.types import ASGIApp
except ModuleNotFoundError as error:
    raise MissingExtraError("mcp", error) from error

INSTRUCTIONS = (
    "One book or documentation site. `ask` gives a short answer in which every sentence is checked and cited, or says "
    "that the book does not know. `search_documentation` gives passages. `read_page` gives a whole page as Markdown."
)

_Values = str | Annotated[Sequence[str], Field(max_length=100)]


class BookServer(MCPServer[None]):
    """What is wrong with a call is said as everywhere else, not in the words of the library that found it."""

    async def call_tool(
        self, name: str, arguments: dict[str, Any], context: Context[None, Any] | None = None
    ) -> CallToolResult | InputRequiredResult:
        try:
            return await super().call_tool(name, arguments, context)
        except ToolError as error:
            if isinstance(error.__cause__, ValidationError):
                raise ToolError(str(invalid(error.__cause__.errors(include_url=False)))) from error
            raise


@contextlib.contextmanager
def _told() -> Iterator[None]:
    """Our errors are safe to show to who called a tool."""
    try:
        yield
    except CitewellError as error:
        raise ToolError(str(error)) from error


def mcp_server(engine: Answering, book: ReadableBook) -> MCPServer[None]:
    server = BookServer("citewell", title="Citewell", instructions=INSTRUCTIONS, version=__version__)

    @server.tool(description="Search the book content and return the most relevant chunks with their metadata.")
    async def search_documentation(
        query: str,
        top_k: Annotated[int, Field(ge=1, le=20)] = 5,
        filters: Annotated[Mapping[str, _Values], Field(max_length=len(FILTER_FIELDS))] | None = None,
    ) -> RetrievedContent:
        with _told():
            asked = RetrievalRequest(query, top_k=top_k, filters=filters)
            found = await book.search(asked.query, top_k=asked.top_k, filters=filters_of(filters))
        return retrieved_content(list(enumerate(found.passages, 1)), conflicting=False)

    @server.tool(description="Answer a question from the book alone, with citations, or say that it is not there.")
    async def ask(question: str) -> ResponseGeneration:
        with _told():
            asked = RetrievalRequest(question)  # the same bounds: 1 to 2,000 characters
            stream = engine.stream(Question(text=asked.query, session_id=new_session_id(), history=()))
            async with contextlib.aclosing(stream):
                async for event in stream:
                    match event:
                        case Completed(answer):
                            return response_generation(answer)
                        case Failed(failure):
                            raise failure
            raise EndlessAnswerError

    @server.tool(description="Read a page of the book as Markdown, by its URL without an anchor.")
    async def read_page(url: str) -> str:
        with _told():
            page = await book.page(url.split("#")[0])
        if page is None:
            raise ToolError("There is no such page; search_documentation gives URLs.")
        return page.text

    return server


@contextlib.asynccontextmanager
async def endpoint(engine: Answering, book: ReadableBook) -> AsyncIterator[ASGIApp]:
    """The streamable HTTP transport as an ASGI app."""
    app = mcp_server(engine, book).streamable_http_app(
        stateless_http=True,
        json_response=True,
        max_request_body_size=MAX_BODY,
        # Keys, origins and limits are checked by the API before a request comes here.
        transport_security=TransportSecuritySettings(enable_dns_rebinding_protection=False),
    )
    async with app.router.lifespan_context(app):
        yield app


async def serve_stdio(engine: Answering, book: ReadableBook) -> None:
    """Until standard input ends."""
    await mcp_server(engine, book).run_stdio_async()
