"""Speaking to a Qdrant server: connecting, errors translated, aliases and schemas looked up.
Only this module and `qdrant_server` import qdrant_client.
"""

import os
import socket
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import NAMESPACE_URL, uuid5

import httpx
import numpy as np

from citewell.errors import (
    CollectionNotFoundError,
    IngestRunningError,
    MissingExtraError,
    QdrantConnectionError,
    QdrantTimeoutError,
    RetrievalError,
    SchemaValidationError,
)
from citewell.index import SCHEMA_VERSION
from citewell.index.page_store import page_from_json
from citewell.index.payload import BM25, DENSE, conditions, generation_of
from citewell.values import Filters, Generation, Page, Vector

try:
    from qdrant_client import AsyncQdrantClient, models
    from qdrant_client.common.client_exceptions import QdrantException
    from qdrant_client.http.exceptions import ResponseHandlingException, UnexpectedResponse
except ModuleNotFoundError as error:
    raise MissingExtraError("qdrant", error) from error

_LEASE_TIME = timedelta(minutes=10)

PointId = models.ExtendedPointId


def connect(url: str, api_key: str | None, *, timeout_seconds: int = 5) -> AsyncQdrantClient:
    return AsyncQdrantClient(url=url, api_key=api_key, timeout=timeout_seconds, check_compatibility=False)


@contextmanager
def translated(collection: str) -> Iterator[None]:
    try:
        yield
    except UnexpectedResponse as error:
        raise _answered(collection, error.status_code or 0) from error
    except ResponseHandlingException as error:
        if isinstance(error.source, httpx.TimeoutException):
            raise QdrantTimeoutError("Qdrant did not answer in time.") from error
        if isinstance(error.source, httpx.TransportError):
            raise QdrantConnectionError("Qdrant cannot be reached. Check QDRANT_URL and the server.") from error
        raise RetrievalError("QDRANT_URL answers with something that is not Qdrant's protocol.") from error
    except QdrantException as error:
        raise QdrantConnectionError("Qdrant is too busy and asks to wait.") from error
    except ValueError as error:
        # The client in memory has no statuses, and a reply cut short fails as plain JSON.
        if "not found" in str(error):
            raise _answered(collection, 404) from error
        raise RetrievalError("Qdrant's reply cannot be read.") from error


def _answered(collection: str, status: int) -> RetrievalError:
    match status:
        case 401 | 403:
            return RetrievalError("Qdrant refused the key. Check QDRANT_API_KEY.")
        case 404:
            return CollectionNotFoundError(f"Qdrant has no collection {collection}. Run `citewell ingest` first.")
        case 408 | 504:
            return QdrantTimeoutError("Qdrant did not answer in time.")
        case 429:
            return QdrantConnectionError("Qdrant is too busy and asks to wait.")
        case status if status >= 500:
            return QdrantConnectionError(f"Qdrant failed with status {status}.")
        case _:
            return SchemaValidationError(
                f"Qdrant refused the request with status {status}: the collection {collection} has another schema."
            )


@dataclass(frozen=True, slots=True)
class Served:
    """The collection that is served, as the server describes it."""

    name: str
    generation: Generation
    dense: str | None
    """The name of the dense vector; None for the unnamed one."""
    bm25: bool
    has_pages: bool
    """Only a collection of our own making has its pages beside it."""


async def aliased(client: AsyncQdrantClient, alias: str) -> str | None:
    aliases = (await client.get_aliases()).aliases
    return next((a.collection_name for a in aliases if a.alias_name == alias), None)


async def described(client: AsyncQdrantClient, name: str) -> Served:
    info = await client.get_collection(name)
    params = info.config.params
    vectors = params.vectors
    dense: str | None = None
    if isinstance(vectors, dict):
        dense = DENSE if DENSE in vectors else next(iter(vectors), None)
        chosen = vectors[dense] if dense is not None else None
    else:
        chosen = vectors
    if chosen is None or chosen.distance != models.Distance.COSINE:
        raise SchemaValidationError(f"The collection {name} has no vector with cosine distance.")
    metadata = info.config.metadata or {}
    if "schema_version" in metadata:
        generation = generation_of(metadata)
    else:
        points = info.points_count or 0
        generation = Generation(name, "", chosen.size, datetime.fromtimestamp(0, UTC), 0, points, SCHEMA_VERSION)
    return Served(name, generation, dense, BM25 in (params.sparse_vectors or {}), "schema_version" in metadata)


async def scrolled(
    client: AsyncQdrantClient,
    name: str,
    *,
    wanted: models.Filter | None = None,
    fields: list[str] | None = None,
    vectors: list[str] | None = None,
) -> AsyncIterator[models.Record]:
    offset: PointId | None = None
    while True:
        records, offset = await client.scroll(
            name,
            scroll_filter=wanted,
            limit=500,
            offset=offset,
            with_payload=True if fields is None else fields,
            with_vectors=vectors or False,
        )
        for record in records:
            yield record
        if offset is None:
            return


def pages_name(generation: str) -> str:
    """The collection that keeps a generation's pages."""
    return f"{generation}-pages"


def page_point(url: str, page: str) -> models.PointStruct:
    return models.PointStruct(id=_page_id(url), vector={}, payload={"source_url": url, "page": page})


async def stored_page(client: AsyncQdrantClient, generation: str, url: str) -> Page | None:
    records = await client.retrieve(pages_name(generation), ids=[_page_id(url)], with_payload=["page"])
    return page_from_json(str((records[0].payload or {}).get("page"))) if records else None


def _page_id(url: str) -> str:
    return str(uuid5(NAMESPACE_URL, url))


async def drop(client: AsyncQdrantClient, generation: str) -> None:
    """The pages first: whoever is stopped in between still finds what is left by the generation's name."""
    await client.delete_collection(pages_name(generation))
    await client.delete_collection(generation)


class Lease:
    """The lock of an ingest. It is a collection, because creating one is the only thing a server does at most once.

    A run that died stops renewing its lease, and the next run takes over.
    """

    def __init__(self, client: AsyncQdrantClient, name: str) -> None:
        self._client = client
        self._name = name
        self._owner = f"{os.getpid()} on {socket.gethostname()}"

    async def acquire(self) -> None:
        if await self._client.collection_exists(self._name):
            held = (await self._client.get_collection(self._name)).config.metadata or {}
            if datetime.now(UTC) - datetime.fromisoformat(str(held["renewed_at"])) < _LEASE_TIME:
                raise IngestRunningError(f"Another ingest is running (process {held['owner']}).")
            await self._client.delete_collection(self._name)
        try:
            with translated(self._name):
                await self._client.create_collection(self._name, vectors_config={}, metadata=self._metadata())
        except RetrievalError as error:
            raise IngestRunningError("Another ingest has just begun.") from error

    async def renew(self) -> None:
        await self._client.update_collection(self._name, metadata=self._metadata())

    async def release(self) -> None:
        with translated(self._name):
            await self._client.delete_collection(self._name)

    def _metadata(self) -> dict[str, str]:
        return {"owner": self._owner, "renewed_at": datetime.now(UTC).isoformat()}


def filter_of(filters: Filters) -> models.Filter | None:
    must: list[models.Condition] = [
        models.FieldCondition(key=key, match=models.MatchAny(any=values)) for key, values in conditions(filters)
    ]
    return models.Filter(must=must) if must else None


def dense_of(record: models.Record) -> Vector:
    stored = record.vector
    if not isinstance(stored, dict):
        raise SchemaValidationError(f"Point {record.id} of the collection has no {DENSE} vector.")
    return np.asarray(stored[DENSE], dtype=np.float32)
