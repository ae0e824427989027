"""Which earlier messages go to the model: the last whole turns within a number of messages and of tokens. Pure."""

import re
from collections.abc import Iterable, Sequence

from citewell.values import Message

HISTORY_TOKENS = 8000

_PIECE = re.compile(r"[A-Za-z0-9]+|\S")


def last_turns(
    messages: Sequence[Message], *, limit_messages: int, limit_tokens: int = HISTORY_TOKENS
) -> tuple[Message, ...]:
    """The newest turns that fit, oldest first. The first turn that does not fit ends the search: no gaps.

    A turn is a question and what followed it; a question without a reply and a reply without a question are left out.
    """
    kept: list[Message] = []
    tokens = 0
    for turn in reversed(list(_turns(messages))):
        tokens += sum(token_estimate(message.content) for message in turn)
        if len(kept) + len(turn) > limit_messages or tokens > limit_tokens:
            break
        kept[:0] = turn
    return tuple(kept)


def token_estimate(text: str) -> int:
    """An upper estimate for any common tokenizer: four letters a token, one for each other sign, two beyond the BMP."""
    return sum(-(-len(piece) // 4) if piece.isascii() else 1 + (piece > "\uffff") for piece in _PIECE.findall(text))


def _turns(messages: Iterable[Message]) -> Iterable[list[Message]]:
    turn: list[Message] = []
    for message in messages:
        if message.role == "user":
            if len(turn) > 1:
                yield turn
            turn = [message]
        elif turn:
            turn.append(message)
    if len(turn) > 1:
        yield turn
