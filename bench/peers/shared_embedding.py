"""The one embedding that all four systems share: Citewell's own file, run in the same way. Counts its own time.

The peers' environments have onnxruntime and tokenizers, and not Citewell.
"""

import time
import zlib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import onnxruntime
from tokenizers import Tokenizer

ASSETS = Path(__file__).parents[2] / "src" / "citewell" / "assets" / "embedder"
CLS, SEP, POSITIONS = 101, 102, 512


class SharedEmbedding:
    """gte-small, 8-bit. With `stub`, passages get made-up vectors, so that only the peer's own work takes time."""

    def __init__(self, *, stub: bool = False, threads: int = 2, kept: Path | None = None) -> None:
        """Vectors in the file `kept` are not made again: for runs that look at what is found, not at the time."""
        options = onnxruntime.SessionOptions()
        options.log_severity_level = 3
        options.intra_op_num_threads = options.inter_op_num_threads = 1
        self._session = onnxruntime.InferenceSession(
            (ASSETS / "model.onnx").read_bytes(), options, providers=["CPUExecutionProvider"]
        )
        self._tokenizer = Tokenizer.from_file(str(ASSETS / "tokenizer.json"))
        self._threads = threads
        self.stub = stub
        self._made_up = _MadeUp()
        self._kept = kept
        self._known: dict[str, list[float]] = {}
        if kept and kept.exists():
            with np.load(kept) as file:
                self._known = dict(zip(file["keys"].tolist(), file["rows"].tolist(), strict=True))
        self.seconds = 0.0
        self.texts = 0

    def passages(self, texts: list[str]) -> list[list[float]]:
        start = time.perf_counter()
        if self.stub:
            rows = [self._made_up.of(text) for text in texts]
        else:
            keys = [f"{zlib.crc32(text.encode()):08x}{len(text)}" for text in texts]
            new = {key: text for key, text in zip(keys, texts, strict=True) if key not in self._known}
            with ThreadPoolExecutor(self._threads) as pool:
                self._known.update(zip(new, pool.map(self._vector, new.values()), strict=True))
            rows = [self._known[key] for key in keys]
        self.seconds += time.perf_counter() - start
        self.texts += len(texts)
        return rows

    def keep(self) -> None:
        if self._kept:
            self._kept.parent.mkdir(parents=True, exist_ok=True)
            np.savez(self._kept, keys=list(self._known), rows=np.array(list(self._known.values()), dtype=np.float32))

    def tokens(self, text: str) -> int:
        return len(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def query(self, text: str) -> list[float]:
        start = time.perf_counter()
        row = self._vector(text)
        self.seconds += time.perf_counter() - start
        return row

    def _vector(self, text: str) -> list[float]:
        tokens = self._tokenizer.encode(text, add_special_tokens=False).ids[: POSITIONS - 2]
        ids = np.array([[CLS, *tokens, SEP]], dtype=np.int64)
        (rows,) = self._session.run(None, {"input_ids": ids})
        return (rows[0] / np.linalg.norm(rows[0])).tolist()


class _MadeUp:
    """A vector of length 1 for each text, at next to no cost: a row of a table, turned by some places."""

    def __init__(self) -> None:
        rows = np.random.default_rng(7).standard_normal((1024, 384), dtype=np.float32)
        rows /= np.linalg.norm(rows, axis=1, keepdims=True)
        self._rows = np.hstack([rows, rows])

    def of(self, text: str) -> list[float]:
        places, row = divmod(zlib.crc32(text.encode()), 1024)
        start = places % 384
        return self._rows[row, start : start + 384].tolist()
