"""The synchronous Book, for scripts and notebooks: the same methods, each awaited on an event loop in a thread.

No logic of its own: every method is made from Book's by one line, types included.
"""

import asyncio
import functools
import threading
import weakref
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Generator
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from citewell.book import Book
from citewell.book import open as open_book

P = ParamSpec("P")
R = TypeVar("R")


class _Loop:
    """An event loop in a thread of its own, until it is closed. A notebook's own loop does not matter to it."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="citewell", daemon=True)
        self._thread.start()

    def result(self, work: Coroutine[Any, Any, R]) -> R:
        """Wait for it. Whoever interrupts the wait interrupts the work."""
        future: Future[R] = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def close(self) -> None:
        self.result(self._loop.shutdown_asyncgens())
        self.result(self._loop.shutdown_default_executor())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class _Opened:
    """A book that one task opens and closes, as its parts demand, while others use it."""

    def __init__(self, book: Book) -> None:
        self._closing = asyncio.Event()
        self._task = asyncio.create_task(self._keep(book))

    async def _keep(self, book: Book) -> None:
        async with book:
            await self._closing.wait()

    async def aclose(self) -> None:
        self._closing.set()
        await self._task


def _blocking(
    method: Callable[Concatenate[Book, P], Awaitable[R]],
) -> "Callable[Concatenate[SyncBook, P], R]":
    @functools.wraps(method)
    def wait(self: "SyncBook", /, *given: P.args, **named: P.kwargs) -> R:
        async def work() -> R:
            return await method(self._book, *given, **named)

        return self._loop.result(work())

    return wait


def _one_by_one(
    method: Callable[Concatenate[Book, P], AsyncGenerator[R, None]],
) -> "Callable[Concatenate[SyncBook, P], Generator[R, None, None]]":
    @functools.wraps(method)
    def steps(self: "SyncBook", /, *given: P.args, **named: P.kwargs) -> Generator[R, None, None]:
        events = method(self._book, *given, **named)

        async def following() -> R | None:
            return await anext(events, None)

        try:
            while (event := self._loop.result(following())) is not None:
                yield event
        finally:
            self._loop.result(events.aclose())

    return steps


class SyncBook:
    """A Book whose methods wait. Made by `citewell.open_sync`; closed by `close`, `with`, or when it is forgotten."""

    def __init__(self, book: Book) -> None:
        self._book = book
        self._loop = _Loop()
        opened = self._loop.result(_open(book))
        self._close = weakref.finalize(self, _close, self._loop, opened)

    def close(self) -> None:
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"Sync{self._book!r}"

    @property
    def folder(self) -> Path:
        return self._book.folder

    ingest = _blocking(Book.ingest)
    watch = _one_by_one(Book.watch)
    ask = _blocking(Book.ask)
    stream = _one_by_one(Book.stream)
    search = _blocking(Book.search)
    pages = _blocking(Book.pages)
    page = _blocking(Book.page)
    check = _blocking(Book.check)
    verify = _blocking(Book.verify)


async def _open(book: Book) -> _Opened:
    return _Opened(book)


def _close(loop: _Loop, opened: _Opened) -> None:
    try:
        loop.result(opened.aclose())
    finally:
        loop.close()


def _synced(
    make: Callable[P, Book],
) -> Callable[P, SyncBook]:
    @functools.wraps(make)
    def opened(*given: P.args, **named: P.kwargs) -> SyncBook:
        return SyncBook(make(*given, **named))

    return opened


open_sync = _synced(open_book)
