"""The larger model: a cross-encoder in which evidence is read once and every claim and question looks at it."""

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from citewell.errors import ModelError
from citewell.inference.model_files import ASSETS, open_session, open_tokenizer, verified
from citewell.inference.shipped_model import (
    LONGEST_SENTENCE,
    LONGEST_TEXT,
    Encoded,
    Floats,
    ShippedModel,
    SideBySide,
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
_HIDDEN: Final = np.float32(-30000)


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
        near = parts.near[:, : len(ids) + 1, : len(ids) + 1]
        present, _, _ = parts.run([*ids, _END], range(1, len(ids) + 2), near)
        return Encoded(tuple(start for start, _ in tokens.spans[: len(ids)]), present)

    def _sentence(self, text: str) -> list[int]:
        ids = self._loaded().tokenizer.ids(text)[:LONGEST_SENTENCE]
        return [_BEGIN, *(i + _SHIFT for i in ids), _END]

    def _forms(self, question: str) -> list[list[int]]:
        return [self._sentence(f"{plain(question)}?")]

    def _answers(self, asked: SideBySide, passage: Encoded) -> Floats:
        parts, before = self._loaded(), passage.size
        near = np.full((parts.near.shape[0], len(asked.ids), len(asked.ids)), _HIDDEN, np.float32)
        for start, end in pairwise([*asked.firsts, len(asked.ids)]):
            near[:, start:end, start:end] = parts.near[:, : end - start, : end - start]
        hidden = np.where(asked.mask[:, :before], np.float32(0), _HIDDEN)
        return parts.run(asked.ids, asked.places, near, [passage.states], hidden, asked.firsts)[2]

    def _support(self, claim: str, passages: Sequence[Encoded]) -> Support:
        parts, ids = self._loaded(), self._sentence(claim)
        near = parts.near[:, : len(ids), : len(ids)]
        return Support.of_logits(parts.run(ids, range(len(ids)), near, [one.states for one in passages])[1][0])


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

    def run(
        self,
        ids: Sequence[int],
        places: Sequence[int],
        near: Floats,
        past: Sequence[Floats] = (),
        hidden: Floats | None = None,
        firsts: Sequence[int] = (0,),
    ) -> tuple[Floats, Floats, Floats]:
        """What is to be kept of the tokens, and of each first one the logits of a claim and of a question."""
        before = np.concatenate(past, axis=1) if past else np.zeros((self.states, 0, _WIDTH), np.float32)
        given = {
            "words": self.words[list(ids)].astype(np.float32) * self.scales[list(ids)][:, None],
            "places": np.array(places, np.int64) + 2,
            "near": near,
            "hidden": np.zeros((len(ids), before.shape[1]), np.float32) if hidden is None else hidden,
            "past": before,
            "firsts": np.array(firsts, np.int64),
        }
        try:
            present, support, answers = self.session.run(None, given)
        except RuntimeError as error:
            raise ModelError("The larger model could not run.") from error
        return present, support, answers
