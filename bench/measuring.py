"""What the benchmarks share: a corpus repeated, stand-in embedders, percentiles, child processes."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import time
import zlib
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from citewell.embedding import BuiltinEmbedder
from citewell.values import Vector

HERE = Path(__file__).resolve().parent
REPO = HERE.parent
OUT = HERE / "out"
GOLDEN = HERE / "docusaurus_golden.jsonl"
_MANIFEST = REPO / "src" / "citewell" / "assets" / "embedder" / "manifest.json"
MODEL = str(json.loads(_MANIFEST.read_text())["files"]["model.onnx"]["sha256"])[:8]
"""In the names of files with kept vectors: another model has other vectors."""
BASE_URL = "https://docusaurus.io/docs"
Figures = dict[str, float]


def corpus() -> Path:
    """The Docusaurus manual: `CORPORA`, or `shared/corpora` beside the repository."""
    folder = Path(os.environ.get("CORPORA", REPO.parent / "shared" / "corpora")) / "docusaurus" / "docs"
    if not folder.is_dir():
        sys.exit(f"The corpus is not at {folder}; set CORPORA to the folder that holds docusaurus/docs.")
    return folder


def questions() -> list[str]:
    return [json.loads(line)["question"] for line in GOLDEN.read_text("utf-8").splitlines()]


def repeated(source: Path, target: Path, copies: int, without: Sequence[str] = ()) -> Path:
    """The corpus `copies` times over. In each copy one word in seven is another word: no two pages are equal."""
    if target.exists():
        return target
    draft = target.with_name(target.name + ".draft")
    shutil.rmtree(draft, ignore_errors=True)
    names = [path.relative_to(source) for path in sorted(source.rglob("*.mdx"))]
    files = [(name, (source / name).read_text("utf-8")) for name in names if name.parts[0] not in without]
    for copy in range(copies):
        for name, text in files:
            path = draft / f"copy-{copy:03d}" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text if copy == 0 else _varied(text, copy), "utf-8")
    draft.rename(target)
    return target


def _varied(text: str, copy: int) -> str:
    front, text = re.match(r"(---\n.*?\n---\n)?(.*)", text, re.DOTALL).groups()
    # Addresses of copies come from their folder: an explicit one would be that of the original.
    front = re.sub(r"^(?:slug|id): .*\n", "", front or "", flags=re.MULTILINE)
    count = 0

    def other(match: re.Match[str]) -> str:
        nonlocal count
        count += 1
        return f"{match.group()}{copy}" if count % 7 == 0 else match.group()

    return front + re.sub(r"(?<= )[a-z]{4,}(?= )", other, text)


def made_up(text: str) -> Vector:
    vector = np.random.default_rng(zlib.crc32(text.encode("utf-8", "replace"))).standard_normal(384, dtype=np.float32)
    return (vector / np.linalg.norm(vector)).astype(np.float32)


class StubEmbedder(BuiltinEmbedder):
    """Passages get made-up vectors at once; questions and token counts are real."""

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        return np.stack([made_up(text) for text in texts])


class RememberingEmbedder(BuiltinEmbedder):
    """Real vectors, kept in a file between runs: for benchmarks that do not measure embedding."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self._path = path
        self._known: dict[str, Vector] = {}
        if path.exists():
            with np.load(path) as kept:
                self._known = dict(zip(kept["keys"].tolist(), kept["rows"], strict=True))

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        keys = [f"{zlib.crc32(text.encode()):08x}{len(text)}" for text in texts]
        new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
        if new:
            self._known.update(zip(new, await super().embed_passages(list(new.values())), strict=True))
        return np.stack([self._known[key] for key in keys])

    def keep(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        np.savez(self._path, keys=list(self._known), rows=np.stack(list(self._known.values())))


class TimedEmbedder(BuiltinEmbedder):
    """Counts how long passages took."""

    seconds = 0.0

    async def embed_passages(self, texts: Sequence[str]) -> Vector:
        start = time.perf_counter()
        rows = await super().embed_passages(texts)
        self.seconds += time.perf_counter() - start
        return rows


def spread(times_ms: Sequence[float], prefix: str = "") -> Figures:
    return {
        f"{prefix}p50_ms": float(np.percentile(times_ms, 50)),
        f"{prefix}p95_ms": float(np.percentile(times_ms, 95)),
    }


def peak_memory_mb() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def memory_now_mb() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def child(*arguments: object, environment: dict[str, str] | None = None, python: Path | None = None) -> Figures:
    """Run a script in its own process, so that memory and imports are its own, and read the JSON it prints last."""
    command = [str(python or sys.executable), "-W", "ignore", *(str(argument) for argument in arguments)]
    ran = subprocess.run(command, env=os.environ | (environment or {}), capture_output=True, text=True)
    if ran.returncode:
        sys.exit(f"{' '.join(command)} failed:\n{ran.stderr[-3000:]}")
    found: Figures = json.loads(ran.stdout.strip().splitlines()[-1])
    return found


def tell(what: str) -> None:
    print(f"… {what}", file=sys.stderr, flush=True)
