"""An embedder that makes vectors from hashes, and a site on a loopback socket, for tests of ingestion."""

import asyncio
import contextlib
import hashlib
import re
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from citewell.values import Vector


class CountingEmbedder:
    """Remembers what it was asked to embed. Tokens are words and signs."""

    dimensions = 16

    def __init__(self, name: str = "counting", max_tokens: int = 60) -> None:
        self.name = name
        self.max_tokens = max_tokens
        self.embedded: list[str] = []
        self.before: Callable[[], object] = lambda: None

    def count_tokens(self, text: str) -> int:
        return len(re.findall(r"\w+|[^\w\s]", text))

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        self.before()
        self.embedded += texts
        rows = np.stack([self._row(text) for text in texts])
        await asyncio.sleep(0)
        return rows

    async def embed_query(self, text: str) -> Vector:
        return self._row(text)

    async def ping(self) -> None:
        pass

    async def aclose(self) -> None:
        pass

    def _row(self, text: str) -> Vector:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        row = np.random.default_rng(seed).normal(size=self.dimensions).astype(np.float32)
        return np.asarray(row / np.linalg.norm(row), dtype=np.float32)


@dataclass
class Reply:
    body: bytes | str = ""
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    """`Content-Type` is text/html when it is not given."""
    silent: bool = False
    """Nothing is sent until the reader hangs up."""


class LoopbackSite:
    """Serves `pages` by path and remembers every request: path and headers in lower case."""

    def __init__(self) -> None:
        self.pages: dict[str, Reply | Callable[[Mapping[str, str]], Reply]] = {}
        self.requests: list[tuple[str, Mapping[str, str]]] = []
        self.url = ""
        self.at_once = 0
        self.most_at_once = 0
        self.left = asyncio.Event()
        """A reader hung up on a silent reply."""

    @property
    def paths(self) -> list[str]:
        return [path for path, _ in self.requests]

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["LoopbackSite"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        port = server.sockets[0].getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        async with server:
            yield self

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
            first, *lines = head.strip().split("\r\n")
            headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in lines)}
            path = first.split(" ")[1]
            self.requests.append((path, headers))
            page = self.pages.get(path, Reply("<p>Not here.</p>", 404))
            reply = page if isinstance(page, Reply) else page(headers)
            if reply.silent:
                await reader.read()
                self.left.set()
                return
            body = reply.body.encode() if isinstance(reply.body, str) else reply.body
            fields = {"Content-Type": "text/html; charset=utf-8", **reply.headers, "Content-Length": str(len(body))}
            answer = f"HTTP/1.1 {reply.status} X\r\n" + "".join(f"{k}: {v}\r\n" for k, v in fields.items())
            writer.write(answer.encode() + b"Connection: close\r\n\r\n" + body)
            with contextlib.suppress(ConnectionError):
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the reader hung up, as it may
        finally:
            self.at_once -= 1
            writer.close()
