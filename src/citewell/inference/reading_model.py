"""The reading model: a cross-encoder in which passages are encoded once and questions and claims attend to them.

Reader and conflicts ask the same encoded passages.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

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

_QUESTION, _CLAIM, _END = 101, 2, 102
"""[CLS] opens a question, [unused1] a claim; [SEP] ends every text."""
_PASSAGE_FROM: Final = 16
_WIDTH: Final = 384
_MOST_VIEWS: Final = 48
"""Of a passage in one run. Attention is quadratic in their number: what has more is asked in several runs."""
_MOST_TOKENS: Final = 4096
"""Of a question with all its views of one passage; the units behind are not read."""


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

    def _ask(self, question: str, passage: Encoded, units: Sequence[Place]) -> Asked:
        # Readers write the question mark or not: both forms are asked of the whole, and count the same.
        bare, marked = (self._sentence(_QUESTION, form) for form in (plain(question), f"{plain(question)}?"))
        places = [passage.tokens(unit) for unit in units]
        read = [number for number, (first, last) in enumerate(places) if last > first][: _MOST_TOKENS // len(bare)]
        whole = 0, passage.states.shape[2]
        asked = [(bare, whole), (marked, whole), *((bare, places[number]) for number in read)]
        one, other, *scores = [
            score
            for first in range(0, len(asked), _MOST_VIEWS)
            for score in self._seen(passage, asked[first : first + _MOST_VIEWS])
        ]
        found = dict(zip(read, scores, strict=True))
        return Asked((one + other) / 2, tuple(found.get(number, UNREAD) for number in range(len(units))))

    def _seen(self, passage: Encoded, asked: Sequence[tuple[list[int], Place]]) -> list[float]:
        """The questions stand side by side; each sees itself and its part of the passage."""
        tokens, ids = passage.states.shape[2], [token for form, _ in asked for token in form]
        mask = np.zeros((len(ids), tokens + len(ids)), bool)
        starts = list(accumulate((len(form) for form, _ in asked), initial=0))
        for (start, end), (_, (first, last)) in zip(pairwise(starts), asked, strict=True):
            mask[start:end, first:last] = True
            mask[start:end, tokens + start : tokens + end] = True
        places = [place for form, _ in asked for place in range(len(form))]
        made = self._loaded().run(ids, places, 0, mask, [passage.states])
        scores: list[float] = made["answers"][0, starts[:-1]].tolist()
        return scores

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
