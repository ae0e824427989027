"""The entailment model that ships, the judge: Citewell's reading model, trained to tell, on the CPU."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Final, Self

from citewell.errors import ConfigurationError
from citewell.inference import ReadingModel, Support
from citewell.judge.verdict import Pair, Verdict

_AT_A_TIME: Final = 64
"""Pairs that are handed over in one turn of the event loop."""


@dataclass(frozen=True, slots=True)
class Lines:
    """Where the outcomes part. Fitted by `citewell eval lines` on pages that were not trained on."""

    supported: float
    """From this probability on a sentence counts as supported."""
    conflict: float
    """From this probability of contradiction on, two passages contradict each other."""

    @classmethod
    def load(cls) -> Self:
        text = (resources.files("citewell") / "assets" / "judge.json").read_text("utf-8")
        try:
            data = json.loads(text)
            return cls(float(data["supported"]), float(data["conflict"]))
        except (ValueError, KeyError, TypeError) as error:
            raise ConfigurationError("assets/judge.json is malformed. Install citewell again.") from error


class TrainedJudge:
    at_once = False

    def __init__(self, model: ReadingModel, lines: Lines | None = None) -> None:
        self._model = model
        self._lines = lines or Lines.load()
        self.name = f"{model.name}/{self._lines.supported:g}"

    def prepare(self, windows: Sequence[str]) -> None:
        self._model.begin(windows)

    async def judge(self, pairs: Sequence[Pair]) -> list[Verdict]:
        texts = list(dict.fromkeys(window for _, windows in pairs for window in windows))
        encoded = dict(zip(texts, await self._model.encode(texts), strict=True))
        asked = [(claim, [encoded[w] for w in windows]) for claim, windows in pairs]
        stretches = [asked[first : first + _AT_A_TIME] for first in range(0, len(asked), _AT_A_TIME)]
        return [self._verdict(told) for stretch in stretches for told in await self._model.support_all(stretch)]

    def _verdict(self, support: Support) -> Verdict:
        if support.supported >= self._lines.supported:
            return Verdict("supported", support.supported, support.contradicted)
        against = support.contradicted > support.not_stated
        return Verdict("contradicted" if against else "not_stated", support.supported, support.contradicted)
