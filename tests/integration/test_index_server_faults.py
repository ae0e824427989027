"""A Qdrant server that fails: a loopback server speaks the REST protocol's errors, delays and nonsense."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

import numpy as np
import pytest

from citewell.errors import (
    CitewellError,
    CollectionNotFoundError,
    DeadlineError,
    QdrantConnectionError,
    QdrantTimeoutError,
    RetrievalError,
    SchemaValidationError,
)
from citewell.index.qdrant_server import ServerIndex
from citewell.index.server_client import connect
from citewell.retrieval import Retriever
from citewell.retrieval.validation import validate
from citewell.values import Vector

# The loopback server speaks plain HTTP, and the test wants to see a key kept secret.
pytestmark = pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection:UserWarning")

VECTOR = np.array([1.0, 0.0], dtype=np.float32)
POINT = "5c56c793-69f3-4fbf-87e6-c4bf54c28c26"


@dataclass(frozen=True, slots=True)
class Reply:
    status: int = 200
    body: bytes = b""
    headers: tuple[str, ...] = ()
    hang: bool = False
    cut: bool = False
    """Close the connection in the middle of the body."""
    drip: bool = False
    """Send a byte now and then, without end."""


def ok(result: object) -> Reply:
    return Reply(body=json.dumps({"result": result, "status": "ok", "time": 0.001}).encode())


def collection(*, size: int = 2, distance: str = "Cosine", metadata: dict[str, object] | None = None) -> Reply:
    return ok(
        {
            "status": "green",
            "optimizer_status": "ok",
            "points_count": 1,
            "segments_count": 1,
            "config": {
                "params": {"vectors": {"size": size, "distance": distance}},
                "hnsw_config": {"m": 16, "ef_construct": 100, "full_scan_threshold": 10000},
                "optimizer_config": {
                    "deleted_threshold": 0.2,
                    "vacuum_min_vector_number": 1000,
                    "default_segment_number": 0,
                    "flush_interval_sec": 5,
                },
                "metadata": metadata,
            },
            "payload_schema": {},
        }
    )


ALIASES = ok({"aliases": []})
HITS = ok(
    [
        {
            "points": [
                {
                    "id": POINT,
                    "version": 1,
                    "score": 0.9,
                    "payload": {"chunk_text": "Robots walk.", "source_url": "https://book.example/a"},
                }
            ]
        }
    ]
)


@dataclass(slots=True)
class LoopbackQdrant:
    """Answers each path with its replies in turn; the last one stays."""

    replies: dict[str, list[Reply]]
    asked: list[str] = field(default_factory=list)
    url: str = ""

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while request := (await reader.readline()).decode():
                length = 0
                while (line := (await reader.readline()).decode().strip().lower()) != "":
                    if line.startswith("content-length:"):
                        length = int(line.partition(":")[2])
                await reader.readexactly(length)
                path = request.split()[1].partition("?")[0]
                self.asked.append(path)
                queue = self.replies.get(path, [Reply(404, b'{"status":{"error":"Not found"}}')])
                reply = queue.pop(0) if len(queue) > 1 else queue[0]
                if reply.hang:
                    await reader.read()  # until the client gives up
                    return
                size = 10**9 if reply.drip else len(reply.body) + (100 if reply.cut else 0)
                head = [f"HTTP/1.1 {reply.status} X", "content-type: application/json", f"content-length: {size}"]
                writer.write("\r\n".join([*head, *reply.headers, "", ""]).encode() + reply.body)
                await writer.drain()
                while reply.drip:
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(0.05)
                if reply.cut:
                    return
        except (ConnectionError, asyncio.IncompleteReadError):
            return
        finally:
            writer.close()


@pytest.fixture
async def qdrant() -> AsyncIterator[LoopbackQdrant]:
    """A server with one plain collection `book` that answers well until a test says otherwise."""
    made = LoopbackQdrant(
        {
            "/aliases": [ALIASES],
            "/collections/book": [collection()],
            "/collections/book/points/query/batch": [HITS],
        }
    )
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    yield made
    server.close()


@pytest.fixture
async def index(qdrant: LoopbackQdrant) -> AsyncIterator[ServerIndex]:
    made = ServerIndex(qdrant.url, None, "book", client=connect(qdrant.url, "a-key", timeout_seconds=60))
    yield made
    await made.aclose()


class Embedder:
    name = "toy"
    dimensions = 2
    max_tokens = 256

    def count_tokens(self, text: str) -> int:
        return len(text.split())

    async def embed_passages(self, texts: object) -> Vector:
        raise NotImplementedError

    async def embed_query(self, text: str) -> Vector:
        return VECTOR

    async def ping(self) -> None:
        return None

    async def aclose(self) -> None:
        return None


async def ask(index: ServerIndex) -> list[str]:
    return [hit.passage.text for hit in await index.candidates("robots", VECTOR, limit=5, filters={})]


async def test_a_plain_collection_of_another_maker_is_served_as_it_is(index: ServerIndex) -> None:
    assert await ask(index) == ["Robots walk."]
    generation = await index.current()
    assert (generation.id, generation.embedder, generation.dimensions) == ("book", "", 2)


@pytest.mark.fault("Qdrant sends failures", "each has its error, none tells a secret")
@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(500, b"{}"), QdrantConnectionError),
        (Reply(502, b"<html>bad gateway</html>"), QdrantConnectionError),
        (Reply(503, b""), QdrantConnectionError),
        (Reply(429, b"{}"), QdrantConnectionError),
        (Reply(429, b'{"status":{"error":"slow down"}}', ("retry-after: 1",)), QdrantConnectionError),
        (Reply(408, b"{}"), QdrantTimeoutError),
        (Reply(504, b"{}"), QdrantTimeoutError),
        (Reply(hang=True), QdrantTimeoutError),
        (Reply(cut=True, body=b'{"result": {'), QdrantConnectionError),
        (Reply(400, b'{"status":{"error":"Wrong input: Vector dimension error"}}'), SchemaValidationError),
        (Reply(401, b'{"status":{"error":"Invalid API key a-key"}}'), RetrievalError),
        (Reply(403, b"{}"), RetrievalError),
        (Reply(200, b"<html>hello</html>"), RetrievalError),
        (Reply(200, b"[1, 2"), RetrievalError),
        (Reply(200, b'{"result": 7}'), RetrievalError),
        (Reply(200, b'{"result": "' + b"x" * 50_000_000 + b'"}'), RetrievalError),
    ],
    ids=lambda value: f"{value.status}{value.body[:8]!r}" if isinstance(value, Reply) else value.__name__,
)
@pytest.mark.parametrize("path", ["/aliases", "/collections/book", "/collections/book/points/query/batch"])
async def test_each_failure_has_its_error_and_tells_no_secret(
    qdrant: LoopbackQdrant, index: ServerIndex, path: str, reply: Reply, expected: type[CitewellError]
) -> None:
    qdrant.replies[path] = [reply]
    hasty = ServerIndex(qdrant.url, None, "book", client=connect(qdrant.url, "a-key", timeout_seconds=1))
    async with contextlib.aclosing(hasty):
        with pytest.raises(CitewellError) as caught:
            await ask(hasty if reply.hang else index)
    assert type(caught.value) is expected
    assert "a-key" not in str(caught.value)


async def test_a_collection_that_is_not_there_is_named(qdrant: LoopbackQdrant, index: ServerIndex) -> None:
    del qdrant.replies["/collections/book"]
    with pytest.raises(CollectionNotFoundError, match="book"):
        await index.current()


@pytest.mark.fault("Qdrant away", "a connection error")
async def test_nobody_listening_is_a_connection_error() -> None:
    index = ServerIndex("http://127.0.0.1:9", None, "book")
    with pytest.raises(QdrantConnectionError):
        await index.current()
    await index.aclose()


@pytest.mark.parametrize("bad", [collection(distance="Euclid"), collection(metadata={"schema_version": 99})])
async def test_a_collection_with_another_schema_is_refused(
    qdrant: LoopbackQdrant, index: ServerIndex, bad: Reply
) -> None:
    qdrant.replies["/collections/book"] = [bad]
    with pytest.raises(SchemaValidationError):
        await index.current()


async def test_a_point_without_text_is_a_schema_error(qdrant: LoopbackQdrant, index: ServerIndex) -> None:
    point = {"id": 7, "version": 1, "score": 0.5, "payload": {"url": "https://book.example/a"}}
    qdrant.replies["/collections/book/points/query/batch"] = [ok([{"points": [point]}])]
    with pytest.raises(SchemaValidationError, match="7"):
        await ask(index)


async def test_a_search_survives_a_server_that_is_busy_for_a_moment(qdrant: LoopbackQdrant, index: ServerIndex) -> None:
    qdrant.replies["/aliases"] = [Reply(503), ALIASES]
    qdrant.replies["/collections/book/points/query/batch"] = [Reply(429), Reply(500), HITS]
    found = await Retriever(index, Embedder()).search("robots")
    assert [p.passage.text for p in found.passages] == ["Robots walk."]


async def test_a_search_gives_up_after_its_retries(qdrant: LoopbackQdrant, index: ServerIndex) -> None:
    qdrant.replies["/collections/book/points/query/batch"] = [Reply(500)]
    with pytest.raises(QdrantConnectionError):
        await Retriever(index, Embedder()).search("robots", retries=2)
    assert qdrant.asked.count("/collections/book/points/query/batch") == 3


async def test_what_cannot_pass_is_not_tried_again(qdrant: LoopbackQdrant, index: ServerIndex) -> None:
    qdrant.replies["/collections/book/points/query/batch"] = [Reply(401)]
    with pytest.raises(RetrievalError):
        await Retriever(index, Embedder()).search("robots")
    assert qdrant.asked.count("/collections/book/points/query/batch") == 1


@pytest.mark.fault("Qdrant slow or frozen", "the search ends within its time")
@pytest.mark.parametrize("reply", [Reply(hang=True), Reply(drip=True)], ids=["frozen", "a byte at a time"])
async def test_a_search_ends_within_its_time_whatever_the_server_does(qdrant: LoopbackQdrant, reply: Reply) -> None:
    qdrant.replies["/aliases"] = [reply]
    index = ServerIndex(qdrant.url, None, "book", client=connect(qdrant.url, None, timeout_seconds=60))
    with pytest.raises(DeadlineError):
        await Retriever(index, Embedder(), seconds=0.2).search("robots")
    await index.aclose()


async def test_a_collection_replaced_meanwhile_is_looked_up_again(qdrant: LoopbackQdrant, index: ServerIndex) -> None:
    qdrant.replies["/aliases"] = [
        ok({"aliases": [{"alias_name": "book", "collection_name": "book-1"}]}),
        ok({"aliases": [{"alias_name": "book", "collection_name": "book-2"}]}),
    ]
    qdrant.replies |= {f"/collections/book-{n}": [collection()] for n in (1, 2)}
    qdrant.replies["/collections/book-2/points/query/batch"] = [HITS]
    found = await Retriever(index, Embedder()).search("robots")
    assert found.generation == "book-2"
    assert found.passages


async def test_validation_names_the_step_that_failed_and_skips_the_rest(
    qdrant: LoopbackQdrant, index: ServerIndex
) -> None:
    qdrant.replies["/aliases"] = [Reply(503)]
    checks = await validate(index, Embedder())
    assert [(c.name, c.status) for c in checks] == [
        ("connectivity", "fail"),
        ("collection", "skip"),
        ("schema", "skip"),
        ("retrieval", "skip"),
    ]


async def test_validation_tells_a_missing_collection_from_a_dead_server(
    qdrant: LoopbackQdrant, index: ServerIndex
) -> None:
    del qdrant.replies["/collections/book"]
    assert [c.status for c in await validate(index, Embedder())] == ["pass", "fail", "skip", "skip"]


async def test_validation_checks_the_dimensions(qdrant: LoopbackQdrant, index: ServerIndex) -> None:
    qdrant.replies["/collections/book"] = [collection(size=1024)]
    checks = await validate(index, Embedder())
    assert [c.status for c in checks] == ["pass", "pass", "fail", "skip"]
    assert "1024" in checks[2].message
