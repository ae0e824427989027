"""What the models that ship have in common: they load once, read each text once, and run off the event loop."""

import asyncio
import os
import threading
from abc import ABC, abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Final, Generic, TypeVar

from citewell.inference.model_files import checksum

LONGEST_TEXT: Final = 480
"""Tokens; what stands behind them is not read."""
_KEPT_TOKENS: Final = 2816
"""Of texts that stay encoded: about 100 MB, the passages of some three questions."""

Parts = TypeVar("Parts")
Read = TypeVar("Read")
Item = TypeVar("Item")
Made = TypeVar("Made")


class ShippedModel(ABC, Generic[Parts, Read]):
    """Loads when first used or by `warm`; safe to share. A thread for each core, unless `threads` says otherwise.

    One text runs at a time: in 8 bits the scale of a batch would depend on everything in it, and the same text would
    not get the same bytes."""

    def __init__(self, assets: Path, threads: int | None = None) -> None:
        self._assets = assets
        self._threads = ThreadPoolExecutor(threads or os.cpu_count() or 1, thread_name_prefix=assets.name)
        self._loading = threading.Lock()
        self._parts: Parts | None = None
        self._keeping = threading.Lock()
        self._kept: OrderedDict[str, Future[Read]] = OrderedDict()
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

    async def encode(self, texts: Sequence[str]) -> list[Read]:
        futures = [self._begun(text) for text in texts]
        # Shielded: others may wait for the same text, and a reader who leaves must not take it from them.
        return list(await asyncio.gather(*(asyncio.shield(asyncio.wrap_future(future)) for future in futures)))

    async def aclose(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
        self._kept.clear()

    @abstractmethod
    def _open(self) -> Parts:
        """Read the files. Raises ConfigurationError."""

    @abstractmethod
    def _encode(self, text: str) -> Read:
        """Read a text, up to LONGEST_TEXT."""

    def _loaded(self) -> Parts:
        with self._loading:
            if self._parts is None:
                self._parts = self._open()
            return self._parts

    async def _run(self, work: Callable[[], Made]) -> Made:
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def _each(self, work: Callable[[Item], Made], items: Sequence[Item]) -> list[Made]:
        return list(await asyncio.gather(*(self._run(partial(work, item)) for item in items)))

    def _begun(self, text: str) -> "Future[Read]":
        with self._keeping:
            future = self._kept.get(text)
            if future is None or (future.done() and (future.cancelled() or future.exception() is not None)):
                future = self._kept[text] = self._threads.submit(self._encode, text)
            self._kept.move_to_end(text)
            size = sum(map(_size, self._kept))
            while size > _KEPT_TOKENS and len(self._kept) > 1:
                size -= _size(self._kept.popitem(last=False)[0])
            return future


def _size(text: str) -> int:
    """About how many tokens a text has."""
    return min(len(text) // 4 + 1, LONGEST_TEXT)
