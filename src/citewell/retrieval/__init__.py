"""The right passage first: hybrid search over an index and an embedder, and the library interface on top."""

from citewell.models import ChunkResult, RetrievalRequest, SearchResult
from citewell.retrieval.followup import standing_alone
from citewell.retrieval.library import embed_query, retrieve, retrieve_with_retry
from citewell.retrieval.retriever import Found, Retriever

__all__ = [
    "ChunkResult",
    "Found",
    "RetrievalRequest",
    "Retriever",
    "SearchResult",
    "embed_query",
    "retrieve",
    "retrieve_with_retry",
    "standing_alone",
]
