"""The reading model: a cross-encoder in which passages are encoded once and questions and claims attend to them.

Reader and conflicts ask the same encoded passages.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

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

_QUESTION, _CLAIM, _END = 101, 2, 102
"""[CLS] opens a question, [unused1] a claim; [SEP] ends every text."""
_PASSAGE_FROM: Final = 16
_WIDTH: Final = 384


class ReadingModel(ShippedModel["_Parts"]):
    def __init__(self, assets: Path = ASSETS / "reading", *, threads: int | None = None) -> None:
        super().__init__(assets, threads)

    def _open(self) -> "_Parts":
        layers = int(json.loads((self._assets / "manifest.json").read_bytes())["layers"])
        return _Parts(
            open_session(verified(self._assets, "model.onnx")), open_tokenizer(ASSETS / "embedder"), 2 * layers
        )

    def _encode(self, text: str) -> Encoded:
        parts = self._loaded()
        tokens = parts.tokenizer.pieces(text)
        ids, offsets = tokens.ids[:LONGEST_TEXT], tokens.spans[:LONGEST_TEXT]
        size = len(ids) + 1
        made = parts.run([*ids, _END], range(_PASSAGE_FROM, _PASSAGE_FROM + size), 1, np.ones((size, size), bool), ())
        return Encoded(tuple(start for start, _ in offsets), made["present"])

    def _sentence(self, mark: int, text: str) -> list[int]:
        ids = self._loaded().tokenizer.ids(text)[:LONGEST_SENTENCE]
        return [mark, *ids, _END]

    def _forms(self, question: str) -> list[list[int]]:
        # Readers write the question mark or not: both forms are asked of the whole, and count the same.
        return [self._sentence(_QUESTION, form) for form in (plain(question), f"{plain(question)}?")]

    def _answers(self, asked: SideBySide, passage: Encoded) -> Floats:
        made = self._loaded().run(asked.ids, asked.places, 0, asked.mask, [passage.states])
        return made["answers"][0, asked.firsts]

    def _support(self, claim: str, passages: Sequence[Encoded]) -> Support:
        ids = self._sentence(_CLAIM, claim)
        past = [passage.states for passage in passages]
        mask = np.ones((len(ids), sum(p.shape[2] for p in past) + len(ids)), bool)
        return Support.of_logits(self._loaded().run(ids, range(len(ids)), 0, mask, past)["support"][0, 0])


@dataclass(frozen=True, slots=True)
class _Parts:
    session: "onnxruntime.InferenceSession"
    tokenizer: WordPieces
    states: int

    def run(
        self, ids: Sequence[int], places: Sequence[int], kind: int, mask: NDArray[np.bool_], past: Sequence[Floats]
    ) -> dict[str, Floats]:
        before = np.concatenate(past, axis=2) if past else np.zeros((self.states, 1, 0, _WIDTH), np.float32)
        given: dict[str, Any] = {
            "ids": np.array([ids], np.int64),
            "places": np.array([places], np.int64),
            "kinds": np.full((1, len(ids)), kind, np.int64),
            "mask": mask[None],
            "past": before,
        }
        try:
            made = self.session.run(None, given)
        except RuntimeError as error:
            raise ModelError("The built-in reading model could not run.") from error
        return dict(zip(("present", "answers", "support"), made, strict=True))
