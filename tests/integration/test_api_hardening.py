"""Raw bytes against a real socket: never a 5xx, never a hang, never an echo."""

import asyncio
import json

import pytest

from citewell.api import server as hardened
from citewell.api.options import ApiOptions
from tests.support.api import Listening, ScriptedEngine, an_app, answering, listening

MARK = "qzxjqzxjqzxj"
PATHS = ["/chat", "/chat/run", "/chat/stream"]
BODIES = {
    "nothing": b"",
    "no JSON": MARK.encode(),
    "cut": b'{"query": "' + MARK.encode(),
    "invalid UTF-8": b'{"query": "' + MARK.encode() + b'\xff\xfe"}',
    "overlong UTF-8": b'{"query": "\xc0\xaf' + MARK.encode() + b'"}',
    "byte order mark": b'\xef\xbb\xbf{"query": "' + MARK.encode() + b'"}',
    "UTF-16": json.dumps({"query": MARK}).encode("utf-16"),
    "NaN": b'{"query": "x", "score_threshold": NaN, "' + MARK.encode() + b'": 1}',
    "1e999": b'{"query": "x", "score_threshold": 1e999, "' + MARK.encode() + b'": 1}',
    "lone surrogate": b'{"query": "' + MARK.encode() + b'\\ud800"}',
    "surrogate key": b'{"\\udc00' + MARK.encode() + b'": "x"}',
    "NUL": b'{"query": "' + MARK.encode() + b'\\u0000", "message": "\\u0000"}',
    "raw NUL": b'{"query": "\x00' + MARK.encode() + b'"}',
    "5,000 digits": b'{"query": "x", "top_k": ' + b"9" * 5000 + b"}",
    "minus 5,000 digits": b'{"query": "x", "score_threshold": -0.' + b"9" * 5000 + b"}",
    "10,000 deep": b'{"query": ' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "10,000 objects deep": b'{"a":' * 10_000,
    "duplicate keys": b'{"query": "x", "query": "' + MARK.encode() + b'", "message": "x"}',
    "wrong types": json.dumps({"query": [MARK], "message": {MARK: 1}, "session_id": 5}).encode(),
    "an array": json.dumps([MARK]).encode(),
    "a string": json.dumps(MARK).encode(),
    "null": b"null",
    "too long": json.dumps({"query": MARK * 200, "message": MARK * 200, "session_id": MARK}).encode(),
    "pollution": b'{"__proto__": {"query": "x"}, "constructor": "' + MARK.encode() + b'"}',
}


def head(path: str, length: int, *more: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/json", f"Content-Length: {length}", *more]
    return "\r\n".join([*lines, "", ""]).encode()


def chunked(path: str) -> bytes:
    lines = [f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/json", "Transfer-Encoding: chunked"]
    return "\r\n".join([*lines, "", ""]).encode()


async def exchanged(server: Listening, *parts: bytes) -> bytes:
    """Everything that the server says to these bytes until it closes."""
    reader, writer = await asyncio.open_connection(server.host, server.port)
    try:
        for part in parts:
            writer.write(part)
            await writer.drain()
        return await reader.read()
    except ConnectionError:
        return b""
    finally:
        writer.transport.abort()


def status(reply: bytes) -> int:
    return int(reply.split(b" ", 2)[1])


@pytest.mark.parametrize("path", PATHS)
async def test_a_broken_body_is_a_400_without_an_echo(path: str) -> None:
    async with listening(an_app()) as server:
        for name, body in BODIES.items():
            reply = await exchanged(server, head(path, len(body), "Connection: close"), body)
            assert status(reply) == 400, name
            assert MARK.encode() not in reply, name
            assert b"Traceback" not in reply, name


@pytest.mark.parametrize("path", PATHS)
async def test_ten_megabytes_are_too_large_however_they_come(path: str) -> None:
    size = 10 * 1024 * 1024
    async with listening(an_app()) as server:
        announced = await exchanged(server, head(path, size), b"x" * size)
        assert status(announced) == 413
        chunk = b"10000\r\n" + b"x" * 0x10000 + b"\r\n"
        reply = await exchanged(server, chunked(path), *[chunk] * 160, b"0\r\n\r\n")
        assert status(reply) == 413
        assert b"connection: close" in reply


async def test_a_body_without_an_end_is_cut_off() -> None:
    async with listening(an_app()) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(
            b"POST /chat HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
        )
        sent = 0
        try:
            while sent < 200_000_000 and not reader.at_eof():
                writer.write(b"10000\r\n" + b" " * 0x10000 + b"\r\n")
                await writer.drain()
                sent += 0x10000
        except ConnectionError:
            pass
        assert sent < 200_000_000
        writer.transport.abort()


async def test_a_slow_body_is_given_up() -> None:
    async with listening(an_app(options=ApiOptions(body_seconds=0.2))) as server:
        reply = await exchanged(server, head("/chat", 1000), b'{"query": ')
        assert status(reply) == 408
        assert b"request_timeout" in reply


async def test_a_client_that_announces_too_much_is_refused_before_it_sends() -> None:
    async with listening(an_app()) as server:
        reply = await exchanged(server, head("/chat", 10_000_000, "Expect: 100-continue"))
        assert status(reply) == 413


FLOODS = {
    "one large header": b"GET /health HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 5_000_000,
    "one header of 40 KiB": b"GET /health HTTP/1.1\r\nHost: x\r\nX: " + b"a" * 40_000 + b"\r\n\r\n",
    "many headers": b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 500 + b"\r\n",
    "headers without end": b"GET /health HTTP/1.1\r\nHost: x\r\n" + b"X: y\r\n" * 50_000,
    "a long address": b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: x\r\n\r\n",
}


@pytest.mark.fault("floods of headers", "refused")
@pytest.mark.parametrize("name", FLOODS)
async def test_a_flood_of_headers_is_refused(name: str) -> None:
    async with listening(an_app()) as server:
        reply = await exchanged(server, FLOODS[name])
        assert reply == b"" or status(reply) == 431


GARBAGE = {
    "no HTTP": b"\x00\x01\x02\x03" * 100 + b"\r\n\r\n",
    "TLS": bytes.fromhex("16030100f1010000ed0303") + b"\x00" * 50 + b"\r\n\r\n",
    "bad version": b"GET / HTTP/9.9\r\n\r\n",
    "space in header": b"GET / HTTP/1.1\r\nHost : x\r\n\r\n",
    "two lengths": b"POST /chat HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nx",
    "both lengths": b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    "negative length": b"POST /chat HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
    "bad chunk": b"POST /chat HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "NUL in path": b"GET /\x00 HTTP/1.1\r\nHost: x\r\n\r\n",
    "no host": b"GET /health/live HTTP/1.1\r\n\r\n",
    "two hosts": b"GET /health/live HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n",
    "bare CR": b"GET / HTTP/1.1\rHost: x\r\r",
}


@pytest.mark.fault("what is not HTTP", "400")
@pytest.mark.parametrize("name", GARBAGE)
async def test_what_is_not_http_is_a_400_in_the_developers_shape(name: str) -> None:
    async with listening(an_app()) as server:
        reply = await exchanged(server, GARBAGE[name])
    assert status(reply) == 400
    assert json.loads(reply.split(b"\r\n\r\n", 1)[1])["error_code"] == "validation_error"


PATHS_OF_EVIL = [
    "/%00",
    "/%ff%fe",
    "/..%2f..%2fetc%2fpasswd",
    "/page/%2e%2e%2f%2e%2e%2fmodels.py",
    "/sessions/%00",
    "/sessions/..%2f..",
    "/book/page?url=%00",
    "/book/page?url=%ff",
    "/book/page?url=file:///etc/passwd",
    "/book/page?url=" + "a" * 3000,
    "/book/page?url=http://[",
    "/sessions/3f0e6b1a-8c55-4c8b-9d41-2f6a7b1c0e5d?limit=999999999999999999999",
    "//[::",
    "/nowhere?" + "a=b&" * 500,
]


@pytest.mark.parametrize("path", PATHS_OF_EVIL)
async def test_a_strange_path_is_a_client_error(path: str) -> None:
    async with listening(an_app()) as server:
        reply = await exchanged(server, f"GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n".encode())
    assert status(reply) in (400, 404)
    assert b"root:" not in reply


async def test_strange_headers_do_no_harm() -> None:
    lines = [
        b"X-Request-ID: \xff\xfe<script>",
        b"X-Forwarded-For: " + b"1.2.3.4," * 500,
        b"Accept: " + b"application/vnd.api.v99999999999999999999+json," * 20,
        b"Origin: \xff",
        b"X-API-Key: \xff\xff",
        b"traceparent: 00-zz",
        b"Idempotency-Key: \xc3\xa9",
        b"Authorization: Bearer \xff",
    ]
    body = b'{"query": "x"}'
    for keys in ((), ("alpha",)):
        options = ApiOptions(trusted_proxies=("127.0.0.0/8",), keys=keys, origins=("https://docs.example.com",))
        async with listening(an_app(options=options)) as server:
            for line in lines:
                raw = head("/chat", len(body), "Connection: close")[:-2] + line + b"\r\n\r\n" + body
                reply = await exchanged(server, raw)
                assert status(reply) < 500, line
                assert b"<script>" not in reply


class Patient(hardened.HardenedProtocol):
    """Its time is over when the test says so."""

    head_seconds = 3600.0


async def connection_of(server: Listening, *, in_head: bool) -> Patient:
    """The one connection, once it has come as far."""
    while True:
        for connection in server.server.server_state.connections:
            if isinstance(connection, Patient) and connection.in_head == in_head and connection.awaits_head:
                return connection
        await asyncio.sleep(0.01)


@pytest.mark.parametrize("beginning", [b"", b"GET / HT", b"GET / HTTP/1.1\r\nHost: x\r\n"])
async def test_a_connection_that_sends_no_request_is_closed(beginning: bytes) -> None:
    async with listening(an_app(), http=Patient) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(beginning)
        (await connection_of(server, in_head=bool(beginning))).head_is_late()
        reply = await reader.read()
        assert reply == b"" if beginning == b"" else status(reply) == 408
        writer.transport.abort()


async def test_a_second_request_that_trickles_in_is_closed_too() -> None:
    async with listening(an_app(), http=Patient) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n")
        await reader.readuntil(b'{"status":"alive"}')
        writer.write(b"GET /hea")
        (await connection_of(server, in_head=True)).head_is_late()
        assert status(await reader.read()) == 408
        writer.transport.abort()


async def test_a_slow_question_is_not_taken_for_an_idle_connection() -> None:
    go = asyncio.Event()
    engine = ScriptedEngine([go, *answering()])
    async with listening(an_app(engine), http=Patient) as server:
        body = b'{"query": "x"}'
        asking = asyncio.create_task(exchanged(server, head("/chat", len(body), "Connection: close"), body))
        await engine.busy.acquire()
        assert [c.awaits_head for c in server.server.server_state.connections if isinstance(c, Patient)] == [False]
        go.set()
        assert status(await asking) == 200


async def test_pipelined_requests_are_answered_in_order() -> None:
    ask = b"GET /health/live HTTP/1.1\r\nHost: x\r\n\r\n"
    last = b"GET /nowhere HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
    async with listening(an_app(), http=Patient) as server:
        reply = await exchanged(server, ask + ask + last)
    assert reply.count(b"200 OK") == 2
    assert reply.count(b"404 Not Found") == 1


class Small(hardened.HardenedProtocol):
    most_connections = 3


async def test_too_many_connections_are_refused() -> None:
    async with listening(an_app(), http=Small) as server:
        held = [await asyncio.open_connection(server.host, server.port) for _ in range(3)]
        reply = await exchanged(server, b"GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        assert reply == b"" or status(reply) == 503
        for _, writer in held:
            writer.transport.abort()
