"""Questions that lean on the turns before them: "And how long does that take?". Pure.

Nothing is rewritten. The question is searched as it was asked, and what was said before pulls a little: its words count
in BM25, its meaning is mixed into the question's vector. The weights were chosen on conversations with judged passages
(docs/retrieval.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from citewell.index import Hint
from citewell.models import Message, Vector

_USER_WORDS = 0.1
_ANSWER_WORDS = 0.05
MEANING_WEIGHT = 0.3
_ANSWER_CHARACTERS = 2000
_TURNS = 4
"""Older ones have lost their pull."""


@dataclass(frozen=True, slots=True)
class Pull:
    """What was said before, for the two rankings."""

    hints: tuple[Hint, ...] = ()
    meaning: str = ""
    """To be embedded and mixed into the question's vector; empty for a question that stands alone."""


def pull_of(history: Sequence[Message]) -> Pull:
    users = [message.content for message in history if message.role == "user"][-_TURNS:]
    answers = [message.content[:_ANSWER_CHARACTERS] for message in history if message.role == "assistant"][-1:]
    hints = (
        *(Hint(text, _USER_WORDS) for text in users if text.strip()),
        *(Hint(text, _ANSWER_WORDS) for text in answers if text.strip()),
    )
    return Pull(hints, users[-1] if users else "")


def mixed(question: Vector, before: Vector, weight: float) -> Vector:
    vector = question + np.float32(weight) * before
    length = np.linalg.norm(vector)
    return np.asarray(vector / length, dtype=np.float32) if length > 0 else question
