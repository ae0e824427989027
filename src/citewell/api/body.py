"""Request bodies: bounded while they arrive, strict JSON, then a model. No error repeats any of a body."""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from pydantic_core import ErrorDetails

from citewell.api.http_errors import PayloadTooLarge, SlowBody
from citewell.errors import InvalidInputError
from citewell.values import FILTER_FIELDS

if TYPE_CHECKING:
    from starlette.types import Receive, Scope

Json = None | bool | int | float | str | Sequence["Json"] | Mapping[str, "Json"]

MAX_BODY = 64 * 1024
SHORT_BODY = 8 * 1024
MAX_DEPTH = 32
MAX_DIGITS = 30
DRAIN = 16 * 1024 * 1024
DRAIN_SECONDS = 2.0


async def read_body(scope: "Scope", receive: "Receive", *, seconds: float) -> bytes:
    """The whole body. Raises PayloadTooLarge, SlowBody, InvalidInputError."""
    headers = {name: value for name, value in scope["headers"] if name in _BODY_HEADERS}
    _check_type(headers)
    try:
        async with asyncio.timeout(seconds):
            return await _received(headers, receive)
    except TimeoutError as error:
        raise SlowBody(f"The body did not arrive within {seconds:g} seconds.") from error


_BODY_HEADERS = frozenset((b"content-type", b"content-length", b"content-encoding", b"expect"))


def _check_type(headers: Mapping[bytes, bytes]) -> None:
    # A body that says it is JSON cannot be posted by a foreign page without the browser asking us first.
    media_type, *parameters = (part.strip().lower() for part in headers.get(b"content-type", b"").split(b";"))
    if media_type != b"application/json" and not (
        media_type.startswith(b"application/") and media_type.endswith(b"+json")
    ):
        raise InvalidInputError("The header Content-Type must be application/json.", field="Content-Type")
    charsets = [
        value.strip(b" \"'") for name, _, value in (p.partition(b"=") for p in parameters) if name == b"charset"
    ]
    if any(charset not in (b"utf-8", b"utf8", b"us-ascii") for charset in charsets):
        raise InvalidInputError("JSON is UTF-8; the header Content-Type names another charset.", field="Content-Type")
    if headers.get(b"content-encoding", b"identity").strip().lower() not in (b"identity", b""):
        raise InvalidInputError("Compressed bodies are not accepted.", field="Content-Encoding")


async def _received(headers: Mapping[bytes, bytes], receive: "Receive") -> bytes:
    announced = headers.get(b"content-length", b"")
    if announced.isdigit() and len(announced) < 20 and int(announced) > MAX_BODY:
        if b"expect" not in headers:
            await _drain(receive)
        raise _too_large()
    parts: list[bytes] = []
    size = 0
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            from starlette.requests import ClientDisconnect  # late: the dialects are used without a server too

            raise ClientDisconnect
        parts.append(message.get("body", b""))
        size += len(parts[-1])
        if size > MAX_BODY:
            if message.get("more_body", False):
                await _drain(receive)
            raise _too_large()
        if not message.get("more_body", False):
            return b"".join(parts)


async def _drain(receive: "Receive") -> None:
    """Throw the rest away for a moment: a client that is still sending could not read our refusal."""
    left = DRAIN
    try:
        async with asyncio.timeout(DRAIN_SECONDS):
            while left > 0:
                message = await receive()
                if message["type"] == "http.disconnect" or not message.get("more_body", False):
                    return
                left -= len(message.get("body", b""))
    except TimeoutError:
        return


def _too_large() -> PayloadTooLarge:
    return PayloadTooLarge(f"The body is larger than {MAX_BODY // 1024} KiB ({MAX_BODY} bytes).")


async def parsed(raw: bytes) -> Json:
    """A short body at once, a long one off the event loop."""
    return parse(raw) if len(raw) <= SHORT_BODY else await asyncio.to_thread(parse, raw)


def parse(raw: bytes) -> Json:
    """Strict JSON: UTF-8 without a mark, no duplicate keys, finite numbers, whole characters, bounded depth."""
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidInputError(f"The body is not UTF-8 (byte {error.start}).") from None
    try:
        value: Json = json.loads(
            text, object_pairs_hook=_object, parse_constant=_constant, parse_float=_float, parse_int=_int
        )
        _check(value, 0)
    except json.JSONDecodeError as error:
        raise InvalidInputError(
            f"The body is not valid JSON: {error.msg} at line {error.lineno}, column {error.colno}."
        ) from None
    except RecursionError:
        raise _too_deep() from None
    return value


def _object(pairs: list[tuple[str, Json]]) -> Mapping[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidInputError("The body has a key twice in one object.")
    return found


def _constant(_: str) -> Json:
    raise InvalidInputError("The body is not valid JSON: NaN and Infinity are not numbers.")


def _float(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise InvalidInputError("The body has a number that is too large.")
    return value


def _int(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise InvalidInputError("The body has a number that is too large.")
    return int(digits)


def _check(value: Json, depth: int) -> None:
    if depth > MAX_DEPTH:
        raise _too_deep()
    if isinstance(value, str):
        if not value.isascii() and any("\ud800" <= c <= "\udfff" for c in value):
            raise InvalidInputError("The body has half of a surrogate pair, which is not a character.")
        if "\0" in value:
            raise InvalidInputError("The body has a NUL character, which is not text.")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            _check(key, depth)
            _check(inner, depth + 1)
    elif isinstance(value, list):
        for inner in value:
            _check(inner, depth + 1)


def _too_deep() -> InvalidInputError:
    return InvalidInputError(f"The body is nested deeper than {MAX_DEPTH} levels.")


def invalid(errors: Sequence[ErrorDetails]) -> InvalidInputError:
    """What pydantic found. Names the field and the limit, and repeats nothing of what was sent."""
    first = _telling(errors)
    places = [str(part) for part in first["loc"] if not _is_branch(part)]
    if first["type"] == "extra_forbidden":
        places.pop()  # the unknown key itself
    field = ".".join(places) or None
    return InvalidInputError(_sentence(field, first), field=field)


def _telling(errors: Sequence[ErrorDetails]) -> ErrorDetails:
    """The first, but of a list that may also be a string it says nothing that it is no string."""
    telling = (e for e in errors if not (e["type"] == "string_type" and isinstance(e["input"], list)))
    return next(telling, errors[0])


def _is_branch(part: int | str) -> bool:
    """Pydantic names the branch of a union in the location; a reader's field is not called `list[str]`."""
    return isinstance(part, str) and (part in ("str", "int", "float", "bool") or "constrained" in part or "[" in part)


_SAID = {
    "missing": "{name} is required.",
    "string_too_long": "{name} exceeds maximum length of {max_length} characters (it has {length}); please shorten it.",
    "string_too_short": "{name} must not be empty.",
    "too_long": "{name} has {length} entries; the limit is {max_length}.",
    "too_short": "{name} must have at least {min_length} entry.",
    "greater_than_equal": "{name} must be at least {ge}.",
    "less_than_equal": "{name} must be at most {le}.",
    "literal_error": "{name} must be {expected}.",
    "string_type": "{name} must be a string.",
    "int_type": "{name} must be a whole number.",
    "int_from_float": "{name} must be a whole number.",
    "int_parsing": "{name} must be a whole number.",
    "int_parsing_size": "{name} must be a whole number.",
    "float_type": "{name} must be a number.",
    "bool_type": "{name} must be true or false.",
    "list_type": "{name} must be a list.",
    "dict_type": "{name} must be an object.",
    "model_type": "{name} must be an object.",
    "model_attributes_type": "{name} must be an object.",
    "extra_forbidden": f"{{name}} has an unknown key. Valid keys: {', '.join(FILTER_FIELDS)}.",
    "value_error": "{error}",
}
"""What pydantic calls it, and how we say it."""


def _sentence(field: str | None, error: ErrorDetails) -> str:
    if field is None and error["type"] != "value_error":
        return "The body must be a JSON object."
    given = error.get("input")
    length = len(given) if isinstance(given, str | list) else 0
    said = _SAID.get(error["type"], "{name} is not valid.")
    return said.format(name=field, length=length, **error.get("ctx", {}))
