"""Entailment, the seam of the judge: does the evidence support, contradict or not state a sentence? Values only."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

Outcome = Literal["supported", "contradicted", "not_stated"]
Pair = tuple[str, tuple[str, ...]]
"""A sentence, and the windows of text that it is held against, seen together."""


@dataclass(frozen=True, slots=True)
class Verdict:
    outcome: Outcome
    score: float
    """How likely it is that the evidence supports the sentence."""
    contradicted: float
    """How likely it is that the evidence contradicts it."""


class Judge(Protocol):
    """Entailment of sentences by evidence. Both implementations pass `tests/integration/test_judge_contract.py`."""

    @property
    def name(self) -> str:
        """Which model judges, and where its line is: the same name gives the same verdicts."""
        ...

    @property
    def at_once(self) -> bool:
        """Whether all sentences of an answer go into one call: a call is dear, or has to be waited for."""
        ...

    async def warm(self) -> None:
        """Load what judging needs, so that no answer waits for it."""
        ...

    def prepare(self, windows: Sequence[str]) -> None:
        """These are going to be asked about; read them already. Returns at once."""
        ...

    async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """A verdict for each pair, in their order. Raises ModelError."""
        ...
