"""Book, the public API: a folder of data, and what can be done with it. Thin: the work is done by the parts below.

Nothing heavy is imported or opened before it is needed: searching opens no database, ingesting no agent.
"""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self, TypedDict, Unpack

from citewell.conversations import new_session_id, session_id_of
from citewell.errors import InvalidInputError
from citewell.models import RetrievalRequest
from citewell.retrieval import Found
from citewell.settings import Settings
from citewell.values import (
    Answer,
    AnswerEvent,
    Completed,
    Failed,
    Message,
    Mode,
    Page,
    PageEntry,
    Passage,
    Question,
    filters_of,
    trimmed,
)
from citewell.wiring import (
    Judging,
    Parts,
    Seams,
    Searching,
    migrate_conversations,
    open_judging,
    open_parts,
    open_searching,
    open_writer,
)

if TYPE_CHECKING:
    from citewell.answering.engine import Engine
    from citewell.answering.hosted_model import HostedModel
    from citewell.contracts import DeterminismRecord
    from citewell.embedding import Embedder
    from citewell.index import IndexWriter, PassageIndex
    from citewell.ingest import IngestReport, Progress
    from citewell.judge import Checked, Judge
    from citewell.reader import Reader

MAX_SELECTION = 10_000


class Asking(TypedDict, total=False):
    """How a question may be asked. All of it may be left out."""

    selected_text: str
    """Answer from this text alone; the book is not searched."""
    context: str
    """What the reader looks at: answered from when it holds the answer, else a hint for the search."""
    session_id: str
    """A UUID v4: earlier turns of the session are taken into account. Without one the question stands alone."""
    history: Sequence[Message]
    """Earlier turns, in place of those that are stored for the session."""
    top_k: int
    """Passages to retrieve, 1 to 100; 5 when left out."""
    score_threshold: float
    """The smallest similarity that counts, 0 to 1; 0.3 when left out."""
    filters: Mapping[str, str | Sequence[str]]
    """Only pages with these values, such as `{"module": "Perception"}`."""


class Ingesting(TypedDict, total=False):
    """How a source may be read. All of it may be left out."""

    base_url: str
    """What the addresses of a folder's pages begin with."""
    allow_hosts: Sequence[str]
    """Hosts that may be read although their address is private."""
    max_failure_share: float
    """The share of pages that may fail before nothing is published; 0.05 when left out."""
    progress: "Callable[[Progress], None]"
    """Called while the run goes on."""


class Book:
    """A book that can be ingested, searched and asked. Made by `citewell.open`, and closed by leaving `async with`."""

    def __init__(self, settings: Settings, seams: Seams) -> None:
        self._settings = settings
        self._seams = seams
        self._opened = contextlib.AsyncExitStack()
        self._opening = asyncio.Lock()
        self._searching: Searching | None = None
        self._parts: Parts | None = None
        self._judging: Judging | None = None
        self._is_migrated = False
        self._is_loaded = False

    @property
    def folder(self) -> Path:
        """Where the index and the conversations are."""
        return self._settings.citewell_data_dir

    def __repr__(self) -> str:
        return f"Book({str(self.folder)!r})"

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._searching = self._parts = self._judging = None
        await self._opened.__aexit__(kind, error, trace)

    async def ingest(self, source: str | Path, **how: Unpack[Ingesting]) -> "IngestReport":
        """Read a folder, a file or a site into a new index and publish it in one step.

        Unchanged text is not embedded again. Raises IngestError when nothing could be published; what was there
        before serves on.
        """
        from citewell.ingest import IngestOptions, ingest, source_of

        options = IngestOptions(
            base_url=how.get("base_url", ""),
            allow_hosts=frozenset(how.get("allow_hosts", ())),
            max_failure_share=how.get("max_failure_share", 0.05),
            state_dir=self.folder,
        )
        where = source_of(str(source), options)
        searching = await self.searching()
        async with open_writer(self._settings, self._seams) as writer:
            return await ingest(where, writer, searching.embedder, options, how.get("progress", lambda _: None))

    async def watch(self, source: str | Path, **how: Unpack[Ingesting]) -> AsyncGenerator["IngestReport", None]:
        """Ingest a folder now and after each change to it; yields the report of each run."""
        from citewell.ingest import IngestOptions, changes, source_of

        yield await self.ingest(source, **how)
        async for _ in changes(source_of(str(source), IngestOptions(base_url=how.get("base_url", "")))):
            yield await self.ingest(source, **how)

    async def ask(self, question: str, **how: Unpack[Asking]) -> Answer:
        """The whole answer. A refusal is an answer too: its status says so. Raises CitewellError."""
        async with contextlib.aclosing(self.stream(question, **how)) as events:
            async for event in events:
                if isinstance(event, Completed):
                    return event.answer
        raise AssertionError("a stream ends with Completed or raises")

    async def stream(self, question: str, **how: Unpack[Asking]) -> AsyncGenerator[AnswerEvent, None]:
        """What happens while the answer is made: searches, text that is checked already, and last Completed."""
        asked = _question(question, how)
        engine = await self.engine()
        async with contextlib.aclosing(engine.stream(asked)) as events:
            async for event in events:
                if isinstance(event, Failed):
                    raise event.error
                yield event

    async def search(
        self,
        query: str,
        *,
        top_k: int = 5,
        score_threshold: float | None = None,
        filters: Mapping[str, str | Sequence[str]] | None = None,
    ) -> Found:
        """The passages that the query finds, best first."""
        asked = RetrievalRequest(query, top_k, score_threshold, filters)
        retriever = (await self.searching()).retriever
        if not self._is_loaded and self._seams.embedder is None and self._settings.embedder == "builtin":
            await retriever.warm()  # else the seconds of the first search would be spent on loading
        self._is_loaded = True
        return await retriever.search(
            asked.query, top_k=top_k, score_threshold=score_threshold, filters=filters_of(filters)
        )

    async def pages(self) -> list[PageEntry]:
        """The table of contents."""
        return await (await self.searching()).retriever.pages()

    async def page(self, url: str) -> Page | None:
        """A page as Markdown and as blocks, by its address without an anchor."""
        return await (await self.searching()).retriever.page(url)

    async def check(self, text: str, passages: Sequence[str] | None = None) -> "Checked":
        """Each sentence of a text against the passages, or against the book when none are given."""
        from citewell.judge import Checked, check, check_with, checkable, passage_of

        checkable(text)
        async with self._opening:
            judge = (await self._open_judging()).judge
        if passages is not None:
            given = [passage_of(passage, number) for number, passage in enumerate(passages, start=1)]
            return Checked(tuple(await check(text, given, judge)), tuple(given))

        async def search(sentence: str) -> list[Passage]:
            return [found.passage for found in (await self.search(sentence[:2000], top_k=3)).passages]

        return await check_with(search, text, judge)

    async def verify(self, question: str, **how: Unpack[Asking]) -> "DeterminismRecord":
        """Answer afresh and say whether the same input gave the same output."""
        return await (await self.engine()).verify(_question(question, how))

    async def searching(self) -> Searching:
        """The open parts for searching; opened at the first call."""
        async with self._opening:
            return await self._open_searching()

    async def parts(self) -> Parts:
        """All open parts; opened at the first call. The database is as it is found: `engine` brings it up to date."""
        async with self._opening:
            if self._parts is None:
                searching = await self._open_searching()
                opening = open_parts(self._settings, self._seams, searching, await self._open_judging())
                self._parts = await self._opened.enter_async_context(opening)
            return self._parts

    async def _open_judging(self) -> Judging:
        if self._judging is None:
            self._judging = await self._opened.enter_async_context(open_judging(self._settings, self._seams))
        return self._judging

    async def _open_searching(self) -> Searching:
        if self._searching is None:
            opening = open_searching(self._settings, self._seams)
            self._searching = await self._opened.enter_async_context(opening)
        return self._searching

    async def engine(self) -> "Engine":
        """What answers, on a database that is up to date."""
        if not self._is_migrated:
            await migrate_conversations(self._settings)
            self._is_migrated = True
        return (await self.parts()).engine


def open(  # noqa: A001 read as citewell.open
    folder: str | Path | None = None,
    *,
    settings: Settings | None = None,
    embedder: "Embedder | None" = None,
    index: "PassageIndex | None" = None,
    writer: "IndexWriter | None" = None,
    judge: "Judge | None" = None,
    reader: "Reader | None" = None,
    model: "HostedModel | None" = None,
) -> Book:
    """A book in `folder`, for `async with`. Nothing is opened yet.

    What is not given comes from `settings`, and these from the environment. What is given stays the caller's to close.
    """
    chosen = settings or Settings.from_environment()
    if folder is not None:
        chosen = chosen.model_copy(update={"citewell_data_dir": Path(folder)})
    return Book(chosen, Seams(embedder=embedder, index=index, writer=writer, judge=judge, reader=reader, model=model))


def _question(text: str, how: Asking) -> Question:
    selected, context = how.get("selected_text"), how.get("context")
    if selected is not None and context is not None:
        raise InvalidInputError("Pass `selected_text`, which confines the answer, or `context`, which helps; not both.")
    top_k, threshold, filters = how.get("top_k", 5), how.get("score_threshold"), how.get("filters")
    asked = RetrievalRequest(text, top_k, threshold, filters)
    session, history = how.get("session_id"), how.get("history")
    mode: Mode = "general" if selected is None else "selected_text"
    if history is None and session is None:
        history = ()
    return Question(
        text=asked.query,
        session_id=new_session_id() if session is None else session_id_of(session),
        mode=mode,
        selection=_selection(selected if selected is not None else context),
        history=None if history is None else tuple(history),
        top_k=top_k,
        score_threshold=threshold,
        filters=filters_of(filters),
    )


def _selection(text: str | None) -> str | None:
    if text is not None and not 1 <= len(trimmed(text)) <= MAX_SELECTION:
        raise InvalidInputError(
            f"The selected text has {len(trimmed(text)):,} characters; it needs 1 to {MAX_SELECTION:,}.",
            field="selected_text",
        )
    return text
