"""Passages on a Qdrant server or cluster: a reader that follows the alias, and a writer that moves it.

A generation is a collection `<name>-<id>` with its pages in `<name>-<id>-pages`, and the alias `<name>` points to the
current one. A plain collection that somebody else made under that name is served as it is.
"""

import math
import re
import secrets
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime

import numpy as np

from citewell.document import read_plain
from citewell.errors import (
    CollectionNotFoundError,
    IngestError,
    MissingExtraError,
    QdrantConnectionError,
    SchemaValidationError,
)
from citewell.index import SCHEMA_VERSION, Hint, Hit
from citewell.index.integrity import Integrity, inspected
from citewell.index.page_store import digest_of, page_to_json
from citewell.index.payload import (
    BM25,
    DENSE,
    FILTERED_FIELDS,
    ContentsTally,
    check_vectors,
    contents_of,
    generation_of,
    manifest_of,
    passage_of,
    payload_of,
)
from citewell.index.server_client import (
    Lease,
    PointId,
    Served,
    aliased,
    connect,
    dense_of,
    described,
    drop,
    filter_of,
    page_point,
    pages_name,
    scrolled,
    stored_page,
    translated,
)
from citewell.index.terms import Bm25Encoder
from citewell.values import Filters, Generation, Page, PageEntry, Passage, Vector

try:
    from qdrant_client import AsyncQdrantClient, models
except ModuleNotFoundError as error:
    raise MissingExtraError("qdrant", error) from error

_FRESH_SECONDS = 3.0
"""How long the alias is trusted before it is looked up again."""
_CONTENTS_FIELDS = ["source_url", "page_title", "module", "position"]
_GENERATION_ID = re.compile(r"\d{8}T\d{12}-[0-9a-f]{6}")
_BATCH = 128
_PAGES_BATCH = 16


class ServerIndex:
    def __init__(
        self,
        url: str,
        api_key: str | None,
        collection: str,
        *,
        client: AsyncQdrantClient | None = None,
        fresh_seconds: float = _FRESH_SECONDS,
    ) -> None:
        """A `client` that is given is used as it is, whatever the address."""
        self._client = client or connect(url, api_key)
        self._collection = collection
        self._encoder = Bm25Encoder()
        self._fresh_seconds = fresh_seconds
        self._served: Served | None = None
        self._looked_up = -math.inf
        self._contents: tuple[str, list[PageEntry]] = ("", [])

    async def current(self) -> Generation:
        return (await self._look_up()).generation

    async def ping(self) -> None:
        await self._look_up()

    async def candidates(
        self, text: str, vector: Vector, *, limit: int, filters: Filters, hints: Sequence[Hint] = ()
    ) -> list[Hit]:
        if not np.isfinite(vector).all():
            raise SchemaValidationError("The question's vector holds NaN or infinity.")
        served = await self._look_up()
        if vector.shape != (served.generation.dimensions,):
            raise SchemaValidationError(
                f"The question's vector has the shape {vector.shape}, the collection {served.name} holds "
                f"{served.generation.dimensions} dimensions."
            )
        dense_query = models.QueryRequest(query=vector.tolist(), using=served.dense, limit=limit)
        requests = [dense_query]
        terms = self._encoder.of_query(text, hints)
        if served.bm25 and terms.ids:
            sparse = models.SparseVector(indices=terms.ids, values=terms.weights)
            requests.append(models.QueryRequest(query=sparse, using=BM25, limit=limit))
        return await self._joined(served, requests, filter_of(filters))

    async def _joined(
        self, served: Served, requests: Sequence[models.QueryRequest], wanted: models.Filter | None
    ) -> list[Hit]:
        first = [request.model_copy(update={"filter": wanted, "with_payload": True}) for request in requests]
        found = await self._query(served, first)
        passages = {point.id: passage_of(str(point.id), point.payload or {}) for points in found for point in points}
        scores: list[dict[PointId, float]] = [{point.id: point.score for point in points} for points in found]
        await self._complete(served, requests, scores, passages)
        dense, bm25 = scores[0], scores[1] if len(scores) > 1 else {}
        return [Hit(passage, dense.get(key, 0.0), bm25.get(key, 0.0)) for key, passage in passages.items()]

    async def _complete(
        self,
        served: Served,
        requests: Sequence[models.QueryRequest],
        scores: Sequence[dict[PointId, float]],
        found: Iterable[PointId],
    ) -> None:
        """Each ranking's score for what only the other one found."""
        again, waiting = [], []
        for request, known in zip(requests, scores, strict=True):
            if missing := [key for key in found if key not in known]:
                only = models.Filter(must=[models.HasIdCondition(has_id=missing)])
                again.append(request.model_copy(update={"filter": only, "limit": len(missing)}))
                waiting.append(known)
        for known, points in zip(waiting, await self._query(served, again) if again else [], strict=True):
            known.update({point.id: point.score for point in points})

    async def _query(self, served: Served, requests: Sequence[models.QueryRequest]) -> list[list[models.ScoredPoint]]:
        with self._translated(served):
            replies = await self._client.query_batch_points(served.name, requests=list(requests))
        return [reply.points for reply in replies]

    @contextmanager
    def _translated(self, served: Served) -> Iterator[None]:
        try:
            with translated(served.name):
                yield
        except CollectionNotFoundError as error:
            # Two runs may have been published since the alias was looked up: the next try finds the new one.
            self._looked_up = -math.inf
            raise QdrantConnectionError(f"The collection {served.name} was replaced meanwhile.") from error

    async def passages_of(self, url: str) -> list[Passage]:
        served = await self._look_up()
        with self._translated(served):
            records = scrolled(self._client, served.name, wanted=filter_of({"source_url": (url,)}))
            found = [passage_of(str(record.id), record.payload or {}) async for record in records]
        return sorted(found, key=lambda p: (p.chunk_index, p.id))

    async def page(self, url: str) -> Page | None:
        served = await self._look_up()
        if not served.has_pages:
            return _page_of(await self.passages_of(url))
        with self._translated(served):
            return await stored_page(self._client, served.name, url)

    async def pages(self) -> list[PageEntry]:
        served = await self._look_up()
        if self._contents[0] != served.name:
            with self._translated(served):
                records = scrolled(self._client, served.name, fields=_CONTENTS_FIELDS)
                payloads = [record.payload or {} async for record in records]
            self._contents = (served.name, contents_of(payloads))
        return list(self._contents[1])

    async def aclose(self) -> None:
        await self._client.close()

    async def _look_up(self) -> Served:
        if self._served is not None and time.monotonic() - self._looked_up < self._fresh_seconds:
            return self._served
        with translated(self._collection):
            name = await aliased(self._client, self._collection) or self._collection
            if self._served is None or name != self._served.name:
                self._served = await described(self._client, name)
        self._looked_up = time.monotonic()
        return self._served


class ServerWriter:
    def __init__(
        self, url: str, api_key: str | None, collection: str, *, client: AsyncQdrantClient | None = None
    ) -> None:
        self._client = client or connect(url, api_key, timeout_seconds=30)
        self._collection = collection

    async def begin(self, *, embedder: str, dimensions: int) -> "ServerDraft":
        with translated(self._collection):
            old = await self._readable()
            if old is not None and old.name == self._collection:
                raise IngestError(
                    f"A collection named {self._collection} stands where Citewell puts its alias. "
                    "Delete it or set QDRANT_COLLECTION_NAME to another name."
                )
            lease = Lease(self._client, f"{self._collection}-ingest-lock")
            await lease.acquire()
            try:
                await self._sweep()
                draft = ServerDraft(self._client, self._collection, lease, embedder, dimensions, old)
                await draft.create()
            except BaseException:
                await lease.release()
                raise
        return draft

    async def generations(self) -> list[Generation]:
        with translated(self._collection):
            return [generation for generation, published in await self._all() if published]

    async def current_id(self) -> str | None:
        with translated(self._collection):
            served = await self._readable()
        return served.generation.id if served else None

    async def go_back(self) -> Generation:
        with translated(self._collection):
            served = await self._current()
            now = served.generation.id if served else ""
            before = [g for g, published in await self._all() if published and g.id < now]
            if not before:
                raise CollectionNotFoundError("There is no generation before the current one.")
            await _point_to(self._client, self._collection, before[0].id)
            return before[0]

    async def integrity(self) -> Integrity:
        with translated(self._collection):
            served = await self._current()
            if served is None:
                raise CollectionNotFoundError("There is no index yet. Run `citewell ingest` first.")
            records = [r async for r in scrolled(self._client, served.name, vectors=[DENSE])]
        pages = contents_of([record.payload or {} for record in records])
        stored = [(passage_of(str(record.id), record.payload or {}), dense_of(record)) for record in records]
        return inspected(served.generation, pages, stored)

    async def aclose(self) -> None:
        await self._client.close()

    async def _current(self) -> Served | None:
        name = await aliased(self._client, self._collection)
        if name is None and not await self._client.collection_exists(self._collection):
            return None
        return await described(self._client, name or self._collection)

    async def _readable(self) -> Served | None:
        """The current generation; one of an older version is as none, for this run replaces it."""
        try:
            return await self._current()
        except SchemaValidationError:
            return None

    async def _all(self) -> list[tuple[Generation, bool]]:
        """Every generation on the server, newest first, and whether it was ever published."""
        found = []
        for description in (await self._client.get_collections()).collections:
            if not _is_generation(description.name, self._collection):
                continue
            metadata = (await self._client.get_collection(description.name)).config.metadata or {}
            try:
                found.append((generation_of(metadata), bool(metadata.get("published"))))
            except SchemaValidationError:
                continue
        return sorted(found, key=lambda pair: pair[0].id, reverse=True)

    async def _sweep(self) -> None:
        """Remove what killed runs left; the lock says that no other run is alive."""
        for generation, published in await self._all():
            if not published:
                await drop(self._client, f"{self._collection}-{generation.id}")


class ServerDraft:
    def __init__(
        self,
        client: AsyncQdrantClient,
        collection: str,
        lease: Lease,
        embedder: str,
        dimensions: int,
        old: Served | None,
    ) -> None:
        self._client = client
        self._collection = collection
        self._lease = lease
        self._embedder = embedder
        self._dimensions = dimensions
        self._old = old
        self._encoder = Bm25Encoder()
        self._contents = ContentsTally()
        self._pages: list[models.PointStruct] = []
        """Those that are not on the server yet."""
        self._count = 0
        self._created_at = datetime.now(UTC)
        self._id = f"{self._created_at:%Y%m%dT%H%M%S%f}-{secrets.token_hex(3)}"
        self._name = f"{collection}-{self._id}"

    async def create(self) -> None:
        await self._client.create_collection(
            self._name,
            vectors_config={DENSE: models.VectorParams(size=self._dimensions, distance=models.Distance.COSINE)},
            sparse_vectors_config={BM25: models.SparseVectorParams(modifier=models.Modifier.IDF)},
            metadata=manifest_of(self._generation(0)) | {"published": False},
        )
        await self._client.create_collection(pages_name(self._name), vectors_config={})
        # Hosted Qdrant refuses to filter on a field without a payload index.
        for field in (*FILTERED_FIELDS, "content_hash"):
            await self._client.create_payload_index(self._name, field, models.PayloadSchemaType.KEYWORD)

    async def known_vectors(self, hashes: Sequence[str]) -> Mapping[str, Vector]:
        old = self._old
        if old is None or (old.generation.embedder, old.generation.dimensions) != (self._embedder, self._dimensions):
            return {}
        known: dict[str, Vector] = {}
        with translated(old.name):
            for first in range(0, len(hashes), _BATCH):
                wanted = models.Filter(
                    must=[
                        models.FieldCondition(
                            key="content_hash", match=models.MatchAny(any=list(hashes[first : first + _BATCH]))
                        )
                    ]
                )
                records = scrolled(self._client, old.name, wanted=wanted, fields=["content_hash"], vectors=[DENSE])
                async for record in records:
                    known[str((record.payload or {})["content_hash"])] = dense_of(record)
        return known

    async def has_old(self) -> bool:
        return self._old is not None

    async def old_pages(self) -> list[PageEntry]:
        if self._old is None:
            return []
        with translated(self._old.name):
            return contents_of([record.payload or {} async for record in scrolled(self._client, self._old.name)])

    async def old_passages(self, url: str) -> list[tuple[Passage, Vector]]:
        if self._old is None:
            return []
        with translated(self._old.name):
            records = scrolled(self._client, self._old.name, wanted=filter_of({"source_url": (url,)}), vectors=[DENSE])
            found = [(passage_of(str(record.id), record.payload or {}), dense_of(record)) async for record in records]
        return sorted(found, key=lambda pair: (pair[0].chunk_index, pair[0].id))

    async def old_page(self, url: str) -> Page | None:
        if self._old is None:
            return None
        with translated(self._old.name):
            return await stored_page(self._client, self._old.name, url)

    async def add_page(self, page: Page) -> str:
        text = page_to_json(page)
        self._pages.append(page_point(page.url, text))
        if len(self._pages) == _PAGES_BATCH:
            await self._write_pages()
        return digest_of(text)

    async def _write_pages(self) -> None:
        points, self._pages = self._pages, []
        if points:
            with translated(self._name):
                await self._client.upsert(pages_name(self._name), points, wait=True)
                await self._lease.renew()

    async def add(self, passages: Sequence[Passage], vectors: Vector) -> None:
        check_vectors(vectors, rows=len(passages), dimensions=self._dimensions)
        points = [self._point(passage, vector) for passage, vector in zip(passages, vectors, strict=True)]
        with translated(self._name):
            for first in range(0, len(points), _BATCH):
                await self._client.upsert(self._name, points[first : first + _BATCH], wait=True)
                await self._lease.renew()

    def _point(self, passage: Passage, vector: Vector) -> models.PointStruct:
        terms = self._encoder.of_passage(passage.embedded_text)
        payload = payload_of(passage, position=self._count, embedder=self._embedder)
        self._count += 1
        self._contents.count(passage.url, passage.page_title, passage.module)
        sparse = models.SparseVector(indices=terms.ids, values=terms.weights)
        return models.PointStruct(id=passage.id, vector={DENSE: vector.tolist(), BM25: sparse}, payload=payload)

    async def publish(self) -> Generation:
        try:
            await self._write_pages()
            with translated(self._name):
                count = (await self._client.count(self._name, exact=True)).count
                generation = self._generation(count)
                await self._client.update_collection(self._name, metadata=manifest_of(generation) | {"published": True})
                await _point_to(self._client, self._collection, self._id)
                await self._drop_others()
        finally:
            await self._lease.release()
        return generation

    async def discard(self) -> None:
        try:
            with translated(self._name):
                await drop(self._client, self._name)
        finally:
            await self._lease.release()

    async def _drop_others(self) -> None:
        kept = {self._name, self._old.name if self._old else ""}
        for description in (await self._client.get_collections()).collections:
            if _is_generation(description.name, self._collection) and description.name not in kept:
                await drop(self._client, description.name)

    def _generation(self, passages: int) -> Generation:
        pages = len(self._contents.entries())
        return Generation(self._id, self._embedder, self._dimensions, self._created_at, pages, passages, SCHEMA_VERSION)


def _page_of(passages: Sequence[Passage]) -> Page | None:
    """The page as far as the passages of another maker tell it."""
    if not passages:
        return None
    first = passages[0]
    text = "\n\n".join(passage.text for passage in passages)
    return Page(first.url, first.page_title, text, read_plain(text), first.module, first.language, first.version)


def _is_generation(name: str, collection: str) -> bool:
    return name.startswith(f"{collection}-") and bool(_GENERATION_ID.fullmatch(name[len(collection) + 1 :]))


async def _point_to(client: AsyncQdrantClient, alias: str, generation_id: str) -> None:
    operations: list[models.AliasOperations] = [
        models.CreateAliasOperation(
            create_alias=models.CreateAlias(collection_name=f"{alias}-{generation_id}", alias_name=alias)
        )
    ]
    if await aliased(client, alias) is not None:
        operations.insert(0, models.DeleteAliasOperation(delete_alias=models.DeleteAlias(alias_name=alias)))
    await client.update_collection_aliases(change_aliases_operations=operations)
