"""Every error that Citewell raises on purpose. No HTTP here: the API has the one table of statuses.

CitewellError
├── ConfigurationError          a setting is wrong; the message names the variable
│   └── MissingExtraError       a part that is not installed; the message says how to install it
├── InvalidInputError           the request is not valid
│   ├── InvalidQueryError
│   ├── InvalidFilterError      lists the valid fields
│   └── InvalidSessionError
├── NotFoundError               a session, turn or page that is not there
├── RetrievalError              the passages cannot be reached
│   ├── QdrantConnectionError   can pass
│   ├── QdrantTimeoutError      can pass
│   ├── CollectionNotFoundError no index yet
│   ├── IndexDamagedError       the files of the index are not what was written
│   └── SchemaValidationError   the index was made by something else
├── EmbeddingError              the embedder failed
│   └── RateLimitError          can pass: the provider told us to wait
├── ModelError                  the answering model failed
│   └── ModelAwayError          can pass: it cannot be reached, is overloaded, or sent half a reply
├── DatabaseError               conversations cannot be read or saved
│   └── DatabaseDamagedError    the file is not what was written
├── DeadlineError               a step took longer than it may
├── EndlessAnswerError          events that stopped without an end; ours to mend
└── IngestError                 a run that published nothing
    ├── IngestRunningError      another run holds the lock
    └── TooManyFailuresError
"""

from collections.abc import Sequence
from typing import ClassVar


class CitewellError(Exception):
    """`str(error)` is safe to show: it names the thing and the remedy, never a secret or a question."""

    code: ClassVar[str] = "internal_error"
    can_pass: ClassVar[bool] = False
    """Whether the same call may succeed a moment later."""
    is_logged: bool = False
    """Each error is logged once, by the first who handles it."""


class EndlessAnswerError(CitewellError):
    def __init__(self) -> None:
        super().__init__("The answer has no end.")


class ConfigurationError(CitewellError):
    code = "configuration_error"


class MissingExtraError(ConfigurationError):
    code = "missing_extra"

    def __init__(self, extra: str, missing: ModuleNotFoundError) -> None:
        super().__init__(f"{missing.name} is not installed. Install it with: pip install 'citewell[{extra}]'")


class InvalidInputError(CitewellError):
    code = "validation_error"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class InvalidQueryError(InvalidInputError):
    code = "invalid_query"


class InvalidFilterError(InvalidInputError):
    code = "invalid_filter"

    def __init__(self, key: str, valid: Sequence[str]) -> None:
        super().__init__(f"Unknown filter {key!r:.60}. Valid filters: {', '.join(valid)}.", field="filters")


class InvalidSessionError(InvalidInputError):
    code = "invalid_session"


class NotFoundError(CitewellError):
    code = "not_found"


class RetrievalError(CitewellError):
    code = "retrieval_unavailable"


class QdrantConnectionError(RetrievalError):
    code = "qdrant_connection"
    can_pass = True


class QdrantTimeoutError(RetrievalError):
    code = "qdrant_timeout"
    can_pass = True


class CollectionNotFoundError(RetrievalError):
    code = "collection_not_found"


class IndexDamagedError(RetrievalError):
    code = "index_damaged"

    def __init__(self, found: str) -> None:
        super().__init__(
            f"The index cannot be read and may be damaged ({found:.160}). "
            "Ingest the book again, or return to the index before it with `citewell index back`."
        )
        self.found = found


class SchemaValidationError(RetrievalError):
    code = "schema_mismatch"


class EmbeddingError(CitewellError):
    code = "embedding_failed"


class RateLimitError(EmbeddingError):
    code = "provider_rate_limited"
    can_pass = True

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelError(CitewellError):
    code = "agent_unavailable"


class ModelAwayError(ModelError):
    can_pass = True

    def __init__(self, message: str, *, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class DatabaseError(CitewellError):
    code = "database_unavailable"


class DatabaseDamagedError(DatabaseError):
    code = "database_damaged"


class DeadlineError(CitewellError):
    code = "timeout"


class IngestError(CitewellError):
    code = "ingest_failed"


class IngestRunningError(IngestError):
    code = "ingest_running"


class TooManyFailuresError(IngestError):
    code = "too_many_failures"
