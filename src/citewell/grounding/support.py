"""The support judge: does a passage say what a sentence says? Hard rules for amounts, names and polarity sink it;
a small fitted model weighs the rest. Pure: words, their weights and relations, no model call."""

import json
import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Final, Protocol

from citewell.grounding.alignment import align
from citewell.grounding.claims import read
from citewell.grounding.evidence import Evidence, prepared
from citewell.grounding.features import FEATURES, features
from citewell.grounding.rules import sunk
from citewell.grounding.trees import Trees

_MODEL: Final = Path(__file__).parent.parent / "assets" / "lexicon" / "support.json"


@dataclass(frozen=True, slots=True)
class Support:
    """A verdict. `best` is the passage that supports most, `quote` the place in it."""

    score: float
    supported: bool
    best: int | None = None
    quote: tuple[int, int] | None = None
    reason: str = ""


class SupportJudge(Protocol):
    def judge(self, sentence: str, passages: Sequence[str]) -> Support:
        """The best verdict over the passages, each taken by itself."""
        ...


_SUNK: Final = 0.4
"""What is left of the score of a sunk sentence: under every threshold, in the order of the rest."""
_UNRELATED: Final = 0.35
"""Coverage under which a passage is not looked at closely: most passages of a search are of this kind."""
_NOTHING: Final = Support(0.0, False, reason="no passage")


class BuiltinJudge:
    """Local and fast. `threshold` is the least score that supports."""

    def __init__(self, *, threshold: float = 0.5) -> None:
        self._threshold = threshold
        self._model = _fitted()

    def judge(self, sentence: str, passages: Sequence[str]) -> Support:
        best = _NOTHING
        for place, passage in enumerate(passages):
            found = self._one(sentence, passage, place)
            if (found.supported, found.score) > (best.supported, best.score) or best.best is None:
                best = found
        return best

    def _one(self, sentence: str, passage: str, place: int) -> Support:
        evidence = prepared(passage)
        if quote := verbatim(sentence, evidence):
            return Support(1.0, True, place, quote, "word for word")
        alignment = align(read(sentence), evidence)
        if alignment is None:
            return Support(0.0, False, place, None, "nothing to compare")
        unit = evidence.sentences[alignment.window[0]]
        covered = float(alignment.weights @ alignment.by_sentence.max(axis=1))
        if covered < _UNRELATED:
            return Support(
                covered * _SUNK, False, place, (unit.start, unit.end), "the passage speaks of something else"
            )
        score = 1 / (1 + math.exp(-self._model.score(features(alignment))))
        reason = sunk(alignment)
        supported = not reason and score >= self._threshold
        if reason:
            score *= _SUNK
        elif not supported:
            reason = "the words are not covered"
        return Support(score, supported, place, (unit.start, unit.end), reason)


@lru_cache(maxsize=1)
def _fitted() -> Trees:
    model = json.loads(_MODEL.read_text("utf-8"))
    return Trees.read(model["bias"], model["trees"], tuple(FEATURES))


_ITEM: Final = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_MARKUP: Final = re.compile(r"[*_`>#|]+")
_SPACE: Final = re.compile(r"[\s.,;:!?'\"“”‘’()\[\]-]+")


@lru_cache(maxsize=4096)
def plain(text: str) -> str:
    """Words only, in lower case, one space between; the sign of a list item goes."""
    return _SPACE.sub(" ", _MARKUP.sub(" ", _ITEM.sub("", text))).strip().lower()


def verbatim(sentence: str, evidence: Evidence) -> tuple[int, int] | None:
    """Where the sentence stands in the passage as whole sentences, items or rows."""
    wanted = plain(sentence)
    if not wanted:
        return None
    for i, unit in enumerate(evidence.sentences):
        line = plain(unit.text)
        if wanted == line:
            return unit.start, unit.end
        if line and wanted.startswith(line + " "):
            end = i + 1
            while len(line) < len(wanted) and end < len(evidence.sentences) and wanted.startswith(line + " "):
                line = f"{line} {plain(evidence.sentences[end].text)}"
                end += 1
            if line == wanted:
                return unit.start, evidence.sentences[end - 1].end
    return None
