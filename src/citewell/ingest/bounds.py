"""Sandboxed reading within bounds of time and memory: a large page is read in a worker process that may be ended.

The readers are at worst quadratic: a small page is read where we are, without a bound of its own. A worker that
takes more CPU than it may, more memory, or dies of a parser's fault takes one page with it and not the run.
"""

import asyncio
import os
import pickle
import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import ParamSpec, TypeVar

SMALL = 50_000
"""Characters that are read here. Odd Docusaurus pages of this size took five seconds; other formats were not tried."""
SMALL_RST = 10_000
"""Of reStructuredText, whose parser takes as long for a fifth."""
SECONDS = 20
"""Of CPU that a page may take."""
MEMORY = 4_000_000_000
_LENGTH = 8
_XCPU = 24

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")


class UnreadablePage(ValueError):
    """The page cannot be read, within bounds or at all; the message says why."""

    code = "out_of_bounds"


class PageIsLarge(Exception):
    """More than `SMALL` characters: to be read in the worker."""


@dataclass(slots=True)
class Worker:
    """A process that reads one page at a time, started when it is first needed. `close` ends it."""

    seconds: int = SECONDS
    _process: "subprocess.Popen[bytes] | None" = None
    _lock: threading.Lock = field(default_factory=threading.Lock)

    async def run(
        self, function: Callable[Arguments, Result], *args: Arguments.args, **kwargs: Arguments.kwargs
    ) -> Result:
        """What the function returns or raises, both from a module and picklable. Raises UnreadablePage."""
        return await asyncio.to_thread(self._run, function, args, kwargs)

    def close(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()
            for pipe in (self._process.stdin, self._process.stdout):
                if pipe is not None:
                    pipe.close()
            self._process = None

    def _run(self, function: Callable[..., Result], args: tuple[object, ...], kwargs: dict[str, object]) -> Result:
        job = pickle.dumps((self.seconds, function, args, kwargs))
        with self._lock:
            process = self._process = self._process or _started()
            try:
                succeeded, result = pickle.loads(_exchanged(process, job))  # noqa: S301 - our own process's
            except (EOFError, OSError) as error:
                status = process.wait()
                self.close()
                raise UnreadablePage(self._why(status)) from error
        if not succeeded:
            raise result
        return result  # type: ignore[no-any-return]  # pickle knows no types; it is what the function gave

    def _why(self, status: int) -> str:
        if -status == _XCPU:
            return f"Reading it took more than {self.seconds} s. Divide the page, or look for what is odd in it."
        return "Reading it ended the process that read it. Divide the page, or look for what is odd in it."


def _started() -> "subprocess.Popen[bytes]":
    code = f"import sys; sys.path[:] = sys.argv[1:]; from {__name__} import work; work()"
    return subprocess.Popen(  # noqa: S603 - our own interpreter and code
        [sys.executable, "-c", code, *sys.path],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
    )


def _exchanged(process: "subprocess.Popen[bytes]", job: bytes) -> bytes:
    if process.stdin is None or process.stdout is None:
        raise EOFError
    process.stdin.write(len(job).to_bytes(_LENGTH, "big") + job)
    process.stdin.flush()
    length = int.from_bytes(process.stdout.read(_LENGTH), "big")
    reply = process.stdout.read(length)
    if not length or len(reply) < length:
        raise EOFError
    return reply


def _bound(seconds: int) -> None:
    """As much CPU from now on, and so much memory; without limits of the system there are none."""
    try:
        import resource
    except ModuleNotFoundError:
        return
    used = resource.getrusage(resource.RUSAGE_SELF)
    hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
    resource.setrlimit(resource.RLIMIT_CPU, (int(used.ru_utime + used.ru_stime) + seconds, hard))
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY if hard < 0 else min(MEMORY, hard), hard))


def work() -> None:
    """Jobs from standard input, replies to what was standard output; nothing else may write there."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while length := int.from_bytes(sys.stdin.buffer.read(_LENGTH), "big"):
        seconds, function, args, kwargs = pickle.loads(sys.stdin.buffer.read(length))  # noqa: S301 - our parent's
        _bound(seconds)
        try:
            reply = pickle.dumps((True, function(*args, **kwargs)))
        except (ValueError, RuntimeError, MemoryError, LookupError, TypeError, AttributeError, OSError) as error:
            failure = error if isinstance(error, ValueError) else UnreadablePage(f"It cannot be read: {error!r:.200}")
            reply = pickle.dumps((False, failure))
        replies.write(len(reply).to_bytes(_LENGTH, "big") + reply)
        replies.flush()
