"""Log lines: JSON, or coloured text on a terminal. The only module that imports structlog.

A line has the fields of `log`; the request's id is bound once for each request. Question text goes to debug at most.
"""

import logging
import sys
from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Literal, TextIO

import structlog

Level = Literal["debug", "info", "warning", "error"]
Stage = Literal["startup", "chat", "retrieval", "agent", "response", "limits", "health", "ingest", "database"]

_TRACEPARENT: ContextVar[str | None] = ContextVar("traceparent", default=None)


def configure(level: Level = "info", stream: TextIO | None = None) -> None:
    """Send our lines and those of the libraries to `stream` (standard error), once for each process."""
    out = stream or sys.stderr
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.stdlib.add_log_level,
        structlog.processors.EventRenamer("message"),
    ]
    structlog.configure(
        processors=[*shared, structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        wrapper_class=structlog.stdlib.BoundLogger,
        logger_factory=structlog.stdlib.LoggerFactory(),
        cache_logger_on_first_use=False,
    )
    rendering: list[structlog.types.Processor] = [structlog.stdlib.ProcessorFormatter.remove_processors_meta]
    if out.isatty():
        rendering.append(structlog.dev.ConsoleRenderer(event_key="message"))
    else:
        rendering += [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    handler = logging.StreamHandler(out)
    handler.setFormatter(structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=rendering))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel("ERROR" if level == "error" else "WARNING")
    logging.getLogger("citewell").setLevel(level.upper())
    logging.getLogger("uvicorn").setLevel("INFO" if level in ("debug", "info") else level.upper())
    # Uvicorn's own access lines would carry query strings and lack the request's id.
    logging.getLogger("uvicorn.access").setLevel("CRITICAL")


@contextmanager
def request_context(request_id: str, traceparent: str | None = None) -> Generator[None]:
    """Bind the request's id to every line of this task and of those it starts."""
    token = _TRACEPARENT.set(traceparent)
    with structlog.contextvars.bound_contextvars(
        request_id=request_id, **({"traceparent": traceparent} if traceparent else {})
    ):
        try:
            yield
        finally:
            _TRACEPARENT.reset(token)


def traceparent() -> str | None:
    """The W3C trace context of the request being served, to be passed on to services that we call."""
    return _TRACEPARENT.get()


def short(session_id: str) -> str:
    """A session's id as logs show it: enough to follow a conversation, not enough to read it back."""
    return session_id[:8]


def log(
    stage: Stage,
    message: str,
    *,
    level: Level = "info",
    latency_ms: float | None = None,
    query_length: int | None = None,
    result_count: int | None = None,
    error: str | None = None,
    exc_info: BaseException | None = None,
    **more: str | int | float | bool | None,
) -> None:
    """One line with the fields that every line has, and `more`."""
    logger = logging.getLogger("citewell")
    if not logger.isEnabledFor(getattr(logging, level.upper())):
        return
    if not structlog.is_configured():  # a library's user, or a test: their logging decides
        logger.log(getattr(logging, level.upper()), "%s: %s", stage, message, exc_info=exc_info)
        return
    fields: dict[str, object] = {"stage": stage, "error": error}
    if latency_ms is not None:
        fields["latency_ms"] = round(latency_ms, 2)
    if query_length is not None:
        fields["query_length"] = query_length
    if result_count is not None:
        fields["result_count"] = result_count
    if exc_info is not None:
        fields["exc_info"] = exc_info
    getattr(structlog.stdlib.get_logger("citewell"), level)(message, **fields, **more)
