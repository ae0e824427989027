"""Log lines: JSON, or coloured text on a terminal. The only module that imports structlog.

A line has the fields of `log`; the request's id is bound once for each request. Question text goes to debug at most,
and no line has a traceback: what other programs say of an error may hold a key. Equal warnings are counted.
"""

import logging
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from typing import Literal, TextIO

import structlog

from citewell.errors import CitewellError

Level = Literal["debug", "info", "warning", "error"]
Stage = Literal["startup", "chat", "retrieval", "agent", "response", "limits", "health", "ingest", "database"]

Warned = tuple[Level, Stage, str, str | None]
"""What makes two lines the same: level, stage, message and error."""
COUNTED_SECONDS = 60.0
_MAX_FRAMES = 4
_NUMBER = re.compile(r"\d+")
_MAX_REASON = 200


class Repeats:
    """The first of equal warnings is written, those of the next minute are counted."""

    def __init__(self, seconds: float = COUNTED_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        self._seconds = seconds
        self._clock = clock
        self._since: dict[Warned, float] = {}
        self._counts: dict[Warned, int] = {}
        self._lock = threading.Lock()

    def is_first(self, warning: Warned) -> bool:
        with self._lock:
            if warning not in self._since:
                self._since[warning] = self._clock()
                return True
            self._counts[warning] = self._counts.get(warning, 0) + 1
            return False

    def over(self, *, all_of_them: bool = False) -> list[tuple[Warned, int]]:
        """Those whose minute is over, each with the number that was not written."""
        with self._lock:
            until = self._clock() - self._seconds
            ended = [warning for warning, since in self._since.items() if all_of_them or since <= until]
            for warning in ended:
                del self._since[warning]
            return [(warning, count) for warning in ended if (count := self._counts.pop(warning, 0))]


_repeats = Repeats()


def configure(level: Level = "info", stream: TextIO | None = None, *, secrets: Sequence[str] = ()) -> None:
    """Send our lines and those of the libraries to `stream` (standard error), once for each process.

    None of the `secrets` is written, whoever names it.
    """
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
        rendering += [_in_one_line, structlog.dev.ConsoleRenderer(event_key="message")]
    else:
        rendering += [_in_one_line, structlog.processors.JSONRenderer()]
    handler = logging.StreamHandler(out)
    formatter = structlog.stdlib.ProcessorFormatter(foreign_pre_chain=shared, processors=rendering)
    handler.setFormatter(_Discreet(formatter, secrets))
    root = logging.getLogger()
    root.handlers = [handler]
    root.setLevel("ERROR" if level == "error" else "WARNING")
    logging.getLogger("citewell").setLevel(level.upper())
    logging.getLogger("uvicorn").setLevel("INFO" if level in ("debug", "info") else level.upper())
    # Uvicorn's own access lines would carry query strings and lack the request's id.
    logging.getLogger("uvicorn.access").setLevel("CRITICAL")
    for library in ("openai", "openai.agents"):  # they quote what the service said, and we say ourselves that it failed
        logging.getLogger(library).setLevel("CRITICAL")


def request_context(request_id: str, traceparent: str | None = None) -> AbstractContextManager[None]:
    """Bind the request's id to every line of this task and of those it starts."""
    trace = {"traceparent": traceparent} if traceparent else {}
    return structlog.contextvars.bound_contextvars(request_id=request_id, **trace)


def traceparent() -> str | None:
    """The W3C trace context of the request being served, to be passed on to services that we call."""
    return structlog.contextvars.get_contextvars().get("traceparent")


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
    **more: str | int | float | bool | None,
) -> None:
    """One line with the fields that every line has, and `more`."""
    logger = logging.getLogger("citewell")
    if not logger.isEnabledFor(getattr(logging, level.upper())):
        return
    if not structlog.is_configured():  # a library's user, or a test: their logging decides
        logger.log(getattr(logging, level.upper()), "%s: %s", stage, message)
        return
    log_repeats()
    alike = None if error is None else _NUMBER.sub("…", error)  # "again in 17 s" and "again in 16 s" are one warning
    if level in ("warning", "error") and not _repeats.is_first((level, stage, message, alike)):
        return
    fields: dict[str, object] = {"stage": stage, "error": error}
    if latency_ms is not None:
        fields["latency_ms"] = round(latency_ms, 2)
    if query_length is not None:
        fields["query_length"] = query_length
    if result_count is not None:
        fields["result_count"] = result_count
    getattr(structlog.stdlib.get_logger("citewell"), level)(message, **fields, **more)


def log_repeats(*, all_of_them: bool = False) -> None:
    """Say how often warnings came again, of those whose minute is over or, at the end, of all."""
    for (level, stage, message, error), count in _repeats.over(all_of_them=all_of_them):
        logger = structlog.stdlib.get_logger("citewell")
        getattr(logger, level)(f"{message}, and again", stage=stage, error=error, times=count)


def log_failure(stage: Stage, message: str, error: BaseException) -> None:
    """One line for one error, however many handlers it passes."""
    if isinstance(error, CitewellError):
        if not error.is_logged:
            error.is_logged = True
            log(stage, message, level="error", error=told(error))
        return
    log(stage, message, level="error", error=told(error), where=_where(error))


def told(error: BaseException) -> str:
    """An error as a log may show it: our own words, and of others only the kinds and statuses."""
    reason = f"{error.code}: {error}"[:_MAX_REASON] if isinstance(error, CitewellError) else type(error).__name__
    causes: list[str] = []
    cause = error.__cause__
    while cause is not None and len(causes) < _MAX_FRAMES:
        status = getattr(cause, "status_code", None)
        causes.append(type(cause).__name__ + (f" {status}" if isinstance(status, int) else ""))
        cause = cause.__cause__
    return " < ".join([reason, *causes])


def _where(error: BaseException) -> str:
    frames = traceback.extract_tb(error.__traceback__)[-_MAX_FRAMES:]
    return " > ".join(f"{frame.filename.rpartition('/')[2]}:{frame.lineno} {frame.name}" for frame in frames)


def _in_one_line(_: object, __: str, line: structlog.types.EventDict) -> structlog.types.EventDict:
    """A library's traceback as kind and place."""
    found = line.pop("exc_info", None)
    error = found[1] if isinstance(found, tuple) else sys.exc_info()[1] if found is True else found
    if isinstance(error, BaseException):
        line["error"], line["where"] = told(error), _where(error)
    return line


class _Discreet(logging.Formatter):
    """Another formatter's lines, less the secrets."""

    def __init__(self, inner: logging.Formatter, secrets: Sequence[str]) -> None:
        super().__init__()
        self._inner = inner
        self._secrets = [secret for secret in secrets if secret]

    def format(self, record: logging.LogRecord) -> str:
        text = self._inner.format(record)
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text
