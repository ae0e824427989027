"""`citewell validate`: the way to the passages, step by step. After a step that fails, the later ones are skipped."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from citewell.embedding import Embedder
from citewell.errors import (
    CitewellError,
    CollectionNotFoundError,
    RetrievalError,
    SchemaValidationError,
)
from citewell.index import PassageIndex
from citewell.retrieval.retriever import Retriever, check_embedder
from citewell.values import Generation

Name = Literal["connectivity", "collection", "schema", "retrieval"]


@dataclass(frozen=True, slots=True)
class Check:
    name: Name
    status: Literal["pass", "fail", "skip"]
    message: str


async def validate(index: PassageIndex, embedder: Embedder) -> list[Check]:
    """One check for each name, in order."""
    steps = _Steps(index, embedder)
    run: dict[Name, Callable[[], Awaitable[str]]] = {
        "connectivity": steps.connectivity,
        "collection": steps.collection,
        "schema": steps.schema,
        "retrieval": steps.retrieval,
    }
    checks: list[Check] = []
    for name, step in run.items():
        if any(check.status == "fail" for check in checks):
            checks.append(Check(name, "skip", "not tried, because an earlier check failed"))
            continue
        try:
            checks.append(Check(name, "pass", await step()))
        except CitewellError as error:
            checks.append(Check(name, "fail", str(error)))
    return checks


class _Steps:
    def __init__(self, index: PassageIndex, embedder: Embedder) -> None:
        self._index = index
        self._embedder = embedder
        self._generation: Generation | None = None
        self._missing: RetrievalError | None = None

    async def connectivity(self) -> str:
        """An index that answers "there is nothing" or "this is not mine" can be reached."""
        try:
            self._generation = await self._index.current()
        except (CollectionNotFoundError, SchemaValidationError) as error:
            self._missing = error
        return "the index answers"

    async def collection(self) -> str:
        generation = self._published()
        if not generation.passages:
            raise CollectionNotFoundError("The index holds no passages. Run `citewell ingest`.")
        return f"generation {generation.id} with {generation.passages} passages"

    async def schema(self) -> str:
        generation = self._published()
        check_embedder(generation, self._embedder)
        return f"{generation.dimensions} dimensions of {generation.embedder or 'an unnamed embedder'}"

    async def retrieval(self) -> str:
        pages = await self._index.pages()
        if not pages:
            raise SchemaValidationError("The index has no table of contents. Ingest the book again.")
        query = pages[len(pages) // 2].title or pages[len(pages) // 2].url
        await self._embedder.embed_query(query)  # remembered: a model is loaded before the search's clock runs
        found = await Retriever(self._index, self._embedder).search(query, score_threshold=0.0)
        if not found.passages:
            raise RetrievalError("A search for a page's own title finds nothing. Ingest the book again.")
        took = found.embedding_ms + found.search_ms
        return f"{len(found.passages)} passages for a page's title in {took:.0f} ms"

    def _published(self) -> Generation:
        if self._generation is None:
            raise self._missing or CollectionNotFoundError("There is no index yet. Run `citewell ingest` first.")
        return self._generation
