"""A search as other programs ask for it and get it, under the names of the specification."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from citewell.errors import InvalidInputError, InvalidQueryError
from citewell.values import filters_of, trimmed


@dataclass(frozen=True, slots=True)
class RetrievalRequest:
    """A search as other programs ask for it. What is not valid raises InvalidInputError or one of its kinds."""

    query: str
    top_k: int = 5
    score_threshold: float | None = None
    filters: Mapping[str, str | Sequence[str]] | None = None

    def __post_init__(self) -> None:
        query = trimmed(self.query)
        if not query:
            raise InvalidQueryError("The query is empty.", field="query")
        if len(query) > 2000:
            raise InvalidQueryError(f"The query has {len(query):,} characters; the limit is 2,000.", field="query")
        if not 1 <= self.top_k <= 100:
            raise InvalidInputError(f"top_k is {self.top_k}; it must be 1 to 100.", field="top_k")
        if self.score_threshold is not None and not 0 <= self.score_threshold <= 1:
            raise InvalidInputError("score_threshold must be 0 to 1.", field="score_threshold")
        filters_of(self.filters)
        object.__setattr__(self, "query", query)


@dataclass(frozen=True, slots=True)
class ChunkResult:
    id: str
    score: float
    chunk_text: str
    source_url: str
    page_title: str
    section_heading: str
    chunk_index: int


@dataclass(frozen=True, slots=True)
class SearchResult:
    """`total_found` counts what passed filters and threshold, before the cut to `top_k`."""

    query: str
    results: tuple[ChunkResult, ...]
    total_found: int
    latency_ms: float
    embedding_ms: float
    search_ms: float
