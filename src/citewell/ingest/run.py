"""A run: pages read, split, compared with the old generation, embedded where new, written, and published in one step.

Three stages work side by side with little between them: reading and splitting, embedding, writing.
"""

import asyncio
import hashlib
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import numpy as np

from citewell.embedding import Embedder
from citewell.errors import IngestError, TooManyFailuresError
from citewell.index import Draft, IndexWriter
from citewell.ingest.report import Configuration, IngestOptions, IngestReport, PageShare, Phase, Progress, Statistics
from citewell.ingest.share import letters
from citewell.ingest.sources import Failure, LeftOut, Outcome, PageRead, PageUnchanged, Source, Validators
from citewell.ingest.splitting import Limit, split
from citewell.ingest.state import State, load_state, save_state
from citewell.instructions import instructions_in
from citewell.values import Page, Passage, Vector

_PAGES_WAITING = 32
_BATCHES_WAITING = 2
_SHOWN = 80
"""Characters of a sentence that the report names."""
_ADDRESSES_MODEL = "a sentence addresses a model; answers quote it only when such things are asked about"
_NAMED = 100
"""Failed pages that the error of a failed run names in its notes."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """A passage on its way; carried-over ones bring their vector."""

    passage: Passage
    vector: Vector | None = None


async def ingest(
    source: Source,
    writer: IndexWriter,
    embedder: Embedder,
    options: IngestOptions,
    progress: Callable[[Progress], None],
) -> IngestReport:
    """Make and publish a generation of what the source holds.

    Raises IngestRunningError while another run is at work, TooManyFailuresError, or IngestError when there is nothing
    to publish; readers then keep what they had.
    """
    started_at = datetime.now(UTC)
    draft = await writer.begin(embedder=embedder.name, dimensions=embedder.dimensions)
    try:
        current = await writer.current_id()
        fingerprint = await source.fingerprint()
        state = await asyncio.to_thread(load_state, options.state_dir)
        is_same = state.generation == current and state.embedder == embedder.name
        if not is_same or not await draft.has_old():
            state = State()
        run = _IngestRun(source, draft, embedder, options, progress, state)
        run.can_carry_vectors = any(g.id == current and g.embedder == embedder.name for g in await writer.generations())
        if fingerprint and fingerprint == state.fingerprint:
            run.nothing_to_read()
        else:
            await run.stages()
            run.check()
        generation = state.generation
        run.tell("publishing")
        if run.is_unchanged:
            await draft.discard()
        else:
            generation = (await draft.publish()).id
    except BaseException:
        await draft.discard()
        raise
    await asyncio.to_thread(save_state, options.state_dir, run.state(generation, fingerprint))
    run.tell("done")
    return run.report(generation, started_at)


class _IngestRun:
    def __init__(
        self,
        source: Source,
        draft: Draft,
        embedder: Embedder,
        options: IngestOptions,
        progress: Callable[[Progress], None],
        old_state: State,
    ) -> None:
        self.can_carry_vectors = False
        self._old_state = old_state
        self._old_urls: set[str] = set()
        self._kept_urls: set[str] = set()
        self._validators: dict[str, Validators] = {}
        self._source = source
        self._draft = draft
        self._embedder = embedder
        self._options = options
        self._progress = progress
        self._failures: list[Failure] = []
        self._left_out: list[LeftOut] = []
        self._shares: list[PageShare] = []
        self._urls: set[str] = set()
        self._read = 0
        self._lost = 0
        self._written = 0
        self._embedded = 0
        self._is_same_source = False
        self._page_digest = hashlib.sha256()
        self._passage_digest = hashlib.sha256(f"{embedder.name} {embedder.dimensions}".encode())

    async def stages(self) -> None:
        pages: asyncio.Queue[list[_Entry] | None] = asyncio.Queue(_PAGES_WAITING)
        batches: asyncio.Queue[tuple[list[Passage], Vector] | None] = asyncio.Queue(_BATCHES_WAITING)
        try:
            async with asyncio.TaskGroup() as group:
                group.create_task(self._reading(pages))
                group.create_task(self._embedding(pages, batches))
                group.create_task(self._writing(batches))
        except BaseExceptionGroup as errors:
            raise _first(errors) from errors

    async def _reading(self, pages: asyncio.Queue[list[_Entry] | None]) -> None:
        self._old_urls = {entry.url for entry in await self._draft.old_pages()}
        known = {url: v for url, v in self._old_state.validators.items() if url in self._old_urls}
        limit = Limit(self._embedder.count_tokens, self._embedder.max_tokens)
        outcomes = self._source.read(known)
        try:
            async for outcome in outcomes:
                entries = await self._entries(outcome, limit)
                self.tell("reading")
                await pages.put(entries)
        finally:
            await outcomes.aclose()
        await pages.put(None)

    async def _entries(self, outcome: Outcome, limit: Limit) -> list[_Entry]:
        match outcome:
            case PageRead(page, problems, validators, stands):
                if page.url in self._urls:
                    return await self._failed(
                        Failure(page.url, "duplicate_url", "Another page has the same address; this one was left out.")
                    )
                self._urls.add(page.url)
                self._read += 1
                self._failures.extend(problems)
                came = letters(page.text)
                self._shares.append(PageShare(page.url, min(1.0, came / stands) if stands else 1.0, came))
                if validators is not None:
                    self._validators[page.url] = validators
                await self._keep(page)
                said, passages = await asyncio.to_thread(_looked_through, page, limit)
                self._left_out += [LeftOut(f"{page.url}: {each[:_SHOWN]}", _ADDRESSES_MODEL) for each in said]
                return [_Entry(passage) for passage in passages]
            case PageUnchanged(url, validators):
                self._urls.add(url)
                self._read += 1
                self._validators[url] = validators
                return await self._carried(url)
            case LeftOut():
                self._left_out.append(outcome)
                return []
            case Failure():
                return await self._failed(outcome)

    async def _failed(self, failure: Failure) -> list[_Entry]:
        self._failures.append(failure)
        if not failure.is_lost:
            self._read += 1
            return []
        self._lost += 1
        if failure.url in self._urls:
            return []
        self._urls.add(failure.url)
        if failure.is_gone:
            return []
        return await self._carried(failure.url)

    async def _keep(self, page: Page) -> None:
        self._page_digest.update((await self._draft.add_page(page)).encode())

    async def _carried(self, url: str) -> list[_Entry]:
        page = await self._draft.old_page(url)
        if page is not None:
            await self._keep(page)
        old = await self._draft.old_passages(url)
        return [_Entry(passage, vector if self.can_carry_vectors else None) for passage, vector in old]

    async def _embedding(
        self, pages: asyncio.Queue[list[_Entry] | None], batches: asyncio.Queue[tuple[list[Passage], Vector] | None]
    ) -> None:
        size = self._options.batch_passages
        waiting: list[_Entry] = []
        while (entries := await pages.get()) is not None:
            waiting += entries
            while len(waiting) >= size:
                await batches.put(await self._with_vectors(waiting[:size]))
                del waiting[:size]
        if waiting:
            await batches.put(await self._with_vectors(waiting))
        await batches.put(None)

    async def _with_vectors(self, entries: Sequence[_Entry]) -> tuple[list[Passage], Vector]:
        """Vectors that exist are kept; of each text that is new, one is made."""
        bare = list(dict.fromkeys(e.passage.content_hash for e in entries if e.vector is None))
        vectors = dict(await self._draft.known_vectors(bare)) if bare else {}
        new = {
            e.passage.content_hash: e.passage.embedded_text
            for e in entries
            if e.vector is None and e.passage.content_hash not in vectors
        }
        if new:
            made = await self._embedder.embed_passages(list(new.values()))
            vectors.update(zip(new, made, strict=True))
        self._embedded += sum(1 for e in entries if e.passage.content_hash in new)
        rows = [e.vector if e.vector is not None else vectors[e.passage.content_hash] for e in entries]
        return [e.passage for e in entries], np.asarray(rows, dtype=np.float32)

    async def _writing(self, batches: asyncio.Queue[tuple[list[Passage], Vector] | None]) -> None:
        while (batch := await batches.get()) is not None:
            passages, vectors = batch
            await self._draft.add(passages, vectors)
            self._written += len(passages)
            for passage in passages:
                if passage.url in self._old_urls:
                    self._kept_urls.add(passage.url)
                self._passage_digest.update(_trace(passage).encode("utf-8", "surrogatepass"))
            self.tell("reading")

    def nothing_to_read(self) -> None:
        """The source is what it was: the old generation serves on."""
        self._is_same_source = True
        self._read = self._old_state.pages
        self._written = self._old_state.passages

    @property
    def _digest(self) -> str:
        return self._passage_digest.hexdigest() + self._page_digest.hexdigest()

    @property
    def is_unchanged(self) -> bool:
        same = self._is_same_source or self._old_state.digest == self._digest
        return bool(self._old_state.generation) and same

    def state(self, generation: str, fingerprint: str) -> State:
        if self._is_same_source:
            return self._old_state
        return State(
            generation=generation,
            embedder=self._embedder.name,
            digest=self._digest,
            fingerprint="" if self._failures else fingerprint,
            pages=self._read,
            passages=self._written,
            validators=self._validators,
        )

    def check(self) -> None:
        attempted = self._read + self._lost
        if not attempted:
            raise IngestError(f"No pages were found in {self._name}. Nothing was published.")
        if self._lost > self._options.max_failure_share * attempted:
            failures = [f for f in self._failures if f.is_lost]
            first = failures[0]
            error = TooManyFailuresError(
                f"{self._lost:,} of {attempted:,} pages failed, more than {self._options.max_failure_share:.0%}. "
                f"Nothing was published. The first: {first.url}: {first.error_message}"
            )
            for failure in failures[:_NAMED]:
                error.add_note(f"{failure.url}: {failure.error_message}")
            raise error
        if not self._written:
            raise IngestError(f"The pages of {self._name} have no text. Nothing was published.")

    def tell(self, phase: Phase) -> None:
        done = self._read + self._lost
        total = max(self._source.discovered, done, 1)
        self._progress(Progress(done, total, self._written, self._embedded, phase))

    def report(self, generation: str, started_at: datetime) -> IngestReport:
        attempted = self._read + self._lost
        return IngestReport(
            run_id=str(uuid.uuid4()),
            started_at=started_at,
            completed_at=datetime.now(UTC),
            source_base_url=self._source.base_url,
            statistics=Statistics(
                urls_discovered=max(self._source.discovered, attempted),
                urls_attempted=attempted,
                urls_successful=self._read,
                urls_failed=self._lost,
                chunks_created=self._written,
                vectors_upserted=self._embedded,
                vectors_unchanged=self._written - self._embedded,
                pages_before=self._old_state.pages if self._is_same_source else len(self._old_urls),
                pages_gone=len(self._old_urls - self._kept_urls),
            ),
            failures=tuple(self._failures),
            left_out=tuple(self._left_out),
            pages=tuple(self._shares),
            configuration=Configuration(
                embedder=self._embedder.name,
                dimensions=self._embedder.dimensions,
                max_tokens=self._embedder.max_tokens,
                max_failure_share=self._options.max_failure_share,
                generation=generation,
                is_new=not self.is_unchanged,
            ),
        )

    @property
    def _name(self) -> str:
        return str(self._source.folder or self._source.base_url)


def _looked_through(page: Page, limit: Limit) -> tuple[list[str], list[Passage]]:
    return instructions_in(page), split(page, limit)


def _trace(p: Passage) -> str:
    """Everything about a passage that the index keeps."""
    place = (p.id, p.chunk_index, p.char_start, p.anchor, p.heading_path, p.page_number)
    return f"{(*place, p.module, p.language, p.version)}\n"


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error
