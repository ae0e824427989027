"""Log lines: JSON with the fields of the seed, the request's id on every line, no secrets."""

import io
import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from citewell.errors import ModelError
from citewell.logs import (
    Repeats,
    Warned,
    configure,
    log,
    log_failure,
    log_repeats,
    request_context,
    short,
    traceparent,
)


@pytest.fixture
def lines() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    before = root.handlers[:], root.level
    out = io.StringIO()
    configure("info", out)
    yield out
    log_repeats(all_of_them=True)
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


class ServiceSaid(Exception):
    status_code = 401


@pytest.mark.fault("a key in a provider's error", "in no log line")
def test_an_error_is_one_line_with_its_kind_and_place_and_nothing_that_others_said(lines: io.StringIO) -> None:
    try:
        try:
            raise ServiceSaid("the key sk-secret is not valid")
        except ServiceSaid as error:
            raise ModelError("The model service failed.") from error
    except ModelError as error:
        log_failure("agent", "answer failed", error)
        log_failure("response", "failed", error)
    log_failure("response", "failed", ValueError("sk-secret"))
    ours, other = read(lines)
    assert ours["error"] == "agent_unavailable: The model service failed. < ServiceSaid 401"
    assert other["error"] == "ValueError"
    assert "sk-secret" not in lines.getvalue()


def test_a_traceback_of_a_library_is_kind_and_place(lines: io.StringIO) -> None:
    try:
        raise ServiceSaid("the key sk-secret is not valid")
    except ServiceSaid:
        logging.getLogger("asyncio").exception("Task failed")
    (line,) = read(lines)
    assert line["error"] == "ServiceSaid"
    assert "test_a_traceback_of_a_library" in str(line["where"])
    assert "sk-secret" not in lines.getvalue()


def test_no_line_holds_a_secret(lines: io.StringIO) -> None:
    configure("info", lines, secrets=["sk-secret", ""])
    log("agent", "failed", level="error", error="it said sk-secret")
    logging.getLogger("httpx").warning("GET https://x.example/?key=sk-secret")
    assert "sk-secret" not in lines.getvalue()
    assert lines.getvalue().count("***") == 2


@pytest.mark.fault("446 equal failures", "one line and a count")
def test_the_same_warning_is_written_once_and_then_counted(lines: io.StringIO) -> None:
    for left in range(446):
        log("agent", "answer failed", level="error", error=f"agent_unavailable: it is asked again in {left} s")
    log("agent", "answer failed", level="error", error="timeout")
    log_repeats(all_of_them=True)
    first, other, again = read(lines)
    assert (first["error"], other["error"]) == ("agent_unavailable: it is asked again in 0 s", "timeout")
    assert (again["message"], again["times"]) == ("answer failed, and again", 445)


def test_after_a_minute_a_warning_is_written_again() -> None:
    now = 0.0
    repeats = Repeats(60.0, clock=lambda: now)
    warning: Warned = ("error", "agent", "answer failed", "timeout")
    assert [repeats.is_first(warning) for _ in range(3)] == [True, False, False]
    assert repeats.over() == []
    now = 60.0
    assert repeats.over() == [(warning, 2)]
    assert repeats.is_first(warning)


def test_lines_of_libraries_are_json_too(lines: io.StringIO) -> None:
    with request_context("r-2"):
        logging.getLogger("uvicorn.error").warning("Invalid HTTP request received.")
    (line,) = read(lines)
    assert line["message"] == "Invalid HTTP request received."
    assert line["request_id"] == "r-2"


def test_a_session_is_shortened() -> None:
    assert short("3f0e6b1a-8c55-4c8b-9d41-2f6a7b1c0e5d") == "3f0e6b1a"
