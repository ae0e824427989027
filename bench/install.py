"""What an installation takes on disk, with the one embedding file that all four embed with.

"citewell" is `pip install citewell`: ingest, search and ask with the built-in models. "citewell, whole" is
`citewell[all]`: server, agent, databases, all that scales out.
"""

import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from measuring import HERE, OUT, REPO, Figures

EMBEDDER = Path("citewell") / "assets" / "embedder" / "model.onnx"
PEERS = ("llamaindex", "haystack", "langchain")


def measure() -> dict[str, Figures]:
    embedding = megabytes([REPO / "src" / EMBEDDER])
    found = {
        "citewell": _figures(_environment("install-base", [REPO]), embedding),
        "citewell, whole": _figures(_environment("install-whole", [f"{REPO}[all]"]), embedding),
    }
    for peer in PEERS:
        if (environment := HERE / "peers" / peer / ".venv").exists():
            found[peer] = _figures(environment, embedding)
    return found


def megabytes(files: Sequence[Path]) -> float:
    """Byte code is made by whoever runs it first, and left out."""
    return sum(path.stat().st_size for path in files if path.suffix != ".pyc") / 2**20


def _figures(environment: Path, embedding: float) -> Figures:
    files = [path for path in environment.rglob("*") if path.is_file() and not path.is_symlink()]
    bare = megabytes(files) - (embedding if any(path.match(str(EMBEDDER)) for path in files) else 0.0)
    return {"install_mb": bare + embedding, "of_it_the_embedding_file_mb": embedding}


def _environment(name: str, *steps: Sequence[object]) -> Path:
    """Made afresh: what was installed from an older tree says nothing."""
    environment = OUT / name
    shutil.rmtree(environment, ignore_errors=True)
    python = environment / "bin" / "python"
    if uv := shutil.which("uv"):
        subprocess.run([uv, "venv", "-q", "--python", sys.executable, environment], check=True)
        install: list[object] = [uv, "pip", "install", "-q", "--link-mode", "copy", "--python", python]
    else:
        subprocess.run([sys.executable, "-m", "venv", environment], check=True)
        install = [python, "-m", "pip", "install", "-q", "--disable-pip-version-check"]
    for step in steps:
        subprocess.run([str(part) for part in (*install, *step)], check=True)
    if not uv:
        subprocess.run([python, "-m", "pip", "uninstall", "-q", "-y", "pip", "setuptools"], check=True)
    return environment
