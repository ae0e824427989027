"""A key gives the finished answer again, once it is finished, to the same caller with the same body."""

import pytest

from citewell.api.admission.idempotency import IdempotencyStore
from citewell.api.http_errors import Conflict
from citewell.errors import InvalidInputError, ModelError
from citewell.models import AnswerEvent, Failed
from tests.support.api import answering


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_finished_answer_is_given_again() -> None:
    replies = IdempotencyStore(most=10, seconds=60)
    assert replies.begin("me", "k", b"body") is None
    replies.end("me", "k", answering())
    assert replies.begin("me", "k", b"body") == tuple(answering())


def test_another_body_is_a_conflict_before_and_after_the_end() -> None:
    replies = IdempotencyStore(most=10, seconds=60)
    replies.begin("me", "k", b"body")
    with pytest.raises(Conflict, match="another body"):
        replies.begin("me", "k", b"other")
    replies.end("me", "k", answering())
    with pytest.raises(Conflict, match="another body"):
        replies.begin("me", "k", b"other")


def test_while_the_answer_is_made_the_key_is_taken() -> None:
    replies = IdempotencyStore(most=10, seconds=60)
    replies.begin("me", "k", b"body")
    with pytest.raises(Conflict, match="still being made") as caught:
        replies.begin("me", "k", b"body")
    assert caught.value.retry_after


@pytest.mark.parametrize("events", [[], answering()[:-1], [*answering()[:2], Failed(ModelError("away"))]])
def test_what_did_not_finish_can_be_asked_again(events: list[AnswerEvent]) -> None:
    replies = IdempotencyStore(most=10, seconds=60)
    replies.begin("me", "k", b"body")
    replies.end("me", "k", events)
    assert replies.begin("me", "k", b"body") is None


def test_callers_do_not_share_keys() -> None:
    replies = IdempotencyStore(most=10, seconds=60)
    replies.begin("me", "k", b"body")
    assert replies.begin("you", "k", b"other") is None


def test_an_answer_is_forgotten_after_a_while_and_when_there_are_too_many() -> None:
    clock = Clock()
    replies = IdempotencyStore(most=3, seconds=60, clock=clock)
    for key in "abc":
        replies.begin("me", key, b"body")
        replies.end("me", key, answering())
    assert replies.begin("me", "d", b"body") is None
    assert replies.begin("me", "a", b"body") is None  # the oldest had to go
    replies.end("me", "d", answering())
    clock.now = 61
    assert replies.begin("me", "d", b"body") is None


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "é", "a\n"])
def test_a_key_is_visible_ascii(key: str) -> None:
    with pytest.raises(InvalidInputError, match="Idempotency-Key"):
        IdempotencyStore(most=10, seconds=60).begin("me", key, b"body")
