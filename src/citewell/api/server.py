"""Uvicorn, hardened: bounded heads, idle time and connections, an end for every stream when the server stops."""

import asyncio
import contextlib
import json
import signal
import socket
import uuid
from asyncio import TimerHandle
from collections.abc import Callable, Generator
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any

import uvicorn
from fastapi import FastAPI
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from citewell.api.metrics import forget_worker
from citewell.api.workers import Supervisor

if TYPE_CHECKING:
    from citewell.api.app_state import ApiState

STARTUP_FAILED = 3
MAX_HEAD = 32 * 1024
MAX_FIELDS = 100
IDLE_SECONDS = 10
GRACE_SECONDS = 25
"""Longer than streams are given to end, shorter than the 30 s in which the process must be gone."""


def serve(app_factory: Callable[[], FastAPI], *, host: str = "127.0.0.1", port: int = 8000, workers: int = 1) -> None:
    """Serve until a signal. With several workers the factory is sent to new processes, so it must be picklable."""
    if workers == 1:
        _serve_on(app_factory, host, port, None, lambda: None)
        return
    app_factory()  # a wrong setting stops the start here, not in every worker
    with _config(app_factory, host, port).bind_socket() as listener:
        Supervisor(partial(_serve_on, app_factory, host, port), listener, workers, forget_worker).run()


def _serve_on(
    app_factory: Callable[[], FastAPI],
    host: str,
    port: int,
    listener: socket.socket | None,
    listens: Callable[[], None],
) -> None:
    server = _Server(_config(app_factory, host, port), listens)
    server.run(sockets=None if listener is None else [listener])
    if not server.started:
        raise SystemExit(STARTUP_FAILED)


def _config(app_factory: Callable[[], FastAPI], host: str, port: int) -> uvicorn.Config:
    return uvicorn.Config(
        app_factory,
        factory=True,
        host=host,
        port=port,
        http=HardenedProtocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,
        proxy_headers=False,  # addresses are ours to judge, from TRUSTED_PROXIES
        server_header=False,
        timeout_keep_alive=IDLE_SECONDS,
        timeout_graceful_shutdown=GRACE_SECONDS,
    )


class _Server(uvicorn.Server):
    """Ends well when it is told to: uvicorn would raise the signal once more, and die of it."""

    def __init__(self, config: uvicorn.Config, listens: Callable[[], None]) -> None:
        super().__init__(config)
        self._listens = listens

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            self._listens()

    @contextlib.contextmanager
    def capture_signals(self) -> Generator[None]:
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


class RefusedHead(Exception):
    """Stops the parser."""


class HardenedProtocol(HttpToolsProtocol):
    """A connection whose request heads are small and come in time, and which is cut when it cannot be closed."""

    head_seconds = 10.0
    last_head_seconds = 1.0
    flush_seconds = 5.0
    most_connections = 4000

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.in_head = False
        self._has_asked = False
        self._leaving = False
        self._head_size = 0
        self._head_timer: TimerHandle | None = None
        self._refusal: HTTPStatus = HTTPStatus.BAD_REQUEST

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn does
        super().connection_made(transport)
        if len(self.connections) > self.most_connections:
            self._refuse(HTTPStatus.SERVICE_UNAVAILABLE)
        else:
            self._expect_head()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_timer()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        if self.transport.is_closing():
            return
        super().data_received(data)
        if self.in_head:
            self._head_size += len(data)
            if self._head_size > MAX_HEAD:
                self._refuse(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self.in_head = True
        self._head_size = 0
        self.scope["extensions"] = {"citewell.abort": {"call": self.transport.abort}}

    def on_headers_complete(self) -> None:
        self.in_head = False
        self._stop_timer()
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > MAX_HEAD or len(self.headers) > MAX_FIELDS:
            self._refusal = HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE
            raise RefusedHead
        if self.parser.get_http_version() == "1.1" and sum(name == b"host" for name, _ in self.headers) != 1:
            raise RefusedHead  # without one name for the host, a proxy and we may take it for two different sites
        super().on_headers_complete()
        self._has_asked = True
        if self._leaving:
            self.cycle.keep_alive = False

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():
            self._cut_later()
        elif self.cycle.response_complete:  # else the next request of a pipeline is at work already
            self._expect_head()

    def timeout_keep_alive_handler(self) -> None:
        super().timeout_keep_alive_handler()
        self._cut_later()

    def shutdown(self) -> None:
        """The server stops: the app's streams have a bounded time from now on."""
        state: ApiState | None = self.app_state.get("citewell")
        if state is not None:
            state.open_runs.stop()
        if not self._has_asked:
            # Whoever has just connected may be sending: it is served once more, if its head comes soon.
            self._leaving = True
            self._stop_timer()
            self._head_timer = self.loop.call_later(self.last_head_seconds, self.head_is_late)
        else:
            super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """What cannot be parsed gets the developer's shape of an error, whatever the reason was."""
        del msg
        self._refuse(self._refusal)

    @property
    def awaits_head(self) -> bool:
        """The next head must come in time."""
        return self._head_timer is not None

    def _expect_head(self) -> None:
        self._stop_timer()
        self._head_timer = self.loop.call_later(self.head_seconds, self.head_is_late)

    def head_is_late(self) -> None:
        if self.in_head:
            self._refuse(HTTPStatus.REQUEST_TIMEOUT)
        else:
            self.transport.close()
            self._cut_later()

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, status: HTTPStatus) -> None:
        error = {"error_code": _CODES[status], "message": f"{status.phrase}.", "details": None}
        body = json.dumps({**error, "trace_id": str(uuid.uuid4()), "retry_after": None}).encode()
        self.transport.write(
            b"HTTP/1.1 %d %s\r\ncontent-type: application/json\r\ncontent-length: %d\r\n%sconnection: close\r\n\r\n%s"
            % (status, status.phrase.encode(), len(body), self._cors(), body)
        )
        self.transport.close()
        self._stop_timer()
        self._cut_later()

    def _cors(self) -> bytes:
        """Who asked is not known yet, and nothing here is secret: where sites may ask at all, each may read it."""
        state: ApiState | None = self.app_state.get("citewell")
        return b"access-control-allow-origin: *\r\n" if state and state.options.asking_origins else b""

    def _cut_later(self) -> None:
        """A closing connection waits for its last bytes to be read; one that is not read is cut."""
        self.loop.call_later(self.flush_seconds, self.transport.abort)


_CODES = {
    HTTPStatus.BAD_REQUEST: "validation_error",
    HTTPStatus.REQUEST_TIMEOUT: "request_timeout",
    HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE: "payload_too_large",
    HTTPStatus.SERVICE_UNAVAILABLE: "service_unavailable",
}
