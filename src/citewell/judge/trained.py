"""The judge that ships: an entailment model trained to tell, on the CPU."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Generic, Protocol, Self, TypeVar

from citewell.errors import ConfigurationError
from citewell.inference import Support
from citewell.inference.model_files import ASSETS
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
    def load(cls, assets: Path = ASSETS) -> Self:
        """Those of the reading model by itself, or of the judge whose folder this is."""
        try:
            data = json.loads((assets / "judge.json").read_text("utf-8"))
            return cls(float(data["supported"]), float(data["conflict"]))
        except (OSError, ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(f"{assets.name}/judge.json is malformed. Install it again.") from error


Read = TypeVar("Read")


class SupportModel(Protocol[Read]):
    """The seam below: a model that reads evidence once and then tells what it says of claims."""

    name: str

    async def warm(self) -> None: ...

    def begin(self, texts: Sequence[str]) -> None: ...

    async def encode(self, texts: Sequence[str]) -> list[Read]: ...

    async def support_all(self, pairs: Sequence[tuple[str, Sequence[Read]]]) -> list[Support]: ...


class TrainedJudge(Generic[Read]):
    at_once = False

    def __init__(self, model: SupportModel[Read], lines: Lines) -> None:
        """The lines are those of this very model: what is likely differs from one to the other."""
        self._model = model
        self._lines = lines
        self.name = f"{model.name}/{self._lines.supported:g}"

    async def warm(self) -> None:
        await self._model.warm()

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
        # What is likelier supported than not, and not surely enough, is not told to be contradicted.
        against = support.contradicted > max(support.supported, support.not_stated)
        return Verdict("contradicted" if against else "not_stated", support.supported, support.contradicted)
