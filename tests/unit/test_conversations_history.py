"""Which earlier messages go to the model."""

from hypothesis import given
from hypothesis import strategies as st

from citewell.conversations import last_turns
from citewell.conversations.history import token_estimate
from citewell.values import Message

messages = st.lists(
    st.builds(Message, st.sampled_from(["user", "assistant"]), st.text("ab 字", max_size=30)), max_size=30
)


def talk(*contents: str) -> list[Message]:
    return [Message("assistant" if n % 2 else "user", content) for n, content in enumerate(contents)]


def contents(kept: tuple[Message, ...]) -> list[str]:
    return [message.content for message in kept]


def test_the_newest_turns_are_kept_oldest_first() -> None:
    assert contents(last_turns(talk("q1", "a1", "q2", "a2", "q3", "a3"), limit_messages=4)) == ["q2", "a2", "q3", "a3"]


def test_a_turn_is_never_cut_in_two() -> None:
    assert contents(last_turns(talk("q1", "a1", "q2", "a2"), limit_messages=3)) == ["q2", "a2"]
    assert last_turns(talk("q1", "a1"), limit_messages=1) == ()


def test_a_turn_that_is_too_long_ends_the_history_without_a_gap() -> None:
    talked = talk("q1", "a1", "q2", "word " * 100, "q3", "a3")
    assert contents(last_turns(talked, limit_messages=10, limit_tokens=50)) == ["q3", "a3"]


def test_a_reply_without_its_question_is_left_out() -> None:
    cut_by_the_reader = talk("q1", "a1", "q2", "a2")[1:]
    assert contents(last_turns(cut_by_the_reader, limit_messages=10)) == ["q2", "a2"]


def test_a_question_without_a_reply_is_left_out() -> None:
    assert contents(last_turns(talk("q1", "a1", "q2"), limit_messages=10)) == ["q1", "a1"]
    assert contents(last_turns([Message("user", "q0"), *talk("q1", "a1")], limit_messages=10)) == ["q1", "a1"]


def test_a_long_word_counts_for_more_and_so_does_every_sign_of_other_scripts() -> None:
    assert token_estimate("a build, twice") == 1 + 2 + 1 + 2
    assert token_estimate("字字字") == 3
    assert token_estimate("🙂") == 2
    assert token_estimate("") == 0


@given(messages, st.integers(0, 12), st.integers(0, 60))
def test_the_history_is_whole_turns_from_the_end_within_both_limits(
    talked: list[Message], limit_messages: int, limit_tokens: int
) -> None:
    kept = last_turns(talked, limit_messages=limit_messages, limit_tokens=limit_tokens)
    assert len(kept) <= limit_messages
    assert sum(token_estimate(message.content) for message in kept) <= limit_tokens
    if kept:
        assert (kept[0].role, kept[-1].role) == ("user", "assistant")
    everything = last_turns(talked, limit_messages=100, limit_tokens=10_000)
    assert everything[len(everything) - len(kept) :] == kept
