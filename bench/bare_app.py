"""A bare FastAPI route that returns the same bytes, to see what Citewell's own server adds. Served by uvicorn."""

import os
from collections.abc import AsyncIterator
from pathlib import Path

from fastapi import FastAPI, Request
from fastapi.responses import Response, StreamingResponse

app = FastAPI()
REPLY = Path(os.environ["BARE_REPLY"]).read_bytes()
STREAM = [part + b"\r\n\r\n" for part in Path(os.environ["BARE_STREAM"]).read_bytes().split(b"\r\n\r\n") if part]


@app.post("/chat")
async def chat(request: Request) -> Response:
    await request.body()
    return Response(REPLY, media_type="application/json")


@app.post("/chat/stream")
async def stream(request: Request) -> StreamingResponse:
    await request.body()

    async def events() -> AsyncIterator[bytes]:
        for event in STREAM:
            yield event

    return StreamingResponse(events(), media_type="text/event-stream")
