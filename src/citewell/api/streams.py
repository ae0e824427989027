"""Server-sent events: answers pulled from the engine, bounded in time, sent as events. Owner of sse_starlette.

A run is closed when its exchange ends, also if its stream never started.
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Sequence
from itertools import count
from typing import TypeVar

from sse_starlette import EventSourceResponse, ServerSentEvent
from sse_starlette.sse import AppStatus, SendTimeoutError
from starlette.types import Receive, Scope, Send

from citewell.api.dialects.protocol import StreamRendering, WireEvent
from citewell.api.http_errors import Stopping
from citewell.api.metrics import Metrics
from citewell.api.middleware import ReaderGone, ReaderStalled
from citewell.errors import CitewellError, DeadlineError, EndlessAnswerError
from citewell.logs import log, log_failure
from citewell.values import Answer, AnswerEvent, Completed, Failed, PassagesFound, SearchStarted, TextReleased

Result = TypeVar("Result")


class OpenRuns:
    """The runs that are open, so that a stopping server can bound them all."""

    def __init__(self, *, answer_seconds: float, stop_seconds: float) -> None:
        self.answer_seconds = answer_seconds
        self._stop_seconds = stop_seconds
        self.runs: set[AnswerRun] = set()
        self.stops_at: float | None = None
        # The library would cut every stream at the signal; ours get a while to end.
        AppStatus.enable_automatic_graceful_drain = False

    def stop(self) -> None:
        """Let open runs go on for a while, then end them with an error. May be called more than once."""
        if self.stops_at is None:
            self.stops_at = asyncio.get_running_loop().time() + self._stop_seconds
            for run in self.runs:
                run.shorten()


class AnswerRun:
    """One question's events, watched. The last is always Completed or Failed, whatever the engine does."""

    def __init__(
        self,
        events: AsyncGenerator[AnswerEvent, None],
        *,
        seen: list[AnswerEvent],
        open_runs: OpenRuns,
        metrics: Metrics,
        dialect: str,
        query_length: int,
    ) -> None:
        self._events = events
        self._open_runs = open_runs
        self._metrics = metrics
        self._dialect = dialect
        self._query_length = query_length
        self._ends = asyncio.get_running_loop().time() + open_runs.answer_seconds
        self._waiting: asyncio.Timeout | None = None
        self._begun = self._searched = time.perf_counter()
        self._said = False
        self.seen = seen
        open_runs.runs.add(self)
        metrics.opened()

    async def next(self) -> AnswerEvent:
        try:
            async with asyncio.timeout_at(self._deadline()) as self._waiting:
                event = await anext(self._events)
        except StopAsyncIteration:
            event = Failed(EndlessAnswerError())
        except TimeoutError:
            stopping = self._open_runs.stops_at is not None
            event = Failed(Stopping() if stopping else DeadlineError("The answer took too long."))
        finally:
            self._waiting = None
        self._watch(event)
        self.seen.append(event)
        return event

    @property
    def ended(self) -> bool:
        return bool(self.seen) and isinstance(self.seen[-1], Completed | Failed)

    async def answer(self) -> Answer:
        """The collected stream. Raises the error that it ended with."""
        while True:
            match await self.next():
                case Completed(answer):
                    return answer
                case Failed(error):
                    raise error

    async def until_shown(self, rendering: StreamRendering) -> list[WireEvent]:
        """Run to the first events worth a reply. Raises the error of a run that fails before: it gets a real status."""
        shown: list[WireEvent] = []
        while True:
            event = await self.next()
            if isinstance(event, Failed):
                raise event.error
            rendered = rendering.render(event)
            shown += rendered
            if rendered and not isinstance(event, SearchStarted):
                return shown

    def shorten(self) -> None:
        if self._waiting is not None:
            self._waiting.reschedule(self._deadline())

    async def aclose(self) -> None:
        self._open_runs.runs.discard(self)
        self._metrics.closed()
        await self._events.aclose()
        if self.seen and not self.ended:
            self._metrics.answered(self._dialect, "abandoned")

    def _deadline(self) -> float:
        return min(self._ends, self._open_runs.stops_at or self._ends)

    def _watch(self, event: AnswerEvent) -> None:
        now = time.perf_counter()
        match event:
            case PassagesFound(_, passages) if self._searched == self._begun:
                self._searched = now
                self._metrics.retrieved(now - self._begun)
                log("retrieval", "passages found", latency_ms=(now - self._begun) * 1000, result_count=len(passages))
            case TextReleased() if not self._said:
                self._said = True
                self._metrics.first_text(self._dialect, now - self._begun)
            case Completed(answer):
                self._metrics.generated(now - self._searched)
                self._metrics.answered(self._dialect, answer.status, answer.dropped_sentences, answer.drop_reasons)
                log(
                    "agent",
                    f"answer finished: {answer.status}",
                    latency_ms=(now - self._begun) * 1000,
                    query_length=self._query_length,
                    result_count=answer.chunks_retrieved,
                    dropped_sentences=answer.dropped_sentences,
                )
                if answer.drop_reasons:
                    log("agent", "sentences were dropped", level="debug", reasons="; ".join(answer.drop_reasons))
            case Failed(error):
                self._metrics.answered(self._dialect, "error")
                log_failure("agent", "answer failed", error)


async def replayed(events: Sequence[AnswerEvent]) -> AsyncGenerator[AnswerEvent, None]:
    for event in events:
        yield event


async def unless_gone(receive: Receive, work: Awaitable[Result]) -> Result:
    """Do the work, but stop it when the client closes the connection. Raises ReaderGone then."""

    async def watch() -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        working.cancel()

    async def do() -> Result:
        return await work

    try:
        async with asyncio.TaskGroup() as group:
            working = group.create_task(do())
            watching = group.create_task(watch())
            working.add_done_callback(lambda _: watching.cancel())
    except* CitewellError as failed:
        raise failed.exceptions[0] from None
    if working.cancelled():
        raise ReaderGone
    return working.result()


class EventStream(EventSourceResponse):
    """A run as server-sent events: numbered, one line of ASCII JSON each, with comments while nothing happens."""

    def __init__(
        self,
        run: AnswerRun,
        rendering: StreamRendering,
        shown: Sequence[WireEvent],
        *,
        heartbeat_seconds: float,
        send_seconds: float,
        headers: dict[str, str],
    ) -> None:
        super().__init__(
            _encoded(run, rendering, shown),
            # A charset would make the seed's client take it for no stream at all.
            headers={"content-type": "text/event-stream", "cache-control": "no-store", **headers},
            ping=heartbeat_seconds,
            ping_message_factory=lambda: ServerSentEvent(comment="keep-alive", sep="\n"),
            send_timeout=send_seconds,
            sep="\n",
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            await super().__call__(scope, receive, send)
        except SendTimeoutError as error:
            raise ReaderStalled from error


async def _encoded(
    run: AnswerRun, rendering: StreamRendering, shown: Sequence[WireEvent]
) -> AsyncGenerator[bytes, None]:
    numbers = count(1)
    while True:
        if shown:
            yield "".join(event.numbered(next(numbers)) for event in shown).encode("ascii")
        if run.ended:
            return
        try:
            shown = rendering.render(await run.next())
        except Exception as error:  # noqa: BLE001 the last handler of a reply that has begun
            log_failure("response", "stream failed", error)
            run.seen.append(failed := Failed(CitewellError("internal")))
            shown = rendering.render(failed)
