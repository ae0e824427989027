"""Log lines: JSON with the fields of the seed, the request's id on every line, no secrets."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from citewell.logs import configure, log, request_context, short, traceparent


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    out = io.StringIO()
    configure("info", out)
    yield out
    root.handlers, level = before
    root.setLevel(level)
    structlog.reset_defaults()


def read(out: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_a_line_has_the_fields_of_the_seed(lines: io.StringIO) -> None:
    with request_context("r-1"):
        log("chat", "question received", latency_ms=12.345678, query_length=150, result_count=5)
    (line,) = read(lines)
    assert str(line.pop("timestamp")).endswith("Z")
    assert line == {
        "level": "info",
        "request_id": "r-1",
        "stage": "chat",
        "message": "question received",
        "latency_ms": 12.35,
        "query_length": 150,
        "result_count": 5,
        "error": None,
    }


def test_the_id_ends_with_the_request(lines: io.StringIO) -> None:
    with request_context("r-1", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"):
        assert traceparent() is not None
    log("chat", "later")
    assert "request_id" not in read(lines)[0]
    assert traceparent() is None


def test_below_the_level_nothing_is_written(lines: io.StringIO) -> None:
    log("chat", "the question's words", level="debug")
    assert lines.getvalue() == ""


def test_an_error_carries_its_traceback(lines: io.StringIO) -> None:
    try:
        raise ValueError("broken")
    except ValueError as error:
        log("agent", "failed", level="error", error="internal_error", exc_info=error)
    (line,) = read(lines)
    assert "ValueError: broken" in str(line["exception"])


def test_lines_of_libraries_are_json_too(lines: io.StringIO) -> None:
    with request_context("r-2"):
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    (line,) = read(lines)
    assert line["message"] == "Invalid HTTP request received."
    assert line["request_id"] == "r-2"


def test_a_session_is_shortened() -> None:
    assert short("3f0e6b1a-8c55-4c8b-9d41-2f6a7b1c0e5d") == "3f0e6b1a"
