"""The table of failures, row by row, in both dialects: what CONTRACT says."""

import json

import pytest

from citewell import errors
from citewell.api import http_errors
from citewell.api.dialects.message import MESSAGE_DIALECT
from citewell.api.dialects.query import QUERY_DIALECT
from citewell.api.http_errors import failure_of

SECRET = "postgresql://user:hunter2@10.0.0.5/db"
ROWS = [
    (errors.InvalidInputError("query is required.", field="query"), "validation_error", 400, "VALIDATION_ERROR", 400),
    (errors.InvalidFilterError("x", ("module",)), "validation_error", 400, "VALIDATION_ERROR", 400),
    (http_errors.PayloadTooLarge("The body is larger."), "payload_too_large", 413, "PAYLOAD_TOO_LARGE", 413),
    (http_errors.Unauthorized("A valid key."), "unauthorized", 401, "UNAUTHORIZED", 401),
    (http_errors.NotAcceptable("Version 1."), "not_acceptable", 406, "NOT_ACCEPTABLE", 406),
    (http_errors.PathUnknown("Nothing here."), "not_found", 404, "NOT_FOUND", 404),
    (errors.NotFoundError("No such turn."), "not_found", 404, "NOT_FOUND", 404),
    (http_errors.MethodNotAllowed("POST"), "method_not_allowed", 405, "METHOD_NOT_ALLOWED", 405),
    (
        http_errors.LimitReached("Slow down.", policy="address", retry_after=11.1),
        "rate_limited",
        429,
        "RATE_LIMIT_EXCEEDED",
        429,
    ),
    (errors.QdrantConnectionError(SECRET), "retrieval_unavailable", 503, "RETRIEVAL_FAILED", 500),
    (errors.QdrantTimeoutError(SECRET), "retrieval_unavailable", 503, "RETRIEVAL_FAILED", 500),
    (errors.CollectionNotFoundError(SECRET), "retrieval_unavailable", 503, "RETRIEVAL_FAILED", 500),
    (errors.SchemaValidationError(SECRET), "retrieval_unavailable", 503, "RETRIEVAL_FAILED", 500),
    (errors.EmbeddingError(SECRET), "embedding_failed", 503, "SERVICE_UNAVAILABLE", 503),
    (errors.RateLimitError(SECRET, retry_after=7), "embedding_failed", 503, "SERVICE_UNAVAILABLE", 503),
    (errors.ModelError(SECRET), "agent_unavailable", 503, "OPENAI_ERROR", 502),
    (errors.DatabaseError(SECRET), "database_unavailable", 503, "DATABASE_ERROR", 503),
    (errors.DeadlineError(SECRET), "timeout", 504, "TIMEOUT", 504),
    (errors.ConfigurationError(SECRET), "internal_error", 500, "INTERNAL_ERROR", 500),
    (RuntimeError(SECRET), "internal_error", 500, "INTERNAL_ERROR", 500),
]


@pytest.mark.parametrize(("error", "code", "status", "reader_code", "reader_status"), ROWS)
def test_each_error_has_its_code_and_status_in_both_dialects(
    error: Exception, code: str, status: int, reader_code: str, reader_status: int
) -> None:
    failure = failure_of(error)
    told = json.loads(QUERY_DIALECT.failure(failure, "r-1"))
    assert (QUERY_DIALECT.status(failure), told["error_code"]) == (status, code)
    assert set(told) == {"error_code", "message", "details", "trace_id", "retry_after"}
    assert told["trace_id"] == "r-1"
    shown = json.loads(MESSAGE_DIALECT.failure(failure, "r-1"))
    assert (MESSAGE_DIALECT.status(failure), shown["code"]) == (reader_status, reader_code)
    assert shown["detail"]


@pytest.mark.parametrize(("error", "code", "status", "reader_code", "reader_status"), ROWS)
def test_after_the_first_event_the_same_failure_is_an_event(
    error: Exception, code: str, status: int, reader_code: str, reader_status: int
) -> None:
    del status, reader_status
    told = QUERY_DIALECT.failure_event(failure_of(error), "r-1")
    assert told.name is None
    assert json.loads(told.data)["type"] == "error"
    assert json.loads(told.data)["error_code"] == code
    shown = MESSAGE_DIALECT.failure_event(failure_of(error), "r-1")
    assert shown.name == "error"
    assert json.loads(shown.data)["code"] == reader_code
    assert json.loads(shown.data)["error"]


@pytest.mark.parametrize("error", [row[0] for row in ROWS])
def test_no_failure_of_a_service_shows_what_it_said(error: Exception) -> None:
    failure = failure_of(error)
    shown = QUERY_DIALECT.failure(failure, "r") + MESSAGE_DIALECT.failure(failure, "r")
    assert b"hunter2" not in shown
    assert b"10.0.0.5" not in shown


def test_retry_after_is_in_the_body_of_a_limit_and_rounded_up() -> None:
    failure = failure_of(http_errors.LimitReached("Slow down.", policy="address", retry_after=11.1))
    assert json.loads(QUERY_DIALECT.failure(failure, "r"))["retry_after"] == 12
    assert json.loads(MESSAGE_DIALECT.failure(failure, "r"))["retry_after"] == 12
    assert failure.wait == 12


def test_a_service_that_may_come_back_has_a_wait_in_the_header_only() -> None:
    failure = failure_of(errors.DatabaseError("away"))
    assert failure.wait == 5
    assert "retry_after" not in json.loads(MESSAGE_DIALECT.failure(failure, "r"))


def test_the_last_row_catches_every_error_of_ours() -> None:
    assert http_errors.TABLE[-1].error is errors.CitewellError
