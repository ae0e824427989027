"""Passages in Qdrant Edge, in this process: a reader that follows the published generation, and a writer of new ones.
A run that is killed at any moment leaves the old generation or the new one, whole.
"""

import asyncio
import errno
import secrets
import shutil
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import qdrant_edge as edge

from citewell.errors import (
    CitewellError,
    CollectionNotFoundError,
    IndexDamagedError,
    IngestError,
    SchemaValidationError,
)
from citewell.index import SCHEMA_VERSION, Hint, Hit
from citewell.index.edge_folder import (
    IngestLock,
    current_id,
    generation_folders,
    generations,
    need_space,
    point_to,
    pointer_stamp,
    read_manifest,
    sync,
    sync_tree,
    write_manifest,
)
from citewell.index.edge_shard import OpenGeneration, dense_of, is_panic
from citewell.index.integrity import Integrity, inspected
from citewell.index.page_store import PageWriter
from citewell.index.payload import (
    BM25,
    DENSE,
    FILTERED_FIELDS,
    ContentsTally,
    check_vectors,
    passage_of,
    payload_of,
)
from citewell.index.terms import Bm25Encoder
from citewell.values import Filters, Generation, Page, PageEntry, Passage, Vector

_INDEX_FROM = 250
"""Passages. Below, filtering without a payload index takes under 3 ms, and each index takes longer to make."""
_SPARE_BYTES = 192 * 2**20
"""Edge maps files that it fills later: when the disk runs full the system kills the process instead of raising."""
_BATCH = 256
_RELEASE_EVERY = 40 * _BATCH
"""Passages. Pages of the mapped files stay in memory as long as the shard is open, so it is closed now and then."""

T = TypeVar("T")


class EdgeIndex:
    """The published generation, read by any number of processes side by side."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._encoder = Bm25Encoder()
        self._opening = threading.Lock()
        self._opened: OpenGeneration | None = None
        self._pointer: tuple[int, int] | None = None
        self._damaged: tuple[tuple[int, int], IndexDamagedError] | None = None
        """Damage that was found, and at which pointer. A ping looks again; a question need not pay for it."""

    async def current(self) -> Generation:
        # A look at the pointer is quicker than a change of thread.
        opened = self._as_opened()
        if opened is None:
            opened = await asyncio.to_thread(self._open)
        return opened.generation

    async def ping(self) -> None:
        await asyncio.to_thread(self._ping)

    async def candidates(
        self, text: str, vector: Vector, *, limit: int, filters: Filters, hints: Sequence[Hint] = ()
    ) -> list[Hit]:
        def search(opened: OpenGeneration) -> list[Hit]:
            return opened.candidates(self._encoder.of_query(text, hints), vector, limit, filters)

        return await asyncio.to_thread(self._tried, search)

    async def passages_of(self, url: str) -> list[Passage]:
        return await asyncio.to_thread(self._tried, lambda opened: opened.passages_of(url))

    async def page(self, url: str) -> Page | None:
        return await asyncio.to_thread(self._tried, lambda opened: opened.book.page(url))

    async def pages(self) -> list[PageEntry]:
        return list((await asyncio.to_thread(self._open)).pages)

    async def aclose(self) -> None:
        self._opened = None
        self._pointer = None

    def _tried(self, work: Callable[[OpenGeneration], T]) -> T:
        """Damage is looked for before each search, so that none is ranked by what was not written."""
        opened = self._open()
        try:
            opened.files.check()
            return work(opened)
        except FileNotFoundError:
            return work(opened)  # unlinked by a later run, and still readable
        except IndexDamagedError as error:
            opened.files.forget()
            self._keep(error)
            raise

    def _ping(self) -> None:
        self._damaged = None
        self._tried(OpenGeneration.look)

    def _open(self) -> OpenGeneration:
        """The current generation. Searches under way keep the one they began with."""
        if opened := self._as_opened():
            return opened
        with self._opening:
            pointer = pointer_stamp(self._folder)
            if self._damaged is not None and self._damaged[0] == pointer:
                raise IndexDamagedError(self._damaged[1].found)
            if self._opened is not None and pointer == self._pointer:
                return self._opened
            try:
                self._opened = self._load_current()
            except IndexDamagedError as error:
                self._keep(error)
                raise
            self._pointer = pointer
            return self._opened

    def _keep(self, error: IndexDamagedError) -> None:
        self._damaged = (pointer_stamp(self._folder), error)
        self._opened = self._pointer = None

    def _as_opened(self) -> OpenGeneration | None:
        return self._opened if pointer_stamp(self._folder) == self._pointer else None

    def _load_current(self) -> OpenGeneration:
        # Between reading the pointer and opening the folder, later runs may replace the one and remove the other.
        for _ in range(3):
            name = current_id(self._folder)
            try:
                return OpenGeneration.load(self._folder / "generations" / name)
            except FileNotFoundError:
                continue
        raise SchemaValidationError(f"The index at {self._folder} names a generation that is gone. Ingest again.")


class EdgeWriter:
    def __init__(self, folder: Path, *, spare_bytes: int = _SPARE_BYTES, release_every: int = _RELEASE_EVERY) -> None:
        """`spare_bytes` of the disk are left free; after `release_every` passages memory is given back."""
        self._folder = folder
        self._spare_bytes = spare_bytes
        self._release_every = release_every

    async def begin(self, *, embedder: str, dimensions: int) -> "EdgeDraft":
        # What one thread frees another does not use again: written from any thread, 72,000 passages took 230 MB more.
        thread = ThreadPoolExecutor(1, "draft")
        try:
            return await _in_thread(
                lambda: EdgeDraft(
                    self._folder,
                    embedder,
                    dimensions,
                    thread=thread,
                    spare_bytes=self._spare_bytes,
                    release_every=self._release_every,
                ),
                thread,
            )
        except BaseException:
            thread.shutdown(wait=False)
            raise

    async def generations(self) -> list[Generation]:
        return await _in_thread(lambda: generations(self._folder))

    async def current_id(self) -> str | None:
        try:
            return await asyncio.to_thread(current_id, self._folder)
        except CollectionNotFoundError:
            return None

    async def go_back(self) -> Generation:
        return await _in_thread(self._go_back)

    async def aclose(self) -> None:
        """Nothing stays open between drafts."""

    async def integrity(self) -> Integrity:
        return await _in_thread(lambda: _integrity(self._folder))

    def _go_back(self) -> Generation:
        with IngestLock(self._folder):
            now = current_id(self._folder)
            before = [g for g in generations(self._folder) if g.id < now]
            if not before:
                raise CollectionNotFoundError("There is no generation before the current one.")
            point_to(self._folder, before[0].id)
            return before[0]


class EdgeDraft:
    """Holds the lock from its construction until `publish` or `discard`."""

    def __init__(
        self,
        folder: Path,
        embedder: str,
        dimensions: int,
        *,
        thread: ThreadPoolExecutor,
        spare_bytes: int,
        release_every: int,
    ) -> None:
        self._thread = thread
        self._folder = folder
        self._spare_bytes = spare_bytes
        self._release_every = release_every
        self._embedder = embedder
        self._dimensions = dimensions
        self._encoder = Bm25Encoder()
        self._contents = ContentsTally()
        self._count = 0
        self._hashes: dict[str, UUID] | None = None
        self._lock = IngestLock(folder)
        self._lock.acquire()
        try:
            self._created_at = datetime.now(UTC)
            self._id = f"{self._created_at:%Y%m%dT%H%M%S%f}-{secrets.token_hex(3)}"
            drafts = folder / "drafts"
            shutil.rmtree(drafts, ignore_errors=True)
            self._home = drafts / self._id
            self._home.mkdir(parents=True)
            self._pages = PageWriter(self._home)
            self._old = _open_current(folder)
            self._shard = edge.EdgeShard.create(str(self._home / "shard"), _shard_config(dimensions))
        except BaseException:
            self._lock.release()
            raise

    async def known_vectors(self, hashes: Sequence[str]) -> Mapping[str, Vector]:
        return await _in_thread(lambda: self._known_vectors(hashes))

    async def has_old(self) -> bool:
        await _in_thread(self._old_hashes)
        return self._old is not None

    async def old_pages(self) -> list[PageEntry]:
        return list(self._old.pages) if await self.has_old() and self._old else []

    async def old_passages(self, url: str) -> list[tuple[Passage, Vector]]:
        return await _in_thread(lambda: self._old_passages(url))

    async def old_page(self, url: str) -> Page | None:
        return await _in_thread(lambda: self._old.book.page(url) if self._old else None)

    async def add_page(self, page: Page) -> str:
        return await _in_thread(lambda: self._add_page(page))

    async def add(self, passages: Sequence[Passage], vectors: Vector) -> None:
        await _in_thread(lambda: self._add(passages, vectors), self._thread)

    async def publish(self) -> Generation:
        try:
            return await _in_thread(self._publish, self._thread)
        finally:
            self._end()

    async def discard(self) -> None:
        try:
            await _in_thread(lambda: shutil.rmtree(self._home, ignore_errors=True))
        finally:
            self._end()

    def _end(self) -> None:
        self._pages.close()
        self._lock.release()
        self._thread.shutdown(wait=False)

    def _known_vectors(self, hashes: Sequence[str]) -> dict[str, Vector]:
        known = self._old_hashes()
        old = self._old
        if old is None or (old.generation.embedder, old.generation.dimensions) != (self._embedder, self._dimensions):
            return {}
        keys = {known[h]: h for h in hashes if h in known}
        return {keys[key]: vector for key, vector in old.vectors(list(keys)).items()}

    def _old_hashes(self) -> dict[str, UUID]:
        """Of every passage of the old generation. One that turns out to be damaged is as none."""
        if self._hashes is None:
            try:
                records = self._old.scroll() if self._old else iter(())
                self._hashes = {str((r.payload or {}).get("content_hash", "")): UUID(str(r.id)) for r in records}
            except IndexDamagedError:
                self._old, self._hashes = None, {}
        return self._hashes

    def _old_passages(self, url: str) -> list[tuple[Passage, Vector]]:
        if self._old is None:
            return []
        passages = self._old.passages_of(url)
        vectors = self._old.vectors([UUID(p.id) for p in passages])
        return [(p, vectors[UUID(p.id)]) for p in passages]

    def _add_page(self, page: Page) -> str:
        need_space(self._folder, self._spare_bytes + 4 * len(page.text))
        return self._pages.add(page)

    def _add(self, passages: Sequence[Passage], vectors: Vector) -> None:
        check_vectors(vectors, rows=len(passages), dimensions=self._dimensions)
        if self._count < _INDEX_FROM <= self._count + len(passages):
            # An index that grows with the passages takes less time than one made of them.
            for name in FILTERED_FIELDS:
                self._shard.update(edge.UpdateOperation.create_field_index(name, edge.PayloadSchemaType.Keyword))
        for first in range(0, len(passages), _BATCH):
            batch = passages[first : first + _BATCH]
            need_space(self._folder, self._spare_bytes + sum(8 * len(p.text) + 8 * self._dimensions for p in batch))
            points = [
                self._point(passage, vector, position)
                for position, (passage, vector) in enumerate(
                    zip(batch, vectors[first : first + _BATCH], strict=True), self._count
                )
            ]
            self._shard.update(edge.UpdateOperation.upsert_points(points))
            self._written(len(points))

    def _written(self, passages: int) -> None:
        """Close and open the shard when that is due."""
        before = self._count
        self._count += passages
        if before // self._release_every < self._count // self._release_every:
            self._shard.flush()
            self._shard.close()
            self._shard = edge.EdgeShard.load(str(self._home / "shard"))

    def _point(self, passage: Passage, vector: Vector, position: int) -> edge.Point:
        terms = self._encoder.of_passage(passage.embedded_text)
        payload = payload_of(passage, position=position, embedder=self._embedder)
        self._contents.count(passage.url, passage.page_title, passage.module)
        return edge.Point(
            passage.id, {DENSE: vector.tolist(), BM25: edge.SparseVector(terms.ids, terms.weights)}, payload
        )

    def _publish(self) -> Generation:
        generation = self._finish()
        home = self._folder / "generations" / generation.id
        home.parent.mkdir(exist_ok=True)
        sync_tree(self._home)
        self._home.rename(home)
        sync(home.parent)
        old = None if self._old is None else self._old.generation.id
        point_to(self._folder, generation.id)
        for other in generation_folders(self._folder):
            if other.name not in (generation.id, old):
                shutil.rmtree(other, ignore_errors=True)
        return generation

    def _finish(self) -> Generation:
        need_space(self._folder, self._spare_bytes)
        self._shard.flush()
        passages = self._shard.count(edge.CountRequest())
        self._shard.close()
        self._pages.finish()
        edge.EdgeShard.load(str(self._home / "shard")).close()  # the first opening writes its settings anew
        entries = self._contents.entries()
        generation = Generation(
            self._id, self._embedder, self._dimensions, self._created_at, len(entries), passages, SCHEMA_VERSION
        )
        write_manifest(self._home, generation, entries)
        return generation


def _shard_config(dimensions: int) -> edge.EdgeConfig:
    # Not cold, vectors are read when the shard is opened, through a second mapping that counts once more.
    cold = edge.Memory.Cold
    return edge.EdgeConfig(
        vectors={DENSE: edge.EdgeVectorParams(size=dimensions, distance=edge.Distance.Cosine, memory=cold)},
        sparse_vectors={BM25: edge.EdgeSparseVectorParams(modifier=edge.Modifier.Idf, memory=cold)},
        wal_enabled=False,
    )


def _integrity(folder: Path) -> Integrity:
    home = folder / "generations" / current_id(folder)
    generation, _, files = read_manifest(home)
    if damaged := files.damaged():
        return Integrity(generation, damaged_files=tuple(damaged))
    opened = OpenGeneration.load(home)
    stored = ((passage_of(str(r.id), r.payload or {}), dense_of(r)) for r in opened.scroll(vectors=True))
    return inspected(opened.generation, opened.pages, stored)


def _open_current(folder: Path) -> OpenGeneration | None:
    try:
        return OpenGeneration.load(folder / "generations" / current_id(folder))
    except (CitewellError, FileNotFoundError):
        # A first run, or an index that cannot be read: this run makes a new one from nothing.
        return None


async def _in_thread(work: Callable[[], T], thread: ThreadPoolExecutor | None = None) -> T:
    """In `thread`, or in any."""

    def bounded() -> T:
        with _ingest_errors():
            return work()

    return await asyncio.get_running_loop().run_in_executor(thread, bounded)


@contextmanager
def _ingest_errors() -> Iterator[None]:
    """Edge raises bare `Exception`, or panics. Whatever happens to a draft, what is published stays."""
    try:
        yield
    except CitewellError:
        raise
    except OSError as error:
        reason = "the disk is full" if error.errno == errno.ENOSPC else error.strerror or str(error)
        raise IngestError(f"The index cannot be written: {reason}. The index in use is unchanged.") from error
    except BaseException as error:
        if isinstance(error, Exception) or is_panic(error):
            raise IngestError(f"The index cannot be written: {str(error)[:200]}") from error
        raise
