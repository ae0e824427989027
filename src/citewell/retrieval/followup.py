"""Questions that lean on the turns before them: "And how long does that take?". Pure.

Nothing is rewritten. The question is searched as it was asked, and what was said before pulls a little: its words count
in BM25, and the meaning of the last message is mixed into the vector of a question that points back. The weights were
chosen on conversations with judged passages (docs/retrieval.md).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from citewell.index import Hint
from citewell.models import Message, Vector

_LAST_QUESTION = 0.1
_EARLIER_QUESTIONS = 0.05
_LAST_ANSWER = 0.03
_MEANING = 0.2
_QUESTIONS = 4
"""Older ones have lost their pull."""
_CHARACTERS = 1500
"""Of a message; the rest of a long answer adds noise and time."""

_POINTS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|there|one|ones|same|such|former|latter|above|previous|both"
    r"|another|others?|else|instead|more)\b"
    r"|^\W*(?:and|but|so|or|then|also|ok|okay|why|not|yes|no|thanks|great|(?:what|how) about|what if)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Pull:
    """What was said before, for the two rankings."""

    hints: tuple[Hint, ...] = ()
    meaning: str = ""
    """To be embedded and mixed into the question's vector; empty for a question that does not point back."""


def pull_of(question: str, history: Sequence[Message]) -> Pull:
    said = [message for message in history if message.content.strip()]
    questions = [message.content for message in said if message.role == "user"][-_QUESTIONS:]
    answers = [message.content for message in said if message.role == "assistant"][-1:]
    hints = (
        *((text, _EARLIER_QUESTIONS) for text in questions[:-1]),
        *((text, _LAST_QUESTION) for text in questions[-1:]),
        *((text, _LAST_ANSWER) for text in answers),
    )
    return Pull(
        tuple(Hint(text[:_CHARACTERS], weight) for text, weight in hints),
        said[-1].content[:_CHARACTERS] if said and _POINTS_BACK.search(question) else "",
    )


def mixed(question: Vector, before: Vector) -> Vector:
    vector = question + np.float32(_MEANING) * before
    length = np.linalg.norm(vector)
    return np.asarray(vector / length, dtype=np.float32) if length > 0 else question
