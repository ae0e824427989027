"""An engine that follows a script, parts around it, and ways to reach an app: in process, or over a real socket."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

import httpx
import uvicorn
from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from citewell.api.app import create_app
from citewell.api.options import ApiOptions, ApiParts, Conversations, Probe
from citewell.api.server import HardenedProtocol
from citewell.conversations.turns import Turn, TurnPage, Vote
from citewell.document import read_plain
from citewell.errors import NotFoundError
from citewell.judge import Checked, check, passage_of
from citewell.retrieval import Found
from citewell.values import (
    NO_FILTERS,
    Answer,
    AnswerEvent,
    Citation,
    Completed,
    Filters,
    Page,
    PageEntry,
    Passage,
    PassagesFound,
    Question,
    ScoredPassage,
    SearchStarted,
    ServiceStatus,
    TextReleased,
)
from tests.support.judges import WordJudge

SESSION = "3f0e6b1a-8c55-4c8b-9d41-2f6a7b1c0e5d"

NODE = Passage(
    id="5b0b2e2e-6d1c-5c3e-9d55-0d6c8f0a1b2c",
    url="/docs/module-1-ros2/nodes",
    page_title="Nodes",
    text="A ROS 2 node is a process that performs computation. Nodes talk to each other over topics.",
    chunk_index=3,
    char_start=100,
    char_end=191,
    heading_path=("What a node is", "In one sentence"),
    anchor="in-one-sentence",
    module="Module 1: ROS 2",
)
TOPIC = replace(
    NODE,
    id="9a4de0a0-0d8e-5a41-8a20-3d1b9be0f111",
    url="/docs/module-1-ros2/topics",
    page_title="Topics",
    text="A topic is a named bus over which nodes exchange messages.",
    chunk_index=0,
    heading_path=(),
    anchor="",
)
FOUND = (
    ScoredPassage(NODE, score=0.8912, dense=0.8912, bm25=7.1, fused=0.9),
    ScoredPassage(TOPIC, score=0.61, dense=0.61, bm25=2.0, fused=0.4),
)
TEXT = "A ROS 2 node is a process that performs computation. [1]"
ANSWER = Answer(
    id="0b9f3c1e-52c4-4f0a-8a59-6cf1f2f1a001",
    session_id=SESSION,
    mode="general",
    text=TEXT,
    status="success",
    citations=(Citation(1, NODE, 0.8912, "A ROS 2 node is a process that performs computation."),),
    confidence=0.92,
    confidence_level="high",
    model="citewell-extractive",
    chunks_retrieved=2,
    elapsed_ms=41.5,
    input_hash="a" * 64,
    output_hash="b" * 64,
)
REFUSAL = replace(
    ANSWER,
    text="I don't have information about that in the available documentation.",
    status="refused",
    citations=(),
    confidence=0.12,
    confidence_level="insufficient",
    refusal_reason="No relevant content found with sufficient confidence",
)


def answering(text: str = TEXT, answer: Answer = ANSWER, query: str = "What is a ROS 2 node?") -> list[AnswerEvent]:
    """The events of an answer, word by word."""
    words = text.split(" ")
    deltas = [TextReleased(word if i == 0 else f" {word}") for i, word in enumerate(words)] if text else []
    return [SearchStarted(query, 5, {}), PassagesFound(query, FOUND), *deltas, Completed(answer)]


Step = AnswerEvent | asyncio.Event | Exception


@dataclass
class ScriptedEngine:
    """Plays the same script for every question; an asyncio.Event in it is waited for, an exception is raised."""

    script: Sequence[Step] = field(default_factory=answering)
    questions: list[Question] = field(default_factory=list)
    started: int = 0
    finished: int = 0
    """Runs that ended in any way."""
    busy: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))
    """Released each time that a run waits for an event of the script."""
    done: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(0))

    async def stream(self, question: Question) -> AsyncGenerator[AnswerEvent, None]:
        self.questions.append(question)
        self.started += 1
        try:
            for step in self.script:
                match step:
                    case asyncio.Event():
                        self.busy.release()
                        await step.wait()
                    case Exception():
                        raise step
                    case Completed(answer):
                        yield Completed(replace(answer, session_id=question.session_id, mode=question.mode))
                    case _:
                        yield step
        finally:
            self.finished += 1
            self.done.release()


@dataclass
class Shelf:
    """A book of two pages."""

    contents: list[PageEntry] = field(
        default_factory=lambda: [
            PageEntry("/docs/module-1-ros2/nodes", "Nodes", "Module 1: ROS 2", 4),
            PageEntry("https://book.example.com/docs/intro", "Introduction", "", 1),
        ]
    )

    async def pages(self) -> list[PageEntry]:
        return self.contents

    async def page(self, url: str) -> Page | None:
        text = f"# {url}\n\nText."
        entry = next((page for page in self.contents if page.url == url), None)
        return Page(url, entry.title, text, read_plain(text), entry.module) if entry else None

    async def search(self, query: str, *, top_k: int = 5, filters: Filters = NO_FILTERS) -> Found:
        del filters
        return Found(FOUND[:top_k], len(FOUND), "g1", 1.0, 1.0, query)


@dataclass
class Notebook:
    """Conversations of one session."""

    turns: list[Turn] = field(default_factory=list)
    votes: list[tuple[str, str, Vote | None, str | None]] = field(default_factory=list)

    async def session(
        self, session_id: str, *, owner: str = "", limit: int = 50, before: str | None = None
    ) -> TurnPage:
        del owner, before
        found = [turn for turn in self.turns if turn.answer.session_id == session_id]
        return TurnPage(tuple(found[-limit:]), found[-limit].id if len(found) > limit else None)

    async def turn(self, turn_id: str) -> Turn:
        found = next((turn for turn in self.turns if turn.id == turn_id), None)
        if found is None:
            raise NotFoundError("There is no such answer, or it is no longer kept.")
        return found

    async def delete_session(self, session_id: str, *, owner: str = "") -> int:
        del owner
        before = len(self.turns)
        self.turns = [turn for turn in self.turns if turn.answer.session_id != session_id]
        return before - len(self.turns)

    async def feedback(
        self, session_id: str, turn_id: str, vote: Vote | None, comment: str | None = None, *, owner: str = ""
    ) -> None:
        del owner
        if not any(turn.id == turn_id and turn.answer.session_id == session_id for turn in self.turns):
            raise NotFoundError("There is no such turn in this session.")
        self.votes.append((session_id, turn_id, vote, comment))


def a_turn(answer: Answer = ANSWER, question: str = "What is a ROS 2 node?") -> Turn:
    return Turn(question, None, answer, datetime(2026, 1, 2, tzinfo=UTC), 1, True, "r-1", None, None, None)


async def up() -> ServiceStatus:
    return ServiceStatus("up", 1.0)


UP: Mapping[str, Probe] = {"qdrant": up, "cohere": up, "gemini": up, "database": up}


PATIENT = ApiOptions(
    address_limit=100_000,
    session_limit=100_000,
    answer_seconds=600,
    body_seconds=600,
    send_seconds=600,
    probe_seconds=600,
)
"""Limits that no test means and no machine is too slow for."""


async def _checked(text: str, passages: Sequence[str] | None) -> Checked:
    given = [
        passage_of(passage, number) for number, passage in enumerate(passages or ["A ROS 2 node is a process."], 1)
    ]
    return Checked(tuple(await check(text, given, WordJudge())), tuple(given))


def an_app(
    engine: ScriptedEngine | None = None,
    options: ApiOptions | None = None,
    *,
    probes: Mapping[str, Probe] = UP,
    conversations: Conversations | None = None,
    warm_up: Callable[[], Awaitable[None]] | None = None,
) -> FastAPI:
    @contextlib.asynccontextmanager
    async def open_parts() -> AsyncIterator[ApiParts]:
        yield ApiParts(
            engine=engine or ScriptedEngine(),
            book=Shelf(),
            conversations=conversations or Notebook(),
            probes=probes,
            check=_checked,
            warm_up=warm_up,
        )

    return create_app(open_parts, options or PATIENT)


@contextlib.asynccontextmanager
async def in_process(app: FastAPI, *, client: str = "192.0.2.7") -> AsyncIterator[httpx.AsyncClient]:
    """A client of an app whose lifespan is open, without a socket."""
    async with app.router.lifespan_context(app) as state:

        async def with_state(scope: Scope, receive: Receive, send: Send) -> None:
            await app({**scope, "state": dict(state or {})}, receive, send)

        transport = httpx.ASGITransport(app=with_state, client=(client, 5000))
        async with httpx.AsyncClient(transport=transport, base_url="http://citewell.test") as http:
            yield http


class QuietServer(uvicorn.Server):
    """Leaves the signals of the test run alone."""

    @contextlib.contextmanager
    def capture_signals(self):  # type: ignore[no-untyped-def] # uvicorn's own annotation differs between versions
        yield


@dataclass
class Listening:
    """A server on a free port of this machine."""

    host: str
    port: int
    server: uvicorn.Server

    @property
    def url(self) -> str:
        return f"http://{self.host}:{self.port}"


@contextlib.asynccontextmanager
async def listening(app: FastAPI, **config: object) -> AsyncIterator[Listening]:
    """The app behind the hardened server, in this event loop."""
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    settings = {"http": HardenedProtocol, "ws": "none", "log_config": None, "proxy_headers": False} | config
    server = QuietServer(uvicorn.Config(app, loop="none", **settings))  # type: ignore[arg-type] # a table of options
    async with asyncio.TaskGroup() as group:
        serving = group.create_task(server.serve(sockets=[listener]))
        while not server.started:
            await asyncio.sleep(0.01)
            if serving.done():
                break
        try:
            yield Listening("127.0.0.1", listener.getsockname()[1], server)
        finally:
            server.should_exit = True


@dataclass(frozen=True)
class Event:
    name: str | None
    data: dict[str, object]
    id: str | None


def events_of(body: str) -> list[Event]:
    """What a client of server-sent events makes of a body."""
    events = []
    for block in body.split("\n\n"):
        lines = [line for line in block.split("\n") if line and not line.startswith(":")]
        fields = dict(line.split(": ", 1) for line in lines)
        if "data" in fields:
            events.append(Event(fields.get("event"), json.loads(fields["data"]), fields.get("id")))
    return events
