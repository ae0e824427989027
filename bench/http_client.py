"""A client that costs little: HTTP over one kept connection, so that two cores go to the server under test."""

import asyncio
import json
import time
from dataclasses import dataclass
from typing import Self


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: bytes
    first_byte_ms: float


class Connection:
    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, host: str) -> None:
        self._reader, self._writer, self._host = reader, writer, host

    @classmethod
    async def open(cls, port: int) -> Self:
        reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
        return cls(reader, writer, f"127.0.0.1:{port}")

    async def get(self, path: str) -> Reply:
        return await self._exchanged(f"GET {path} HTTP/1.1\r\nHost: {self._host}\r\n\r\n".encode())

    async def post(self, path: str, body: dict[str, object]) -> Reply:
        content = json.dumps(body).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: {self._host}\r\nContent-Type: application/json\r\n"
            f"Content-Length: {len(content)}\r\n\r\n"
        )
        return await self._exchanged(head.encode() + content)

    async def _exchanged(self, request: bytes) -> Reply:
        start = time.perf_counter()
        self._writer.write(request)
        await self._writer.drain()
        lines = (await self._reader.readuntil(b"\r\n\r\n")).decode("latin-1").lower().split("\r\n")
        first = (time.perf_counter() - start) * 1000
        headers = dict(line.split(": ", 1) for line in lines[1:] if ": " in line)
        if "content-length" in headers:
            found = await self._reader.readexactly(int(headers["content-length"]))
        else:
            found = await self._chunks()
        return Reply(int(lines[0].split()[1]), found, first)

    async def _chunks(self) -> bytes:
        parts = []
        while size := int((await self._reader.readline()).strip() or b"0", 16):
            parts.append(await self._reader.readexactly(size))
            await self._reader.readexactly(2)
        await self._reader.readline()
        return b"".join(parts)

    def close(self) -> None:
        self._writer.close()
