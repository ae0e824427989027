"""Session ids: a UUID v4 in lower case, a secret of its reader. Pure."""

import re
import uuid

from citewell.errors import InvalidSessionError

# The variant is 8–b and the version 4; `uuid.UUID(x, version=4)` would take any UUID and rewrite these bits.
_UUID4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")

EXAMPLE_SESSION_ID = "550e8400-e29b-41d4-a716-446655440000"
"""Stands in the interface's documentation: whoever copies it would share one conversation with everybody else."""


def session_id_of(text: str) -> str:
    """The session id in the form it is stored in. Raises InvalidSessionError."""
    session_id = text.lower()
    if not _UUID4.fullmatch(session_id):
        raise InvalidSessionError("session_id must be a UUID v4 such as crypto.randomUUID() makes.", field="session_id")
    if session_id == EXAMPLE_SESSION_ID:
        raise InvalidSessionError(
            "This session_id is the example of the documentation, shared by all who copy it. "
            "Make your own with crypto.randomUUID().",
            field="session_id",
        )
    return session_id


def new_session_id() -> str:
    return str(uuid.uuid4())
