"""The judge's model: entailment by a cross-encoder in which evidence is read once and every claim looks at it."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from citewell.errors import ModelError
from citewell.inference.model_files import ASSETS, open_session, open_tokenizer, verified
from citewell.inference.shipped_model import LONGEST_TEXT, ShippedModel
from citewell.inference.support import Support
from citewell.wordpieces import WordPieces

if TYPE_CHECKING:
    import onnxruntime

Floats = NDArray[np.float32]

_BEGIN, _END = 0, 2
_SHIFT: Final = 4
"""MPNet's word pieces are BERT's, behind four of its own."""
_LONGEST_CLAIM: Final = 96
_WIDTH: Final = 768


@dataclass(frozen=True, slots=True, eq=False)
class ReadEvidence:
    """A text as the model has read it."""

    states: Floats = field(repr=False)


def judge_assets() -> Path | None:
    """Where the distribution citewell-judge has its weights; None when it is not installed."""
    try:
        import citewell_judge
    except ModuleNotFoundError:
        return None
    return Path(citewell_judge.__file__).parent


class JudgeModel(ShippedModel["_LoadedJudge", ReadEvidence]):
    """The weights are in a distribution of their own: with them one wheel would be larger than an index takes."""

    async def support_all(self, pairs: Sequence[tuple[str, Sequence[ReadEvidence]]]) -> list[Support]:
        """A claim sees all its evidence at once: it may join what two passages say."""
        return await self._each(lambda pair: self._support(*pair), pairs)

    def _open(self) -> "_LoadedJudge":
        return _LoadedJudge.open(self._assets)

    def _encode(self, text: str) -> ReadEvidence:
        parts = self._loaded()
        ids = parts.tokenizer.ids(text)[:LONGEST_TEXT]
        return ReadEvidence(parts.run([i + _SHIFT for i in ids] + [_END], 1, ())[0])

    def _support(self, claim: str, evidence: Sequence[ReadEvidence]) -> Support:
        parts = self._loaded()
        ids = parts.tokenizer.ids(claim)[:_LONGEST_CLAIM]
        tokens = [_BEGIN, *(i + _SHIFT for i in ids), _END]
        return Support.of_logits(parts.run(tokens, 0, [one.states for one in evidence])[1][0])


@dataclass(frozen=True, slots=True)
class _LoadedJudge:
    session: "onnxruntime.InferenceSession"
    tokenizer: WordPieces
    words: NDArray[np.int8]
    scales: Floats
    near: Floats
    """[heads, from, to]: what attention gains by nearness within a text."""
    states: int

    @classmethod
    def open(cls, assets: Path) -> "_LoadedJudge":
        with np.load(io.BytesIO(verified(assets, "words.npz"))) as tables:
            words, scales, near, bucket = (tables[name] for name in ("words", "scales", "near", "buckets"))
        states = int(json.loads((assets / "manifest.json").read_bytes())["states"])
        at = np.arange(LONGEST_TEXT + 1)
        spread = near[bucket[at[None] - at[:, None] + LONGEST_TEXT]].transpose(2, 0, 1)
        return cls(
            open_session(verified(assets, "model.onnx")),
            open_tokenizer(ASSETS / "embedder"),
            words,
            scales,
            np.ascontiguousarray(spread),
            states,
        )

    def run(self, ids: Sequence[int], first: int, past: Sequence[Floats]) -> tuple[Floats, Floats]:
        """What is to be kept of the text, and the logits of its first token."""
        size = len(ids)
        before = np.concatenate(past, axis=1) if past else np.zeros((self.states, 0, _WIDTH), np.float32)
        given = {
            "words": self.words[list(ids)].astype(np.float32) * self.scales[list(ids)][:, None],
            "places": np.arange(first + 2, first + 2 + size),
            "near": self.near[:, :size, :size],
            "past": before,
        }
        try:
            present, logits = self.session.run(None, given)
        except RuntimeError as error:
            raise ModelError("The built-in judge could not run.") from error
        return present, logits
