"""The models that ship, cross-encoders in which a text is read once and questions and claims look at it.

What they have in common: they load once, read each text once, and run off the event loop.
"""

import asyncio
import os
import threading
from abc import ABC, abstractmethod
from bisect import bisect_left
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Final, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from citewell.inference.model_files import checksum
from citewell.inference.support import Support

LONGEST_TEXT: Final = 480
"""Tokens; what stands behind them is not read."""
_KEPT_TOKENS: Final = 2816
"""Of texts that stay encoded: about 100 MB, the passages of some three questions."""

LONGEST_SENTENCE: Final = 96
"""Tokens of a question or a claim."""

Floats = NDArray[np.float32]
Place = tuple[int, int]
Parts = TypeVar("Parts")
Item = TypeVar("Item")
Made = TypeVar("Made")
UNREAD: Final = -20.0
"""The logit of a unit that lies behind the place where reading stopped."""
_MOST_VIEWS: Final = 48
"""Of a passage in one run. Attention is quadratic in their number: what has more is asked in several runs."""
_MOST_TOKENS: Final = 4096
"""Of a question with all its views of one passage; the units behind are not read."""


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """A text as a model has read it."""

    starts: tuple[int, ...]
    """Where each token begins in the text."""
    states: Floats = field(repr=False)

    @property
    def size(self) -> int:
        """Its tokens, with the one that ends it."""
        return len(self.starts) + 1

    def tokens(self, part: Place) -> Place:
        """Those that begin within a part of the text."""
        return bisect_left(self.starts, part[0]), bisect_left(self.starts, part[1])


@dataclass(frozen=True, slots=True)
class SideBySide:
    """Forms of a question in one run; each sees itself and its part of the passage."""

    ids: list[int]
    places: list[int]
    firsts: list[int]
    """Where each begins."""
    mask: NDArray[np.bool_]
    """[tokens, those of the passage and then their own]: what each may look at."""

    @classmethod
    def of(cls, before: int, asked: Sequence[tuple[Sequence[int], Place]]) -> "SideBySide":
        ids = [token for form, _ in asked for token in form]
        mask = np.zeros((len(ids), before + len(ids)), bool)
        starts = list(accumulate((len(form) for form, _ in asked), initial=0))
        for (start, end), (_, (first, last)) in zip(pairwise(starts), asked, strict=True):
            mask[start:end, first:last] = True
            mask[start:end, before + start : before + end] = True
        return cls(ids, [place for form, _ in asked for place in range(len(form))], starts[:-1], mask)


@dataclass(frozen=True, slots=True)
class Asked:
    """What a passage says to a question. Scores are logits: above zero is likelier than not."""

    answers: float
    """Whether the passage answers the question."""
    units: tuple[float, ...] = ()
    """For each part of the passage that was asked for: whether it answers, or belongs to what answers."""


class ShippedModel(ABC, Generic[Parts]):
    """Loads when first used or by `warm`; safe to share. A thread for each core, unless `threads` says otherwise.

    One text runs at a time: what shares a run moves the last digits, and the same text would not get the same bytes."""

    def __init__(self, assets: Path, threads: int | None = None) -> None:
        self._assets = assets
        self._threads = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix=assets.name)
        self._loading = threading.Lock()
        self._parts: Parts | None = None
        self._keeping = threading.Lock()
        self._kept: OrderedDict[str, Future[Encoded]] = OrderedDict()
        self.name = f"{assets.name}-{self.sha256[:12]}"
        """Which model this is: the same name gives the same scores on machines of one kind."""

    @property
    def sha256(self) -> str:
        """Which weights these are, as the manifest says."""
        return checksum(self._assets, "model.onnx")

    async def warm(self) -> None:
        await self._run(self._loaded)

    def begin(self, texts: Sequence[str]) -> None:
        """Read these in the background: who asks for them later waits for what is left of the work."""
        for text in texts:
            self._begun(text)

    async def encode(self, texts: Sequence[str]) -> list[Encoded]:
        futures = [self._begun(text) for text in texts]
        # Shielded: others may wait for the same text, and a reader who leaves must not take it from them.
        return list(await asyncio.gather(*(asyncio.shield(asyncio.wrap_future(future)) for future in futures)))

    async def ask(self, question: str, passage: Encoded, units: Sequence[Place] = ()) -> Asked:
        """Ask the whole passage, and each unit (`text[start:end]`) with the rest hidden, though read in context.

        A mark at the end of the question makes no difference."""
        return await self._run(partial(self._ask, question, passage, units))

    async def ask_all(
        self, question: str, passages: Sequence[Encoded], units: Sequence[Sequence[Place]] = ()
    ) -> list[Asked]:
        """`units` are those of each passage, or none at all."""
        asked = list(zip(passages, units or [()] * len(passages), strict=True))
        return await self._each(lambda each: self._ask(question, *each), asked)

    async def read(self, question: str, texts: Sequence[str], units: Sequence[Sequence[Place]] = ()) -> list[Asked]:
        """Encode, and ask: what a reader needs."""
        return await self.ask_all(question, await self.encode(texts), units)

    async def support_all(self, pairs: Sequence[tuple[str, Sequence[Encoded]]]) -> list[Support]:
        """A claim sees all its passages at once: it may join what two of them say."""
        return await self._each(lambda pair: self._support(*pair), pairs)

    async def aclose(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._kept.clear()

    @abstractmethod
    def _open(self) -> Parts:
        """Read the files. Raises ConfigurationError."""

    @abstractmethod
    def _encode(self, text: str) -> Encoded:
        """Read a text, up to LONGEST_TEXT."""

    @abstractmethod
    def _forms(self, question: str) -> list[list[int]]:
        """The tokens of a question in each form in which the whole passage is asked; units are asked the first."""

    @abstractmethod
    def _answers(self, asked: SideBySide, passage: Encoded) -> Floats:
        """The logit of each."""

    @abstractmethod
    def _support(self, claim: str, passages: Sequence[Encoded]) -> Support: ...

    def _ask(self, question: str, passage: Encoded, units: Sequence[Place]) -> Asked:
        forms = self._forms(question)
        places = [passage.tokens(unit) for unit in units]
        read = [number for number, (first, last) in enumerate(places) if last > first][: _MOST_TOKENS // len(forms[0])]
        asked = [*((form, (0, passage.size)) for form in forms), *((forms[0], places[number]) for number in read)]
        scores = [
            float(score)
            for first in range(0, len(asked), _MOST_VIEWS)
            for score in self._answers(SideBySide.of(passage.size, asked[first : first + _MOST_VIEWS]), passage)
        ]
        whole, found = scores[: len(forms)], dict(zip(read, scores[len(forms) :], strict=True))
        return Asked(sum(whole) / len(whole), tuple(found.get(number, UNREAD) for number in range(len(units))))

    def _loaded(self) -> Parts:
        with self._loading:
            if self._parts is None:
                self._parts = self._open()
            return self._parts

    async def _run(self, work: Callable[[], Made]) -> Made:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _each(self, work: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
        return list(await asyncio.gather(*(self._run(partial(work, item)) for item in items)))

    def _begun(self, text: str) -> "Future[Encoded]":
        with self._keeping:
            future = self._kept.get(text)
            if future is None or (future.done() and (future.cancelled() or future.exception() is not None)):
                future = self._kept[text] = self._threads.submit(self._encode, text)
            self._kept.move_to_end(text)
            size = sum(map(_size, self._kept))
            while size > _KEPT_TOKENS and len(self._kept) > 1:
                size -= _size(self._kept.popitem(last=False)[0])
            return future


def plain(question: str) -> str:
    """Without the mark at its end, which readers write or not."""
    return question.rstrip(" ?!.…")


def _size(text: str) -> int:
    """About how many tokens a text has."""
    return min(len(text) // 4 + 1, LONGEST_TEXT)
