"""What an installation takes on disk: Citewell with its dependencies and its model, and each peer's environment."""

import shutil
import subprocess
import sys
from pathlib import Path

from measuring import HERE, OUT, REPO, Figures

PEERS = ("llamaindex", "haystack", "langchain")


def megabytes(folder: Path) -> float:
    files = (path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    return sum(path.stat().st_size for path in files if path.suffix != ".pyc") / 2**20


def measure() -> dict[str, Figures]:
    environment = OUT / "install"
    if not (environment / ".complete").exists():
        shutil.rmtree(environment, ignore_errors=True)
        if uv := shutil.which("uv"):
            subprocess.run([uv, "venv", "-q", "--python", sys.executable, environment], check=True)
            python = str(environment / "bin" / "python")
            subprocess.run([uv, "pip", "install", "-q", "--link-mode", "copy", "--python", python, REPO], check=True)
        else:
            subprocess.run([sys.executable, "-m", "venv", environment], check=True)
            subprocess.run([environment / "bin" / "pip", "install", "-q", REPO], check=True)
        (environment / ".complete").touch()
    found = {"citewell": {"install_mb": megabytes(environment)}}
    for peer in PEERS:
        if (HERE / "peers" / peer / ".venv").exists():
            found[peer] = {"install_mb": megabytes(HERE / "peers" / peer / ".venv")}
    return found
