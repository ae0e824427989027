"""A real HTTP server that speaks the chat-completions protocol and plays a model, well or badly behaved."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Say:
    """Text in small deltas. `finish` None breaks the stream off without an end."""

    text: str
    finish: str | None = "stop"
    size: int = 7


@dataclass(frozen=True)
class CallTool:
    arguments: str
    name: str = "search_documentation"


@dataclass(frozen=True)
class Raw:
    """Bytes as they are, after a status line of 200."""

    body: bytes
    content_type: str = "text/event-stream"


@dataclass(frozen=True)
class Refuse:
    status: int = 500
    retry_after: str = ""


@dataclass(frozen=True)
class Stall:
    """Say a little, then nothing more, with the connection open."""

    text: str = ""


@dataclass(frozen=True)
class Endless:
    """The same sentence for ever."""

    text: str


@dataclass(frozen=True)
class Drip:
    """A reply whose bytes come one by one, with a pause before each."""

    text: str
    pause: float


Play = Say | CallTool | Raw | Refuse | Stall | Endless | Drip


@dataclass
class ModelServer:
    """`plays` are given in order; the last one goes on for every further request."""

    plays: Sequence[Play]
    requests: list[dict[str, Any]] = field(default_factory=list)
    heads: list[str] = field(default_factory=list)
    left: asyncio.Event = field(default_factory=asyncio.Event)
    """Set when a client went away in the middle of a reply."""
    url: str = ""
    _writers: set[asyncio.StreamWriter] = field(default_factory=set)

    @contextlib.asynccontextmanager
    async def running(self) -> AsyncIterator["ModelServer"]:
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/"
        try:
            yield self
        finally:
            server.close()
            for writer in self._writers:
                writer.close()
            await server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            self.heads.append(head.decode("latin-1"))
            length = next(
                int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")
            )
            self.requests.append(json.loads(await reader.readexactly(length)))
            play = self.plays[min(len(self.requests), len(self.plays)) - 1]
            await self._play(play, reader, writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            self.left.set()
        finally:
            writer.close()

    async def _play(self, play: Play, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        match play:
            case Refuse(status, retry_after):
                body = b'{"error": {"message": "no"}}'
                head = _head(status, "application/json", len(body))
                if retry_after:
                    head = head.replace(b"\r\n", f"\r\nRetry-After: {retry_after}\r\n".encode(), 1)
                writer.write(head + body)
            case Raw(body, content_type):
                writer.write(_head(200, content_type) + body)
            case Say(text, finish, size):
                writer.write(_head(200))
                for start in range(0, len(text), size):
                    writer.write(_chunk({"content": text[start : start + size]}))
                if finish is not None:
                    writer.write(_chunk({}, finish) + b"data: [DONE]\n\n")
            case CallTool(arguments, name):
                call = {"index": 0, "id": f"c{len(self.requests)}", "type": "function"}
                call |= {"function": {"name": name, "arguments": arguments}}
                writer.write(_head(200) + _chunk({"tool_calls": [call]}) + _chunk({}, "tool_calls"))
                writer.write(b"data: [DONE]\n\n")
            case Stall(text):
                writer.write(_head(200) + (_chunk({"content": text}) if text else b""))
                await writer.drain()
                await reader.read()  # ends when the client goes away
                self.left.set()
            case Drip():
                await _drip(play, writer)
            case Endless(text):
                writer.write(_head(200))
                while True:
                    writer.write(_chunk({"content": text}))
                    await writer.drain()
                    await asyncio.sleep(0)
        await writer.drain()


async def _drip(play: Drip, writer: asyncio.StreamWriter) -> None:
    for byte in _head(200) + _chunk({"content": play.text}):
        writer.write(bytes([byte]))
        await writer.drain()
        await asyncio.sleep(play.pause)


def _head(status: int, content_type: str = "text/event-stream", length: int | None = None) -> bytes:
    size = f"Content-Length: {length}\r\n" if length is not None else ""
    return f"HTTP/1.1 {status} X\r\nContent-Type: {content_type}\r\n{size}Connection: close\r\n\r\n".encode()


def _chunk(delta: dict[str, Any], finish: str | None = None) -> bytes:
    choice = {"index": 0, "delta": {"role": "assistant", **delta}, "finish_reason": finish}
    chunk = {"id": "x", "object": "chat.completion.chunk", "created": 0, "model": "m", "choices": [choice]}
    return b"data: " + json.dumps(chunk).encode() + b"\n\n"
