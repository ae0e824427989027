"""One generation of Qdrant Edge, opened for reading. Only `edge`, `edge_shard` and `terms` import qdrant_edge."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID

import numpy as np
import qdrant_edge as edge

from citewell.errors import IndexDamagedError, RetrievalError, SchemaValidationError
from citewell.index import Hit
from citewell.index.checksums import CheckedFiles
from citewell.index.edge_folder import read_manifest
from citewell.index.page_store import PageReader
from citewell.index.payload import BM25, DENSE, conditions, passage_of
from citewell.index.terms import Terms
from citewell.values import Filters, Generation, PageEntry, Passage, Vector

_REMEMBERED = 20_000
"""Passages kept in memory, so that a search reads payloads only for those not seen before."""


@contextmanager
def translated() -> Iterator[None]:
    """Edge raises bare `Exception`, and what panics in Rust is not even that; ours and the system's pass."""
    try:
        yield
    except (RetrievalError, OSError):
        raise
    except BaseException as error:
        if isinstance(error, Exception) or is_panic(error):
            raise IndexDamagedError(str(error)) from error
        raise


def is_panic(error: BaseException) -> bool:
    """A panic of Rust is a BaseException of a class that no module exports, so only its name tells it."""
    return type(error).__module__ == "pyo3_runtime"


@dataclass(slots=True)
class OpenGeneration:
    """A generation opened for reading. It is never changed, and its files stay readable after they are unlinked."""

    generation: Generation
    pages: tuple[PageEntry, ...]
    shard: edge.EdgeShard
    files: CheckedFiles
    book: PageReader
    _seen: dict[UUID, Passage] = field(default_factory=dict)

    @classmethod
    def load(cls, folder: Path) -> "OpenGeneration":
        """Raises FileNotFoundError when the folder is gone."""
        generation, pages, files = read_manifest(folder)
        files.check()  # before Rust reads them: it trusts the lengths in them, and may end the process
        with translated():
            shard = edge.EdgeShard.load(str(folder / "shard"))
        return cls(generation, pages, shard, files, PageReader(folder))

    def candidates(self, terms: Terms, vector: Vector, limit: int, filters: Filters) -> list[Hit]:
        if vector.shape != (self.generation.dimensions,) or not np.isfinite(vector).all():
            raise SchemaValidationError(
                f"The question's vector has the shape {vector.shape}, the index holds {self.generation.dimensions} "
                f"dimensions of {self.generation.embedder}."
            )
        wanted = _filter(filters)
        dense_query = edge.Query.Nearest(vector.tolist(), using=DENSE)
        sparse_query = edge.Query.Nearest(edge.SparseVector(terms.ids, terms.weights), using=BM25)
        with translated():
            dense, bm25 = self._both(_request(dense_query, limit, wanted), _request(sparse_query, limit, wanted))
            # Each ranking's score for what only the other one found.
            more_dense, more_bm25 = self._both(
                _request(dense_query, limit, _only(bm25.keys() - dense.keys())),
                _request(sparse_query, limit, _only(dense.keys() - bm25.keys())),
            )
            dense |= more_dense
            bm25 |= more_bm25
            passages = self._passages(dense.keys())
        return [Hit(passages[key], score, bm25.get(key, 0.0)) for key, score in dense.items() if key in passages]

    def _both(self, dense: edge.QueryRequest, bm25: edge.QueryRequest) -> tuple[dict[UUID, float], dict[UUID, float]]:
        found = self.shard.query_batch(edge.QueryBatchRequest([dense, bm25]))
        return {_uuid(p.id): p.score for p in found[0]}, {_uuid(p.id): p.score for p in found[1]}

    def _passages(self, keys: Iterable[UUID]) -> dict[UUID, Passage]:
        seen = self._seen
        passages = {key: passage for key in keys if (passage := seen.get(key)) is not None}
        unseen = [key for key in keys if key not in passages]
        if unseen:
            records = self.shard.retrieve(list(unseen), with_payload=True, with_vector=False)
            fresh = {_uuid(record.id): passage_of(str(record.id), record.payload or {}) for record in records}
            if len(seen) + len(fresh) > _REMEMBERED:
                # Searches in other threads may read the old one: it is left alone.
                self._seen = {}
            self._seen.update(fresh)
            passages |= fresh
        return passages

    def look(self) -> None:
        """Read a passage with its vectors from the files. Raises IndexDamagedError."""
        with translated():
            self.shard.scroll(edge.ScrollRequest(limit=1, with_payload=True, with_vector=True))

    def passages_of(self, url: str) -> list[Passage]:
        found = [passage_of(str(r.id), r.payload or {}) for r in self.scroll(_filter({"source_url": (url,)}))]
        return sorted(found, key=lambda p: (p.chunk_index, p.id))

    def scroll(self, wanted: edge.Filter | None = None, *, vectors: bool = False) -> Iterator[edge.Record]:
        offset = None
        while True:
            with translated():
                records, offset = self.shard.scroll(
                    edge.ScrollRequest(
                        offset=offset, limit=1000, filter=wanted, with_payload=True, with_vector=vectors and [DENSE]
                    )
                )
            yield from records
            if offset is None:
                return

    def vectors(self, keys: Sequence[UUID]) -> dict[UUID, Vector]:
        with translated():
            records = self.shard.retrieve(list(keys), with_payload=False, with_vector=[DENSE])
        return {_uuid(record.id): dense_of(record) for record in records}


def dense_of(record: edge.Record) -> Vector:
    stored = record.vector
    if not isinstance(stored, dict):
        raise SchemaValidationError(f"Point {record.id} of the index has no {DENSE} vector. Ingest the book again.")
    return np.asarray(stored[DENSE], dtype=np.float32)


def _request(query: edge.Query, limit: int, wanted: edge.Filter | None) -> edge.QueryRequest:
    return edge.QueryRequest(limit=limit, query=query, filter=wanted, with_payload=False, with_vector=False)


def _filter(filters: Filters) -> edge.Filter | None:
    must: list[edge.ConditionType] = [
        edge.FieldCondition(key=name, match=edge.MatchAny(values)) for name, values in conditions(filters)
    ]
    return edge.Filter(must=must) if must else None


def _only(keys: set[UUID]) -> edge.Filter:
    return edge.Filter(must=[edge.HasIdCondition(set(keys))])


def _uuid(point_id: int | UUID | str) -> UUID:
    return point_id if isinstance(point_id, UUID) else UUID(str(point_id))
