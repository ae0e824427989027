"""The reading model: a cross-encoder in which passages are encoded once and questions and claims attend to them.

Reader and judge ask the same encoded passages. One text runs at a time: in 8 bits the scale of a batch would depend on
everything in it, and the same question would not get the same bytes.
"""

import asyncio
import json
import os
import threading
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np
from numpy.typing import NDArray

from citewell.errors import ModelError
from citewell.inference.files import ASSETS, open_session, open_tokenizer, verified

if TYPE_CHECKING:
    import onnxruntime
    from tokenizers import Tokenizer

Floats = NDArray[np.float32]
Item = TypeVar("Item")
Made = TypeVar("Made")

_QUESTION, _CLAIM, _END = 101, 2, 102
"""[CLS] opens a question, [unused1] a claim; [SEP] ends every text."""
_PASSAGE_FROM: Final = 16
_LONGEST_PASSAGE: Final = 480
_LONGEST_SENTENCE: Final = 96
_WIDTH: Final = 384
_KEPT_TOKENS: Final = 4096
"""Of passages that stay encoded: about 100 MB, the passages of some five questions."""


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A passage as the model has read it. `end` is where in `text` reading stopped, for texts that are too long."""

    text: str
    end: int
    starts: tuple[int, ...]
    """Where each token begins in `text`."""
    states: Floats = field(repr=False)
    shown: Floats = field(repr=False)


@dataclass(frozen=True, slots=True, eq=False)
class Asked:
    """What a passage says to a question. Scores are logits: above zero is likelier than not."""

    answers: float
    """Whether the passage answers the question."""
    tokens: Floats = field(repr=False)
    starts: tuple[int, ...] = field(repr=False)

    def relevance(self, start: int, end: int) -> float:
        """Whether `text[start:end]` belongs to what answers: the mean over its tokens, very low where none was read."""
        first, last = bisect_left(self.starts, start), bisect_left(self.starts, end)
        return float(self.tokens[first:last].mean()) if last > first else -20.0


@dataclass(frozen=True, slots=True)
class Support:
    """Entailment: how likely it is that the passages support the claim, contradict it or do not state it."""

    supported: float
    contradicted: float
    not_stated: float


class ReadingModel:
    """Loads when first used or by `warm`; safe to share. Runs off the event loop, a thread for each core."""

    def __init__(self, assets: Path = ASSETS / "reading", *, threads: int | None = None) -> None:
        self._assets = assets
        self._threads = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix="reading")
        self._loading = threading.Lock()
        self._parts: _Parts | None = None
        self._kept: OrderedDict[str, Encoded] = OrderedDict()

    async def warm(self) -> None:
        await self._run(self._loaded)

    async def encode(self, texts: Sequence[str]) -> list[Encoded]:
        wanted = [text for text in dict.fromkeys(texts) if text not in self._kept]
        fresh = dict(zip(wanted, await self._each(self._encode, wanted), strict=True))
        found = [fresh[text] if text in fresh else self._kept[text] for text in texts]
        self._keep(found)
        return found

    async def ask(self, question: str, passage: Encoded) -> Asked:
        return await self._run(partial(self._ask, question, passage))

    async def ask_all(self, question: str, passages: Sequence[Encoded]) -> list[Asked]:
        return await self._each(lambda passage: self._ask(question, passage), passages)

    async def support(self, claim: str, passages: Sequence[Encoded]) -> Support:
        """The claim sees all the passages at once: it may join what two of them say."""
        return await self._run(partial(self._support, claim, passages))

    async def support_all(self, pairs: Sequence[tuple[str, Sequence[Encoded]]]) -> list[Support]:
        return await self._each(lambda pair: self._support(*pair), pairs)

    async def aclose(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._kept.clear()

    def _keep(self, found: Sequence[Encoded]) -> None:
        for encoded in found:
            self._kept[encoded.text] = encoded
            self._kept.move_to_end(encoded.text)
        size = sum(len(e.starts) for e in self._kept.values())
        while size > _KEPT_TOKENS:
            size -= len(self._kept.popitem(last=False)[1].starts)

    async def _run(self, work: Callable[[], Made]) -> Made:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _each(self, work: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
        return list(await asyncio.gather(*(self._run(partial(work, item)) for item in items)))

    def _loaded(self) -> "_Parts":
        with self._loading:
            if self._parts is None:
                manifest = json.loads((self._assets / "manifest.json").read_bytes())
                self._parts = _Parts(
                    open_session(verified(self._assets, "model.onnx")),
                    open_tokenizer(ASSETS / "embedder"),
                    float(manifest["relevance_bias"]),
                    2 * int(manifest["layers"]),
                )
            return self._parts

    def _encode(self, text: str) -> Encoded:
        parts = self._loaded()
        tokens = parts.tokenizer.encode(_clean(text), add_special_tokens=False)
        ids, offsets = tokens.ids[:_LONGEST_PASSAGE], tokens.offsets[:_LONGEST_PASSAGE]
        made = parts.run([*ids, _END], place=_PASSAGE_FROM, kind=1, past=())
        end = len(text) if len(tokens.ids) == len(ids) else offsets[-1][1]
        return Encoded(text, end, tuple(a for a, _ in offsets), made["present"], made["shown"][0, :-1])

    def _sentence(self, mark: int, text: str, passages: Sequence[Encoded]) -> dict[str, Floats]:
        parts = self._loaded()
        ids = parts.tokenizer.encode(_clean(text), add_special_tokens=False).ids[:_LONGEST_SENTENCE]
        return parts.run([mark, *ids, _END], place=0, kind=0, past=[p.states for p in passages])

    def _ask(self, question: str, passage: Encoded) -> Asked:
        made = self._sentence(_QUESTION, question, [passage])
        tokens = passage.shown @ made["asked"][0, 0] + self._loaded().relevance_bias
        return Asked(float(made["answers"][0, 0]), tokens, passage.starts)

    def _support(self, claim: str, passages: Sequence[Encoded]) -> Support:
        logits = self._sentence(_CLAIM, claim, passages)["support"][0, 0].astype(np.float64)
        shares = np.exp(logits - logits.max())
        supported, contradicted, not_stated = (shares / shares.sum()).tolist()
        return Support(supported, contradicted, not_stated)


@dataclass(frozen=True, slots=True)
class _Parts:
    session: "onnxruntime.InferenceSession"
    tokenizer: "Tokenizer"
    relevance_bias: float
    states: int

    def run(self, ids: list[int], *, place: int, kind: int, past: Sequence[Floats]) -> dict[str, Floats]:
        size = len(ids)
        before = np.concatenate(past, axis=2) if past else np.zeros((self.states, 1, 0, _WIDTH), np.float32)
        given: dict[str, Any] = {
            "ids": np.array([ids], np.int64),
            "places": np.arange(place, place + size, dtype=np.int64)[None],
            "kinds": np.full((1, size), kind, np.int64),
            "mask": np.ones((1, size, before.shape[2] + size), bool),
            "past": before,
        }
        try:
            made = self.session.run(None, given)
        except RuntimeError as error:
            raise ModelError("The built-in reading model could not run.") from error
        return dict(zip(("present", "answers", "support", "asked", "shown"), made, strict=True))


def _clean(text: str) -> str:
    """A lone surrogate is no text for the tokenizer; one character stays one character, so that places hold."""
    return text.encode("utf-8", "replace").decode("utf-8")
