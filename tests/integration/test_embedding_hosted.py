"""Cohere and OpenAI-compatible embedders against a real HTTP server on loopback that plays the provider."""

import asyncio
import contextlib
import json
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import numpy as np
import pytest

from citewell.embedding import Embedder
from citewell.embedding.hosted_embedders import CohereEmbedder, OpenAIEmbedder
from citewell.errors import CitewellError, ConfigurationError, EmbeddingError, RateLimitError

KEY = "sk-test-key-that-nobody-may-see"


@dataclass(frozen=True)
class Reply:
    status: int = 200
    body: bytes | None = None
    """None: what the provider would send."""
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Hang:
    """Take the request and never answer."""


@dataclass(frozen=True)
class Drip:
    """Begin to answer, and send a byte now and then."""


@dataclass(frozen=True)
class Cut:
    """Close the connection in the middle of the reply."""


@dataclass
class Provider:
    """Plays the replies in order; the last one goes on. Remembers what it was asked."""

    replies: Sequence[Reply | Hang | Drip | Cut] = (Reply(),)
    dimensions: int = 8
    base_url: str = ""
    bodies: list[dict[str, object]] = field(default_factory=list)
    paths: list[str] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)
    open: int = 0
    all_closed: asyncio.Event = field(default_factory=asyncio.Event)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.open += 1
        with contextlib.suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                await self._one(reader, writer)
        writer.close()
        with contextlib.suppress(ConnectionError):
            await writer.wait_closed()
        self.open -= 1
        if self.open == 0:
            self.all_closed.set()

    async def _one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:])}
        sent = await reader.readexactly(int(headers.get("content-length", 0)))
        body: dict[str, object] = json.loads(sent or b"{}")
        reply = self.replies[min(len(self.bodies), len(self.replies) - 1)]
        self.bodies.append(body)
        self.paths.append(head[0].split()[1])
        self.authorizations.append(headers.get("authorization"))
        match reply:
            case Hang():
                await reader.read()
            case Drip():
                writer.write(b"HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n")
                while True:
                    writer.write(b" ")
                    await writer.drain()
                    await asyncio.sleep(0.2)
            case Cut():
                writer.write(b'HTTP/1.1 200 OK\r\ncontent-length: 5000\r\n\r\n{"embeddings": ')
                await writer.drain()
                raise ConnectionError
            case Reply(status, content, more):
                content = self._usual(body) if content is None else content
                lines = [f"HTTP/1.1 {status} X", f"content-length: {len(content)}"]
                lines += [f"{name}: {value}" for name, value in more.items()]
                writer.write("\r\n".join([*lines, "", ""]).encode() + content)
                await writer.drain()

    def _usual(self, body: dict[str, object]) -> bytes:
        texts = body.get("texts", body.get("input", []))
        assert isinstance(texts, list)
        rows = [vector(text, self.dimensions) for text in texts]
        if "texts" in body:
            return json.dumps({"id": "1", "embeddings": {"float": rows}}).encode()
        data = [{"object": "embedding", "index": i, "embedding": row} for i, row in enumerate(rows)]
        return json.dumps({"object": "list", "data": data[::-1]}).encode()


def vector(text: str, dimensions: int) -> list[float]:
    """Not of length one, and another one for every text."""
    return [3.0 + math.sin(len(text) * (i + 1) + sum(map(ord, text))) for i in range(dimensions)]


@contextlib.asynccontextmanager
async def playing(provider: Provider) -> AsyncIterator[Provider]:
    server = await asyncio.start_server(provider.serve, "127.0.0.1", 0)
    provider.base_url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    try:
        yield provider
    finally:
        server.close()
        if provider.open:
            provider.all_closed.clear()
            await provider.all_closed.wait()


def cohere(provider: Provider, seconds: float = 5) -> Embedder:
    return CohereEmbedder(api_key=KEY, base_url=provider.base_url, dimensions=8, query_seconds=seconds)


def openai(provider: Provider, seconds: float = 5) -> Embedder:
    return OpenAIEmbedder(
        api_key=KEY, base_url=provider.base_url + "/v1/", model="some-model", dimensions=8, query_seconds=seconds
    )


Make = Callable[..., Embedder]
each_provider = pytest.mark.parametrize("make", [cohere, openai])


@contextlib.asynccontextmanager
async def embedder_on(
    make: Make, *replies: Reply | Hang | Drip | Cut, seconds: float = 5
) -> AsyncIterator[tuple[Embedder, Provider]]:
    async with playing(Provider(replies or (Reply(),))) as provider:
        embedder = make(provider, seconds)
        try:
            yield embedder, provider
        finally:
            await embedder.aclose()


async def failure_of(call: Awaitable[object]) -> CitewellError:
    with pytest.raises(CitewellError) as raised:
        await call
    shown: BaseException | None = raised.value
    while shown is not None:
        assert KEY not in f"{shown!r} {shown}"
        shown = shown.__cause__ or shown.__context__
    return raised.value


@each_provider
async def test_rows_come_in_order_and_of_length_one(make: Make) -> None:
    texts = [f"{'passage ' * (n % 5)}{n}" for n in range(200)]
    async with embedder_on(make) as (embedder, provider):
        rows = await embedder.embed_passages(texts)
        query = await embedder.embed_query(texts[7])
    expected = np.array([vector(text, 8) for text in texts])
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    assert np.allclose(rows, expected, atol=1e-6)
    assert np.allclose(query, expected[7], atol=1e-6)
    assert rows.dtype == query.dtype == np.float32
    assert set(provider.authorizations) == {f"Bearer {KEY}"}


async def test_cohere_is_told_what_is_a_question_and_what_a_passage() -> None:
    async with embedder_on(cohere) as (embedder, provider):
        await embedder.embed_passages(["p"] * 97)
        await embedder.embed_query("q")
    assert [len(body["texts"]) for body in provider.bodies if isinstance(body["texts"], list)] == [96, 1, 1]
    assert [body["input_type"] for body in provider.bodies] == ["search_document", "search_document", "search_query"]
    assert {body["model"] for body in provider.bodies} == {"embed-english-v3.0"}
    assert set(provider.paths) == {"/v2/embed"}


async def test_an_openai_compatible_server_may_need_no_key() -> None:
    async with playing(Provider()) as provider:
        embedder = OpenAIEmbedder(base_url=provider.base_url + "/v1", model="m", dimensions=8)
        await embedder.embed_query("q")
        await embedder.aclose()
    assert provider.paths == ["/v1/embeddings"]
    assert provider.authorizations == [None]


@each_provider
@pytest.mark.parametrize(
    "replies",
    [
        (Reply(500), Reply()),
        (Reply(503), Reply(502), Reply()),
        (Reply(429, headers={"Retry-After": "0"}), Reply()),
        (Cut(), Reply()),
    ],
)
async def test_what_can_pass_is_tried_again(make: Make, replies: Sequence[Reply | Cut]) -> None:
    async with embedder_on(make, *replies) as (embedder, provider):
        await embedder.embed_query("q")
    assert len(provider.bodies) == len(replies)


@each_provider
async def test_after_three_attempts_it_is_over(make: Make) -> None:
    async with embedder_on(make, Reply(500, b"internal details")) as (embedder, provider):
        error = await failure_of(embedder.embed_query("q"))
    assert type(error) is EmbeddingError
    assert "HTTP 500" in str(error)
    assert "internal details" not in str(error)
    assert len(provider.bodies) == 3


@each_provider
@pytest.mark.parametrize("status", [400, 404, 422])
async def test_what_cannot_pass_is_not_tried_again(make: Make, status: int) -> None:
    async with embedder_on(make, Reply(status)) as (embedder, provider):
        assert type(await failure_of(embedder.embed_query("q"))) is EmbeddingError
    assert len(provider.bodies) == 1


@each_provider
@pytest.mark.parametrize("status", [401, 403])
async def test_a_refused_key_is_a_wrong_setting_and_names_the_variable(make: Make, status: int) -> None:
    async with embedder_on(make, Reply(status, f"invalid key {KEY}".encode())) as (embedder, provider):
        error = await failure_of(embedder.embed_query("q"))
    assert isinstance(error, ConfigurationError)
    assert "_API_KEY" in str(error)
    assert len(provider.bodies) == 1


@each_provider
async def test_a_wait_longer_than_we_have_is_handed_on_at_once(make: Make) -> None:
    async with embedder_on(make, Reply(429, headers={"Retry-After": "120"})) as (embedder, provider):
        error = await failure_of(embedder.embed_query("q"))
    assert isinstance(error, RateLimitError)
    assert error.retry_after == 120
    assert len(provider.bodies) == 1


async def test_a_wait_may_be_told_as_a_date() -> None:
    later = format_datetime(datetime.now(UTC) + timedelta(minutes=10), usegmt=True)
    async with embedder_on(cohere, Reply(429, headers={"Retry-After": later})) as (embedder, _):
        error = await failure_of(embedder.embed_query("q"))
    assert isinstance(error, RateLimitError)
    assert error.retry_after is not None
    assert 500 < error.retry_after <= 600


async def test_a_wait_that_is_nonsense_is_taken_for_none() -> None:
    async with embedder_on(cohere, Reply(429, headers={"Retry-After": "soon"}), Reply()) as (embedder, provider):
        await embedder.embed_query("q")
    assert len(provider.bodies) == 2


@each_provider
@pytest.mark.fault("embedder frozen or a byte at a time", "given up within the deadline")
@pytest.mark.parametrize("reply", [Hang(), Drip()])
async def test_a_provider_that_does_not_end_is_given_up_within_the_deadline(make: Make, reply: Hang | Drip) -> None:
    async with embedder_on(make, reply, seconds=2) as (embedder, _):
        error = await failure_of(embedder.embed_query("q"))
    assert type(error) is EmbeddingError
    assert "did not answer" in str(error)


@each_provider
async def test_a_connection_that_hangs_is_given_up_for_another(make: Make) -> None:
    async with embedder_on(make, Hang(), Reply(), seconds=15) as (embedder, provider):
        await embedder.embed_query("q")
    assert len(provider.bodies) == 2


@each_provider
@pytest.mark.fault("embedder away", "an error")
async def test_a_provider_that_is_away_cannot_be_reached(make: Make) -> None:
    async with playing(Provider()) as provider:
        pass
    embedder = make(provider)
    error = await failure_of(embedder.embed_query("q"))
    await embedder.aclose()
    assert "cannot be reached (ConnectError)" in str(error)


@each_provider
async def test_a_ping_costs_no_embedding(make: Make) -> None:
    async with embedder_on(make) as (embedder, provider):
        await embedder.ping()
    assert provider.bodies == [{}]
    assert provider.paths[0].endswith("/v1/models")
    assert provider.authorizations == [f"Bearer {KEY}"]


@each_provider
async def test_a_server_without_a_list_of_models_still_answers_a_ping(make: Make) -> None:
    async with embedder_on(make, Reply(404)) as (embedder, _):
        await embedder.ping()


@each_provider
@pytest.mark.parametrize(
    ("reply", "kind"),
    [
        (Reply(401), ConfigurationError),
        (Reply(429), RateLimitError),
        (Reply(500), EmbeddingError),
        (Cut(), EmbeddingError),
    ],
)
async def test_a_ping_tells_what_is_wrong(make: Make, reply: Reply | Cut, kind: type[CitewellError]) -> None:
    async with embedder_on(make, reply) as (embedder, provider):
        assert type(await failure_of(embedder.ping())) is kind
    assert len(provider.bodies) == 1


def cohere_reply(rows: str) -> bytes:
    return f'{{"embeddings": {{"float": {rows}}}}}'.encode()


def openai_reply(rows: str) -> bytes:
    return f'{{"data": [{{"index": 0, "embedding": {rows[1:-1]}}}]}}'.encode()


@pytest.mark.fault("embedder sends broken vectors", "refused")
@pytest.mark.parametrize(("make", "wrap"), [(cohere, cohere_reply), (openai, openai_reply)])
@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ("[[1, 2, 3]]", "3 dimensions; 8 were expected"),
        ("[[1, 2, 3, NaN, 5, 6, 7, 8]]", "not finite"),
        ("[[1, 2, 3, 1e999, 5, 6, 7, 8]]", "not finite"),
        ("[[1, 2, 3, null, 5, 6, 7, 8]]", "not finite"),
        ("[[0, 0, 0, 0, 0, 0, 0, 0]]", "length zero"),
        ('[["a", 2, 3, 4, 5, 6, 7, 8]]', "not lists of numbers"),
        ("[[[1], 2, 3, 4, 5, 6, 7, 8]]", "not lists of numbers"),
    ],
)
async def test_a_vector_that_is_none_is_refused(make: Make, wrap: Callable[[str], bytes], rows: str, said: str) -> None:
    async with embedder_on(make, Reply(body=wrap(rows))) as (embedder, _):
        error = await failure_of(embedder.embed_query("q"))
    assert type(error) is EmbeddingError
    assert said in str(error)


@each_provider
@pytest.mark.fault("embedder sends nonsense", "an error, never a vector")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b'{"embeddings": {"float": [[1, 2', "not JSON"),
        (b"<html>busy</html>", "not JSON"),
        (b"\xff\xfe\x00", "not JSON"),
        (b"", "not JSON"),
        (b"{}", "no embeddings"),
        (b"[]", "no embeddings"),
        (b"null", "no embeddings"),
        (b'{"embeddings": {"float": []}, "data": []}', "0 vectors for 1 texts"),
    ],
)
async def test_a_reply_that_is_no_reply_is_an_error(make: Make, body: bytes, said: str) -> None:
    async with embedder_on(make, Reply(body=body)) as (embedder, _):
        error = await failure_of(embedder.embed_query("q"))
    assert type(error) is EmbeddingError
    assert said in str(error)


@pytest.mark.fault("embedder sends 50 MB", "given up after 20, not tried again")
async def test_a_reply_that_is_too_large_is_not_read_to_its_end() -> None:
    async with embedder_on(openai, Reply(body=b"[" * 50_000_000), seconds=600) as (embedder, provider):
        error = await failure_of(embedder.embed_query("q"))
    assert "sent more than 20 MB" in str(error)
    assert len(provider.bodies) == 1


async def test_a_failure_in_one_call_fails_the_passages_with_its_own_error() -> None:
    async with embedder_on(cohere, Reply(), Reply(401)) as (embedder, _):
        error = await failure_of(embedder.embed_passages(["p"] * 500))
    assert isinstance(error, ConfigurationError)


async def test_a_lone_surrogate_does_not_stop_a_query() -> None:
    async with embedder_on(openai) as (embedder, provider):
        await embedder.embed_query("half \ud83d of an emoji")
    assert provider.bodies[0]["input"] == ["half ? of an emoji"]


def test_a_key_with_a_line_break_is_a_wrong_setting() -> None:
    with pytest.raises(ConfigurationError, match="COHERE_API_KEY") as raised:
        CohereEmbedder(api_key=f"{KEY}\n")
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("text", ["one two three", "机器人" * 20, "x" * 400, "def f(a):\n" + " " * 200])
async def test_tokens_are_estimated_on_the_safe_side(text: str) -> None:
    embedder = CohereEmbedder(api_key=KEY)
    assert embedder.count_tokens(text) >= len(text.encode()) / 4
    await embedder.aclose()
