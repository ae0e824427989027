"""Bodies are strict JSON, bounded, and never repeated in an error."""

import asyncio
import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.api.body import MAX_BODY, MAX_DEPTH, parse, read_body
from citewell.api.http_errors import PayloadTooLarge, SlowBody
from citewell.errors import InvalidInputError

JSON = [(b"content-type", b"application/json")]


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        (b"", "not valid JSON"),
        (b"{", "not valid JSON"),
        (b'{"query": "x",}', "not valid JSON"),
        (b"{'query': 'x'}", "not valid JSON"),
        (b'{"query": NaN}', "NaN"),
        (b'{"query": -Infinity}', "Infinity"),
        (b'{"query": 1e999}', "too large"),
        (b'{"query": ' + b"9" * 5000 + b"}", "too large"),
        (b'{"query": "\\ud800"}', "surrogate"),
        (b'{"\\udfff": 1}', "surrogate"),
        (b'{"query": "a\\u0000b"}', "NUL"),
        (b'{"query": "a", "query": "b"}', "twice"),
        (b'{"x": {"y": 1, "y": 2}}', "twice"),
        (b'\xef\xbb\xbf{"query": "x"}', "not valid JSON"),
        (b'{"query": "\xff"}', "not UTF-8"),
        ('{"query": "x"}'.encode("utf-16"), "not UTF-8"),
        (b"[" * 10_000, "nested deeper"),
        (b"[" * 10_000 + b"]" * 10_000, "nested deeper"),
        (b'{"a":' * (MAX_DEPTH + 1) + b"1" + b"}" * (MAX_DEPTH + 1), "nested deeper"),
    ],
)
def test_what_is_not_strict_json_is_refused_with_the_reason(raw: bytes, says: str) -> None:
    with pytest.raises(InvalidInputError, match=says):
        parse(raw)


def test_a_malformed_body_is_told_where_it_breaks() -> None:
    with pytest.raises(InvalidInputError, match="line 2, column 4"):
        parse(b'{"query":\n   oops}')


def test_a_whole_surrogate_pair_is_a_character() -> None:
    assert parse(b'{"query": "\\ud83e\\udd16"}') == {"query": "🤖"}


@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_an_invalid_input(raw: bytes) -> None:
    with contextlib.suppress(InvalidInputError):
        parse(raw)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(10**20), 10**20) | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=4), inner, max_size=4),
        max_leaves=8,
    )
)
def test_what_json_writes_is_read_back(value: object) -> None:
    text = json.dumps(value)
    if "\\u0000" not in text and "\\ud" not in text:
        assert parse(text.encode()) == value


@given(st.text(alphabet="qzxj", min_size=12, max_size=40), st.sampled_from(['{"a": %s}', '["%s', '{"%s" 1}', "%s"]))
def test_a_broken_body_is_not_repeated_in_the_error(secret: str, frame: str) -> None:
    with pytest.raises(InvalidInputError) as caught:
        parse((frame % secret).encode())
    assert secret not in str(caught.value)


class Messages:
    """A receive channel that plays messages and then waits for ever."""

    def __init__(self, *parts: bytes, more_at_end: bool = False) -> None:
        self._parts = list(parts)
        self._more_at_end = more_at_end
        self.taken = 0

    async def __call__(self) -> dict[str, object]:
        self.taken += 1
        if not self._parts:
            await asyncio.Event().wait()
        body = self._parts.pop(0)
        return {"type": "http.request", "body": body, "more_body": bool(self._parts) or self._more_at_end}


async def test_a_body_in_parts_is_put_together() -> None:
    assert await read_body({"headers": JSON}, Messages(b"{", b"}"), seconds=600) == b"{}"


async def test_a_body_of_exactly_the_limit_is_read() -> None:
    raw = b" " * MAX_BODY
    assert await read_body({"headers": JSON}, Messages(raw), seconds=600) == raw


async def test_one_byte_more_is_too_large() -> None:
    with pytest.raises(PayloadTooLarge, match="64 KiB"):
        await read_body({"headers": JSON}, Messages(b" " * MAX_BODY, b" "), seconds=600)


async def test_an_announced_size_is_refused_unread_when_the_client_waits_for_our_word() -> None:
    receive = Messages(b"x")
    headers = [*JSON, (b"content-length", b"10000000"), (b"expect", b"100-continue")]
    with pytest.raises(PayloadTooLarge):
        await read_body({"headers": headers}, receive, seconds=600)
    assert receive.taken == 0


async def test_a_body_that_does_not_come_is_given_up() -> None:
    with pytest.raises(SlowBody):
        await read_body({"headers": JSON}, Messages(b"{", more_at_end=True), seconds=0.05)


@pytest.mark.parametrize(
    "headers",
    [
        [],
        [(b"content-type", b"text/plain")],
        [(b"content-type", b"application/json; charset=utf-16")],
        [(b"content-type", b'application/json; charset="latin-1"')],
        [(b"content-type", b"application/x-www-form-urlencoded")],
        [*JSON, (b"content-encoding", b"gzip")],
    ],
)
async def test_only_plain_json_is_taken(headers: list[tuple[bytes, bytes]]) -> None:
    with pytest.raises(InvalidInputError):
        await read_body({"headers": headers}, Messages(b"{}"), seconds=600)


@pytest.mark.parametrize(
    "given_type", [b"application/json; charset=utf-8", b"Application/JSON", b"application/vnd.api.v1+json"]
)
async def test_json_may_carry_parameters_or_a_version(given_type: bytes) -> None:
    assert await read_body({"headers": [(b"content-type", given_type)]}, Messages(b"{}"), seconds=600) == b"{}"
