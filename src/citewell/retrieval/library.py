"""Retrieval for other programs, under the names of the specification: `retrieve`, `retrieve_with_retry`, `embed_query`.

Without a `retriever` of their own, callers get the configured one, opened and closed by each call. Whoever searches
often opens a book once: `citewell.open`.
"""

import contextlib
from collections.abc import AsyncIterator

from citewell.models import ChunkResult, RetrievalRequest, SearchResult
from citewell.retrieval.retriever import Retriever
from citewell.values import ScoredPassage, Vector, filters_of


async def retrieve(request: RetrievalRequest, *, retriever: Retriever | None = None) -> SearchResult:
    """One try."""
    return await _search(request, retriever, retries=0)


async def retrieve_with_retry(
    request: RetrievalRequest, max_retries: int = 3, *, retriever: Retriever | None = None
) -> SearchResult:
    """What can pass is tried again with backoff and jitter, within the 5 seconds that a search has."""
    return await _search(request, retriever, retries=max_retries)


async def embed_query(query: str, *, retriever: Retriever | None = None) -> Vector:
    asked = RetrievalRequest(query)
    async with _given_or_configured(retriever) as open_retriever:
        return await open_retriever.embed_query(asked.query)


async def _search(request: RetrievalRequest, retriever: Retriever | None, *, retries: int) -> SearchResult:
    async with _given_or_configured(retriever) as open_retriever:
        found = await open_retriever.search(
            request.query,
            top_k=request.top_k,
            score_threshold=request.score_threshold,
            filters=filters_of(request.filters),
            retries=retries,
        )
    return SearchResult(
        query=request.query,
        results=tuple(_chunk(passage) for passage in found.passages),
        total_found=found.total_found,
        latency_ms=found.embedding_ms + found.search_ms,
        embedding_ms=found.embedding_ms,
        search_ms=found.search_ms,
    )


def _chunk(scored: ScoredPassage) -> ChunkResult:
    passage = scored.passage
    return ChunkResult(
        id=passage.id,
        score=scored.score,
        chunk_text=passage.text,
        source_url=passage.url,
        page_title=passage.page_title,
        section_heading=passage.section_heading,
        chunk_index=passage.chunk_index,
    )


@contextlib.asynccontextmanager
async def _given_or_configured(retriever: Retriever | None) -> AsyncIterator[Retriever]:
    if retriever is not None:
        yield retriever
        return
    from citewell.backends import make_embedder, make_index
    from citewell.settings import Settings

    settings = Settings.from_environment()
    async with (
        contextlib.aclosing(make_embedder(settings)) as embedder,
        contextlib.aclosing(make_index(settings)) as index,
    ):
        yield Retriever(index, embedder)
