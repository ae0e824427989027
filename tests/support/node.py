"""Node's packages for tests, from the registry: once for each lock file, in one place for all checkouts."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "citewell-tests"


def run(*command: str | Path, cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """The output of a command of Node; skips where there is no Node, fails when the command does."""
    program = shutil.which(str(command[0]))
    if program is None:
        pytest.skip("Node is missing: install Node 20 or newer with npm")
    quiet = {**os.environ, "NO_UPDATE_NOTIFIER": "1", "CI": "1", **(env or {})}
    done = subprocess.run([program, *command[1:]], cwd=cwd, env=quiet, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def packages(folder: Path) -> Path:
    """The place where the folder's lock file is installed as `node_modules`; skips where no registry can be reached."""
    lock = (folder / "package-lock.json").read_bytes()
    home = CACHE / f"{folder.name}-{hashlib.sha256(lock).hexdigest()[:12]}"
    if (home / "node_modules").is_dir():
        return home
    CACHE.mkdir(parents=True, exist_ok=True)
    making = Path(tempfile.mkdtemp(dir=CACHE))
    for name in ("package.json", "package-lock.json", ".npmrc"):
        shutil.copy(folder / name, making)
    try:
        run("npm", "ci", "--no-progress", "--ignore-scripts", "--prefer-offline", cwd=making)
        if not home.exists():
            making.rename(home)  # whole or not at all, whoever else is installing it
    except AssertionError:
        pytest.skip(f"the packages of {folder.name}/package-lock.json cannot be had: no registry of npm can be reached")
    finally:
        shutil.rmtree(making, ignore_errors=True)
    return home


def packed(folder: Path, into: Path) -> Path:
    """The tarball that `npm pack` makes of the folder."""
    name = run("npm", "pack", "--silent", "--pack-destination", into, cwd=folder).split()[-1]
    return into / name
