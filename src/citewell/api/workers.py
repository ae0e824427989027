"""The supervisor of several workers on one socket: one that dies is replaced, SIGHUP replaces them all one by one."""

import contextlib
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from citewell.logs import log

Serve = Callable[[socket.socket, Callable[[], None]], None]
"""Serves on the socket until a signal; calls the second when it listens. Sent to the workers, so it can be pickled."""
START_SECONDS = 120.0
GRACE_SECONDS = 30.0
MAX_FAILED_STARTS = 3
_METRICS_FOLDER = "PROMETHEUS_MULTIPROC_DIR"


@dataclass(slots=True)
class ServingProcess:
    process: SpawnProcess
    told: Connection
    """Says once that it listens; it ends when we do."""
    listens: bool = False


class Supervisor:
    def __init__(self, serve: Serve, listener: socket.socket, count: int, gone: Callable[[int, str], None]) -> None:
        """`gone` is told the id of each process that ended, and the folder of the workers' metrics."""
        self._serve = serve
        self._listener = listener
        self._count = count
        self._gone = gone
        self._folder = ""
        self._workers: list[ServingProcess] = []
        self._failed_starts = 0
        self._stopping = False
        self._rolling = False

    def run(self) -> None:
        """Until a signal. Raises SystemExit when no worker can start."""
        with tempfile.TemporaryDirectory(prefix="citewell-metrics-") as folder, self._signals() as signalled:
            # For the workers only: their metrics library reads it, and writes its counts to files that all can sum.
            os.putenv(_METRICS_FOLDER, folder)
            self._folder = folder
            self._workers = [self._start() for _ in range(self._count)]
            try:
                while not self._stopping and self._failed_starts < MAX_FAILED_STARTS:
                    self._look(signalled)
            finally:
                self._stop(self._workers)
        if not self._stopping:
            raise SystemExit(1)

    def _look(self, signalled: socket.socket) -> None:
        """Wait for something to happen and see to it."""
        waiting = [worker.told for worker in self._workers if not worker.listens]
        wait([signalled, *waiting, *(worker.process.sentinel for worker in self._workers)])
        with contextlib.suppress(BlockingIOError):
            signalled.recv(64)
        for place, worker in enumerate(self._workers):
            self._hear(worker)
            if not worker.process.is_alive():
                self._workers[place] = self._replaced(worker)
        if self._rolling and not self._stopping:
            self._rolling = False
            self._roll()

    def _hear(self, worker: ServingProcess, seconds: float = 0.0) -> None:
        with contextlib.suppress(EOFError, OSError):
            if not worker.listens and worker.told.poll(seconds) and worker.told.recv():
                worker.listens = True
                self._failed_starts = 0

    def _replaced(self, worker: ServingProcess) -> ServingProcess:
        self._end(worker)
        code = worker.process.exitcode
        log("startup", "a worker died and is replaced", level="warning", error=f"exit code {code}")
        if not worker.listens:
            self._failed_starts += 1
        return self._start() if self._failed_starts < MAX_FAILED_STARTS else worker

    def _roll(self) -> None:
        """A new worker listens before an old one is told to go, so that somebody always does."""
        for place, old in enumerate(self._workers):
            new = self._start()
            self._hear(new, START_SECONDS)
            if not new.listens or self._stopping:
                self._stop([new])
                log("startup", "a new worker did not start; the old ones stay", level="error")
                return
            self._workers[place] = new
            self._stop([old])
        log("startup", "all workers were replaced")

    def _start(self) -> ServingProcess:
        ours, theirs = multiprocessing.Pipe()
        context = multiprocessing.get_context("spawn")
        process = context.Process(target=_work, args=(self._serve, self._listener, theirs))
        process.start()
        theirs.close()
        return ServingProcess(process, ours)

    def _stop(self, workers: list[ServingProcess]) -> None:
        for worker in workers:
            worker.process.terminate()
        for worker in workers:
            worker.process.join(GRACE_SECONDS)
            worker.process.kill()
            worker.process.join()
            self._end(worker)

    def _end(self, worker: ServingProcess) -> None:
        worker.told.close()
        if worker.process.pid is not None:
            self._gone(worker.process.pid, self._folder)

    @contextlib.contextmanager
    def _signals(self) -> Iterator[socket.socket]:
        """A socket that can be read when a signal came."""
        reader, writer = socket.socketpair()
        reader.setblocking(False)
        writer.setblocking(False)

        def handle(number: int, _: object) -> None:
            if number == signal.SIGHUP:
                self._rolling = True
            else:
                self._stopping = True

        before = {number: signal.signal(number, handle) for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)}
        wakeup = signal.set_wakeup_fd(writer.fileno())
        try:
            yield reader
        finally:
            signal.set_wakeup_fd(wakeup)
            for number, handler in before.items():
                signal.signal(number, handler)
            reader.close()
            writer.close()


def _work(serve: Serve, listener: socket.socket, told: Connection) -> None:
    """A worker's whole life. It goes when its supervisor does, however that ended."""
    signal.signal(signal.SIGHUP, signal.SIG_IGN)

    def leave_with_supervisor() -> None:
        with contextlib.suppress(EOFError, OSError):
            told.recv()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=leave_with_supervisor, daemon=True).start()
    serve(listener, lambda: told.send(True))
    sys.exit(0)
