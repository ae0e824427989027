"""Retrieval for other programs, under the names of the specification: `retrieve`, `retrieve_with_retry`, `embed_query`.

Without a `retriever` of their own, callers get the configured one. Building it is the work of a module above this one:
`citewell.wiring` says how, by `open_with`, when it is imported.
"""

import asyncio
import importlib
from collections.abc import Awaitable, Callable
from weakref import WeakKeyDictionary

from citewell.errors import ConfigurationError
from citewell.models import ChunkResult, RetrievalRequest, ScoredPassage, SearchResult, Vector, filters_of
from citewell.retrieval.search import Retriever

Opener = Callable[[], Awaitable[Retriever]]

_opener: Opener | None = None
_opened: WeakKeyDictionary[asyncio.AbstractEventLoop, Retriever] = WeakKeyDictionary()
"""Clients belong to the loop that they were made in."""


def open_with(opener: Opener) -> None:
    """Say how the configured retriever is made. It is made once for each event loop, when first asked for."""
    global _opener
    _opener = opener
    _opened.clear()


async def retrieve(request: RetrievalRequest, *, retriever: Retriever | None = None) -> SearchResult:
    """One try."""
    return await _search(request, retriever, retries=0)


async def retrieve_with_retry(
    request: RetrievalRequest, max_retries: int = 3, *, retriever: Retriever | None = None
) -> SearchResult:
    """What can pass is tried again with backoff and jitter, within the 5 seconds that a search has."""
    return await _search(request, retriever, retries=max_retries)


async def embed_query(query: str, *, retriever: Retriever | None = None) -> Vector:
    return await (retriever or await _configured()).embed_query(RetrievalRequest(query).query)


async def _search(request: RetrievalRequest, retriever: Retriever | None, *, retries: int) -> SearchResult:
    found = await (retriever or await _configured()).search(
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


async def _configured() -> Retriever:
    loop = asyncio.get_running_loop()
    if loop not in _opened:
        if _opener is None:
            # By name, because the dependency points upwards: a program that imports only this module gets its wiring.
            importlib.import_module("citewell.wiring")
        if _opener is None:
            raise ConfigurationError("No retriever is configured: pass `retriever=` or import citewell.wiring.")
        _opened[loop] = await _opener()
    return _opened[loop]
