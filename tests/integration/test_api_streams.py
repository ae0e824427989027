"""Streams over a real socket: readers who leave, readers who do not read, silence, and a server that stops."""

import asyncio
import json
import uuid
from collections.abc import Callable

import httpx
import pytest

from citewell.api.options import ApiOptions
from citewell.values import Completed, TextReleased
from tests.support.api import ANSWER, SESSION, Listening, ScriptedEngine, an_app, answering, events_of, listening

QUERY: dict[str, object] = {"query": "What is a ROS 2 node?"}
STREAMS = 1000
MESSAGE: dict[str, object] = {"message": "What is a ROS 2 node?", "session_id": SESSION}
ASKING = [("/chat", QUERY), ("/chat/run", MESSAGE), ("/chat/stream", QUERY), ("/chat/stream", MESSAGE)]


def request(path: str, body: dict[str, object], *headers: str) -> bytes:
    raw = json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: x", "Content-Type: application/json", f"Content-Length: {len(raw)}"]
    return "\r\n".join([*lines, *headers, "", ""]).encode() + raw


async def until(holds: Callable[[], bool]) -> None:
    while not holds():  # noqa: ASYNC110 uvicorn has no event for it
        await asyncio.sleep(0.01)


async def nothing_left(server: Listening) -> None:
    state = server.server.server_state
    await until(lambda: not state.tasks and not state.connections)


async def test_words_arrive_while_the_answer_is_made() -> None:
    go = asyncio.Event()
    engine = ScriptedEngine([*answering()[:4], go, *answering()[4:]])
    async with (
        listening(an_app(engine)) as server,
        httpx.AsyncClient(base_url=server.url, timeout=None) as http,
        http.stream("POST", "/chat/stream", json=MESSAGE) as reply,
    ):
        text = ""
        async for part in reply.aiter_text():
            text += part
            if "content" in text:
                go.set()
    assert [event.name for event in events_of(text)][:3] == ["tool_call", "retrieval", "content"]
    assert events_of(text)[-1].name == "done"


@pytest.mark.fault("leavers", "everything is freed")
@pytest.mark.parametrize(("path", "body"), ASKING)
@pytest.mark.parametrize("after", [0, 4])
async def test_a_reader_who_leaves_frees_everything(path: str, body: dict[str, object], after: int) -> None:
    engine = ScriptedEngine([*answering()[:after], asyncio.Event()])
    async with listening(an_app(engine, ApiOptions(at_once=1))) as server:
        for _ in range(3):  # each finds the only slot free
            _, writer = await asyncio.open_connection(server.host, server.port)
            writer.write(request(path, body))
            await engine.busy.acquire()
            writer.transport.abort()
            await engine.done.acquire()
        await nothing_left(server)
    assert engine.started == engine.finished == 3


async def test_a_reader_who_leaves_politely_frees_everything() -> None:
    engine = ScriptedEngine([*answering()[:4], asyncio.Event()])
    async with listening(an_app(engine, ApiOptions(at_once=1))) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(request("/chat/stream", MESSAGE))
        await reader.readuntil(b"retrieval")
        writer.close()
        await engine.done.acquire()


@pytest.mark.fault("slow readers", "cut off")
async def test_a_reader_who_does_not_read_is_cut_off() -> None:
    long = TextReleased("x" * 100_000)
    engine = ScriptedEngine([*answering()[:2], *[long] * 500, Completed(ANSWER)])
    options = ApiOptions(send_seconds=0.2)
    async with listening(an_app(engine, options)) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port, limit=1024)
        writer.write(request("/chat/stream", MESSAGE))
        await engine.done.acquire()
        await nothing_left(server)
        writer.transport.abort()
        del reader
    assert engine.finished == 1


async def test_comments_flow_while_nothing_happens() -> None:
    go = asyncio.Event()
    engine = ScriptedEngine([*answering()[:2], go, *answering()[2:]])
    options = ApiOptions(heartbeat_seconds=0.05)
    async with listening(an_app(engine, options)) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(request("/chat/stream", MESSAGE, "Connection: close"))
        await reader.readuntil(b": keep-alive\n\n")
        await reader.readuntil(b": keep-alive\n\n")
        go.set()
        assert b"event: done" in await reader.read()
        writer.close()


async def test_a_stopping_server_lets_streams_end() -> None:
    go = asyncio.Event()
    engine = ScriptedEngine([*answering()[:4], go, *answering()[4:]])
    async with listening(an_app(engine)) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(request("/chat/stream", MESSAGE))
        await engine.busy.acquire()
        server.server.should_exit = True
        await until(lambda: server.server.lifespan.state["citewell"].open_runs.stops_at is not None)
        go.set()
        assert b"event: done" in await reader.read()
        writer.close()


@pytest.mark.parametrize("body", [QUERY, MESSAGE])
async def test_a_stopping_server_ends_the_streams_that_do_not_with_an_error(body: dict[str, object]) -> None:
    engine = ScriptedEngine([*answering()[:4], asyncio.Event()])
    async with listening(an_app(engine, ApiOptions(stop_seconds=0.1))) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(request("/chat/stream", body))
        await engine.busy.acquire()
        server.server.should_exit = True
        text = (await reader.read()).decode()
        writer.close()
    assert '"service_unavailable"' in text or '"SERVICE_UNAVAILABLE"' in text
    assert engine.finished == 1


async def test_a_stopping_server_answers_a_question_that_is_no_stream_with_503() -> None:
    engine = ScriptedEngine([asyncio.Event()])
    async with listening(an_app(engine, ApiOptions(stop_seconds=0.1))) as server:
        reader, writer = await asyncio.open_connection(server.host, server.port)
        writer.write(request("/chat", QUERY))
        await engine.busy.acquire()
        server.server.should_exit = True
        assert (await reader.read()).startswith(b"HTTP/1.1 503")
        writer.close()


@pytest.mark.fault("1,000 streams of different questions", "each ends, nothing is left")
async def test_a_thousand_streams_at_once_all_end_and_leave_nothing_behind() -> None:
    go = asyncio.Event()
    engine = ScriptedEngine([*answering()[:4], go, *answering()[4:]])
    options = ApiOptions(at_once=STREAMS, address_limit=10_000, session_limit=10_000)
    async with listening(an_app(engine, options)) as server:

        async def ask(number: int) -> bytes:
            reader, writer = await asyncio.open_connection(server.host, server.port)
            asked: dict[str, object] = {"message": f"What is node {number}?", "session_id": str(uuid.uuid4())}
            writer.write(request("/chat/stream", asked, "Connection: close"))
            try:
                return await reader.read()
            finally:
                writer.close()

        async with asyncio.TaskGroup() as group:
            asked = [group.create_task(ask(number)) for number in range(STREAMS)]
            for _ in range(STREAMS):
                await engine.busy.acquire()
            go.set()
        assert all(b"event: done" in task.result() for task in asked)
        await nothing_left(server)
        state = server.server.lifespan.state["citewell"]
        assert state.concurrency.taken == len(state.open_runs.runs) == 0
    assert engine.finished == len({question.text for question in engine.questions}) == STREAMS
