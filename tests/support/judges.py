"""A judge for tests of what stands around it: a window supports what it has all the words of, and nothing else."""

from collections.abc import Sequence
from pathlib import Path

import citewell_larger
from citewell.document import split_sentences
from citewell.judge import Pair, Verdict
from citewell.judge.quantities import Amounts, quantities
from citewell.text import content_stems, words

_NEGATIONS = {"not", "no", "never"}
LARGER = Path(citewell_larger.__file__).parent
"""Where the larger model lies: a checkout always has it."""


class WordJudge:
    name = "words"

    def __init__(self, *, at_once: bool = False) -> None:
        self._at_once = at_once
        self.calls: list[list[Pair]] = []
        self.prepared: list[str] = []

    @property
    def at_once(self) -> bool:
        return self._at_once

    async def warm(self) -> None:
        """There is nothing to load."""

    def prepare(self, windows: Sequence[str]) -> None:
        self.prepared += windows

    async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        self.calls.append(list(pairs))
        return [
            min((_verdict(s, windows) for s in _sentences(claim)), key=lambda v: v.score) for claim, windows in pairs
        ]


def _sentences(claim: str) -> list[str]:
    return [claim[a:b] for a, b in split_sentences(claim)] or [claim]


def _verdict(claim: str, windows: Sequence[str]) -> Verdict:
    """By one sentence of each window, so that the words of two subjects do not mix."""
    wanted = set(content_stems(claim))
    near = " ".join(_nearest(wanted, window) for window in windows)
    headings = " ".join(window.partition("\n")[0] for window in windows if "\n" in window)
    share = len(wanted & set(content_stems(f"{headings} {near}"))) / max(len(wanted), 1)
    amounts = Amounts()
    amounts.add(quantities(near))
    denied = _NEGATIONS & set(words(near.lower())) and not _NEGATIONS & set(words(claim.lower()))
    if share == 1 and denied:
        return Verdict("contradicted", 0.1, 0.8)
    if share == 1 and amounts.missing(claim) is None:
        return Verdict("supported", 0.95, 0.01)
    return Verdict("not_stated", share / 2, 0.1)


def _nearest(wanted: set[str], window: str) -> str:
    """The sentence of the window that shares most."""
    return max(window.replace("\n", ". ").split(". "), key=lambda s: len(wanted & set(content_stems(s))), default="")
