"""A key gives the finished answer again, once it is finished, to the same caller with the same body."""

import pytest

from citewell.api.admission.idempotency import IdempotencyStore, KeyClaim
from citewell.api.http_errors import KeyConflict
from citewell.errors import InvalidInputError, ModelError
from citewell.values import AnswerEvent, Failed
from tests.support.api import answering


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


async def finish(replies: IdempotencyStore, caller: str, key: str, events: list[AnswerEvent] | None = None) -> None:
    claim = await replies.begin(caller, key, b"request")
    assert isinstance(claim, KeyClaim)
    await replies.end(claim, answering() if events is None else events)


async def test_a_finished_answer_is_given_again() -> None:
    replies = IdempotencyStore(most=10, seconds=60)
    await finish(replies, "me", "k")
    assert await replies.begin("me", "k", b"request") == tuple(answering())


async def test_another_request_is_a_conflict_before_and_after_the_end() -> None:
    replies = IdempotencyStore(most=10, seconds=60)
    claim = await replies.begin("me", "k", b"request")
    assert isinstance(claim, KeyClaim)
    with pytest.raises(KeyConflict, match="another body"):
        await replies.begin("me", "k", b"other")
    await replies.end(claim, answering())
    with pytest.raises(KeyConflict, match="another body"):
        await replies.begin("me", "k", b"other")


async def test_while_the_answer_is_made_the_key_is_taken() -> None:
    replies = IdempotencyStore(most=10, seconds=60)
    await replies.begin("me", "k", b"request")
    with pytest.raises(KeyConflict, match="still being made") as caught:
        await replies.begin("me", "k", b"request")
    assert caught.value.retry_after


@pytest.mark.parametrize("events", [[], answering()[:-1], [*answering()[:2], Failed(ModelError("away"))]])
async def test_what_did_not_finish_can_be_asked_again(events: list[AnswerEvent]) -> None:
    replies = IdempotencyStore(most=10, seconds=60)
    await finish(replies, "me", "k", events)
    assert isinstance(await replies.begin("me", "k", b"request"), KeyClaim)


async def test_callers_do_not_share_keys() -> None:
    replies = IdempotencyStore(most=10, seconds=60)
    await finish(replies, "me", "k")
    assert isinstance(await replies.begin("you", "k", b"request"), KeyClaim)


async def test_an_answer_is_forgotten_after_a_while_and_when_there_are_too_many() -> None:
    clock = Clock()
    replies = IdempotencyStore(most=3, seconds=60, clock=clock)
    for key in "abc":
        await finish(replies, "me", key)
    await finish(replies, "me", "d")
    assert isinstance(await replies.begin("me", "a", b"request"), KeyClaim)  # the oldest had to go
    clock.now = 61
    assert isinstance(await replies.begin("me", "d", b"request"), KeyClaim)


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "é", "a\n"])
async def test_a_key_is_visible_ascii(key: str) -> None:
    with pytest.raises(InvalidInputError, match="Idempotency-Key"):
        await IdempotencyStore(most=10, seconds=60).begin("me", key, b"request")
