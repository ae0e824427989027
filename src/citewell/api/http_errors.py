"""HTTP errors, the one table of failures: which error is which code and status in each dialect. Pure."""

import math
from dataclasses import dataclass
from http import HTTPStatus

from citewell.errors import (
    CitewellError,
    CollectionNotFoundError,
    DatabaseError,
    DeadlineError,
    EmbeddingError,
    InvalidInputError,
    ModelError,
    NotFoundError,
    RateLimitError,
    RetrievalError,
)


class PayloadTooLarge(CitewellError):
    code = "payload_too_large"


class SlowBody(CitewellError):
    code = "request_timeout"


class Unauthorized(CitewellError):
    code = "unauthorized"


class NotAcceptable(CitewellError):
    code = "not_acceptable"


class PathUnknown(CitewellError):
    code = "not_found"


class MethodNotAllowed(CitewellError):
    code = "method_not_allowed"

    def __init__(self, allow: str) -> None:
        super().__init__(f"This path answers to {allow} only." if allow else "This path does not take that method.")
        self.allow = allow


class LimitReached(CitewellError):
    """`policy` says which limit: address, session or concurrency."""

    code = "rate_limited"

    def __init__(self, message: str, *, policy: str, retry_after: float) -> None:
        super().__init__(message)
        self.policy = policy
        self.retry_after = retry_after


class KeyConflict(CitewellError):
    """An idempotency key that is in use."""

    code = "conflict"

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class Stopping(CitewellError):
    """The server is shutting down and the answer is not finished."""

    code = "service_unavailable"


@dataclass(frozen=True, slots=True)
class ErrorRow:
    """A line of the table. Without a `message` the error's own is shown: it is about the request and safe."""

    error: type[CitewellError]
    code: str
    reader_code: str
    status: int
    reader_status: int
    message: str | None = None
    wait: int | None = None
    """Seconds for the header Retry-After."""


def _row(
    error: type[CitewellError],
    status: int,
    message: str | None = None,
    *,
    code: str = "",
    reader: tuple[str, int] | None = None,
    wait: int | None = 5,
) -> ErrorRow:
    """Readers get the same code in upper case with the same status, unless `reader` says otherwise."""
    code = code or error.code
    reader_code, reader_status = reader or (code.upper(), status)
    return ErrorRow(error, code, reader_code, status, reader_status, message, wait if message else None)


TABLE = (
    _row(InvalidInputError, 400),
    _row(PayloadTooLarge, 413),
    _row(SlowBody, 408),
    _row(Unauthorized, 401),
    _row(NotAcceptable, 406),
    _row(PathUnknown, 404),
    _row(NotFoundError, 404),
    _row(MethodNotAllowed, 405),
    _row(KeyConflict, 409),
    _row(LimitReached, 429, reader=("RATE_LIMIT_EXCEEDED", 429)),
    _row(
        CollectionNotFoundError,
        503,
        "No documentation has been indexed yet. Ingest it, then ask again.",
        code=RetrievalError.code,
        reader=("RETRIEVAL_FAILED", 500),
        wait=None,
    ),
    _row(
        RetrievalError,
        503,
        "The documentation cannot be searched right now. Please try again in a moment.",
        reader=("RETRIEVAL_FAILED", 500),
    ),
    _row(
        EmbeddingError,
        503,
        "The question could not be prepared for the search. Please try again in a moment.",
        reader=("SERVICE_UNAVAILABLE", 503),
    ),
    _row(
        ModelError,
        503,
        "The answering model is not available right now. Please try again in a moment.",
        reader=("OPENAI_ERROR", 502),
    ),
    _row(
        DatabaseError,
        503,
        "Service temporarily unavailable. Database connection failed.",
        reader=("DATABASE_ERROR", 503),
    ),
    _row(DeadlineError, 504, "The answer took too long. Please try again, perhaps with a shorter question.", wait=None),
    _row(Stopping, 503, "The server is restarting. Please ask again in a moment."),
    _row(
        CitewellError,
        500,
        "Something went wrong on our side. Please quote the request's id when you report it.",
        wait=None,
    ),
)
INTERNAL = TABLE[-1]


@dataclass(frozen=True, slots=True)
class ApiFailure:
    """A failure as both dialects can show it."""

    row: ErrorRow
    message: str
    reason: str
    """The error's own code, finer than the row's."""
    field: str | None = None
    retry_after: int | None = None
    """Seconds, in the body of what the client may send again after a wait."""
    wait: int | None = None
    allow: str | None = None


def failure_of(error: BaseException) -> ApiFailure:
    """What the table says of an error. Whatever is not ours is an internal error, with nothing of it shown."""
    if not isinstance(error, CitewellError):
        return ApiFailure(INTERNAL, INTERNAL.message or "", INTERNAL.code)
    row = next(row for row in TABLE if isinstance(error, row.error))
    wait = float(row.wait) if row.wait else None
    if isinstance(error, LimitReached | KeyConflict | RateLimitError) and error.retry_after is not None:
        wait = error.retry_after
    seconds = None if wait is None else max(1, math.ceil(wait))
    return ApiFailure(
        row,
        row.message or str(error),
        error.code,
        field=error.field if isinstance(error, InvalidInputError) else None,
        retry_after=seconds if row.status in (HTTPStatus.TOO_MANY_REQUESTS, HTTPStatus.CONFLICT) else None,
        wait=seconds,
        allow=error.allow if isinstance(error, MethodNotAllowed) else None,
    )
