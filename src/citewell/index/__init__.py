"""The seam to the passages: what an index can do, wherever it stands. Qdrant Edge and Qdrant server implement it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from citewell.values import Filters, Generation, Page, PageEntry, Passage, Vector

if TYPE_CHECKING:
    from citewell.index.integrity import Integrity

SCHEMA_VERSION = 2


@dataclass(frozen=True, slots=True)
class Hit:
    """A candidate of a search, before fusion."""

    passage: Passage
    dense: float
    """Cosine similarity, as it is."""
    bm25: float
    """0 when no word matches."""


@dataclass(frozen=True, slots=True)
class Hint:
    """Something said before the question, and how much its words count beside those of the question."""

    text: str
    weight: float


class PassageIndex(Protocol):
    """Reading. Every call serves from one whole generation; a newly published one is picked up without a restart.

    Raises CollectionNotFoundError when nothing was published, QdrantConnectionError and QdrantTimeoutError when the
    index cannot be reached, SchemaValidationError when it was made by something else, IndexDamagedError when its files
    are not what was written.
    """

    async def current(self) -> Generation: ...

    async def ping(self) -> None:
        """Look whether passages can be read, and whether what could not be read before can be read now."""
        ...

    async def candidates(
        self, text: str, vector: Vector, *, limit: int, filters: Filters, hints: Sequence[Hint] = ()
    ) -> list[Hit]:
        """The best `limit` passages of each ranking (dense and BM25), joined; every hit carries both scores.

        Words of the hints that the text does not have count in BM25 too, by their weight.
        """
        ...

    async def passages_of(self, url: str) -> list[Passage]:
        """The passages of a page in reading order; empty when there is no such page."""
        ...

    async def page(self, url: str) -> Page | None:
        """A page as it was read; None when there is no such page."""
        ...

    async def pages(self) -> list[PageEntry]:
        """The table of contents, in the order of ingestion."""
        ...

    async def aclose(self) -> None: ...


class IndexWriter(Protocol):
    """Writing. One run at a time: `begin` raises IngestRunningError while another draft is open."""

    async def begin(self, *, embedder: str, dimensions: int) -> "Draft": ...

    async def generations(self) -> list[Generation]:
        """Newest first; the first is not necessarily the current one."""
        ...

    async def current_id(self) -> str | None: ...

    async def integrity(self) -> "Integrity":
        """Read every passage of the current generation and check it. Raises CollectionNotFoundError without one."""
        ...

    async def go_back(self) -> Generation:
        """Publish the generation before the current one. Raises CollectionNotFoundError when there is none."""
        ...

    async def aclose(self) -> None: ...


class Draft(Protocol):
    """A generation in the making. Nothing of it is seen by readers before `publish`."""

    async def known_vectors(self, hashes: Sequence[str]) -> Mapping[str, Vector]:
        """Vectors of the published generation by `content_hash`; empty if it was made by another embedder."""
        ...

    async def has_old(self) -> bool:
        """Whether there is a published generation that can be read; one that is damaged is as none."""
        ...

    async def old_pages(self) -> list[PageEntry]: ...

    async def old_passages(self, url: str) -> list[tuple[Passage, Vector]]:
        """A page's passages in the published generation, to carry a failed page over."""
        ...

    async def old_page(self, url: str) -> Page | None: ...

    async def add_page(self, page: Page) -> str:
        """Returns a digest of all that is kept of the page."""
        ...

    async def add(self, passages: Sequence[Passage], vectors: Vector) -> None: ...

    async def publish(self) -> Generation:
        """Make this generation the current one, in one step, and drop those no longer needed."""
        ...

    async def discard(self) -> None: ...
