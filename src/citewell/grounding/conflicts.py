"""Passages that contradict each other on what was asked."""

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Conflict:
    first: int
    first_sentence: str
    second: int
    second_sentence: str
    reason: str


def contradictions(question: str, passages: Sequence[str]) -> Conflict | None:
    return None
