"""The larger model: a cross-encoder in which evidence is read once and every claim and question looks at it."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from citewell.errors import ModelError
from citewell.inference.model_files import ASSETS, open_session, open_tokenizer, verified
from citewell.inference.shipped_model import (
    LONGEST_SENTENCE,
    LONGEST_TEXT,
    UNREAD,
    Asked,
    Encoded,
    Floats,
    Place,
    ShippedModel,
    plain,
)
from citewell.inference.support import Support
from citewell.wordpieces import WordPieces

if TYPE_CHECKING:
    import onnxruntime

_BEGIN, _END = 0, 2
_SHIFT: Final = 4
"""MPNet's word pieces are BERT's, behind four of its own."""
_WIDTH: Final = 768


def larger_assets() -> Path | None:
    """Where the distribution citewell-larger has its weights; None when it is not installed."""
    try:
        import citewell_larger
    except ModuleNotFoundError:
        return None
    return Path(citewell_larger.__file__).parent


class LargerModel(ShippedModel["_Loaded"]):
    """The weights are in a distribution of their own: with them one wheel would be larger than an index takes."""

    def _open(self) -> "_Loaded":
        return _Loaded.open(self._assets)

    def _encode(self, text: str) -> Encoded:
        parts = self._loaded()
        tokens = parts.tokenizer.pieces(text)
        ids = [i + _SHIFT for i in tokens.ids[:LONGEST_TEXT]]
        present, _, _ = parts.run([*ids, _END], 1, ())
        return Encoded(tuple(start for start, _ in tokens.spans[: len(ids)]), present)

    def _sentence(self, text: str) -> list[int]:
        ids = self._loaded().tokenizer.ids(text)[:LONGEST_SENTENCE]
        return [_BEGIN, *(i + _SHIFT for i in ids), _END]

    def _ask(self, question: str, passage: Encoded, units: Sequence[Place]) -> Asked:
        asked = self._sentence(f"{plain(question)}?")
        return Asked(self._answers(asked, passage.states), tuple(self._seen(asked, passage, unit) for unit in units))

    def _seen(self, asked: list[int], passage: Encoded, unit: Place) -> float:
        first, last = passage.tokens(unit)
        return self._answers(asked, passage.states[:, first:last]) if last > first else UNREAD

    def _answers(self, asked: list[int], states: Floats) -> float:
        return float(self._loaded().run(asked, 0, [states])[2][0])

    def _support(self, claim: str, passages: Sequence[Encoded]) -> Support:
        return Support.of_logits(self._loaded().run(self._sentence(claim), 0, [one.states for one in passages])[1][0])


@dataclass(frozen=True, slots=True)
class _Loaded:
    session: "onnxruntime.InferenceSession"
    tokenizer: WordPieces
    words: NDArray[np.int8]
    scales: Floats
    near: Floats
    """[heads, from, to]: what attention gains by nearness within a text."""
    states: int

    @classmethod
    def open(cls, assets: Path) -> "_Loaded":
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

    def run(self, ids: Sequence[int], first: int, past: Sequence[Floats]) -> tuple[Floats, Floats, Floats]:
        """What is to be kept of the text, and of its first token the logits of a claim and of a question."""
        size = len(ids)
        before = np.concatenate(past, axis=1) if past else np.zeros((self.states, 0, _WIDTH), np.float32)
        given = {
            "words": self.words[list(ids)].astype(np.float32) * self.scales[list(ids)][:, None],
            "places": np.arange(first + 2, first + 2 + size),
            "near": self.near[:, :size, :size],
            "past": before,
        }
        try:
            present, support, answers = self.session.run(None, given)
        except RuntimeError as error:
            raise ModelError("The larger model could not run.") from error
        return present, support, answers
