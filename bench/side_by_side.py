"""Side by side: the same corpus, embedding file and questions through Citewell, LlamaIndex, Haystack and LangChain.

"Without embedding" is the whole ingest with made-up vectors that cost nothing, so that work done while another part
embeds is counted for all four. hit@5 is measured with real vectors.
"""

import shutil
import subprocess
import sys
import time
from pathlib import Path

from measuring import GOLDEN, HERE, MODEL, OUT, REPO, Figures, child, corpus, questions, repeated, tell

PEERS = ("citewell", "llamaindex", "haystack", "langchain")
PASSAGES = 10_000


def measure(*, full: bool) -> dict[str, Figures]:
    """Each round goes through all four, so that a busy moment of the machine strikes them alike."""
    subprocess.run([str(HERE / "peers" / "setup")], check=True)
    found: dict[str, Figures] = {name: {} for name in PEERS}
    for number in range(4 if full else 2):
        for name in PEERS:
            tell(f"{name}: ingest without embedding, round {number + 1}")
            bare = _run(name, "ingest", corpus(), _fresh(name, "stub"), GOLDEN, "--stub")
            _keep_best(
                found[name],
                passages=bare["passages"],
                ingest_without_embedding_s=bare["ingest_s"],
                ingest_without_embedding_cpu_s=bare["ingest_cpu_s"],
                ingest_memory_mb=bare["peak_memory_mb"],
            )
    for name in PEERS:
        tell(f"{name}: hit@5 with real vectors (the first run embeds the corpus)")
        kept = OUT / "peers" / f"{name}-{MODEL}.npz"
        found[name]["hit_at_5"] = _run(name, "ingest", corpus(), _fresh(name, "real"), GOLDEN, "--kept", kept)[
            "hit_at_5"
        ]
    for number in range(4 if full else 2):
        for name in PEERS:
            tell(f"{name}: start to first result, round {number + 1}")
            start = time.perf_counter()
            _run(name, "first", OUT / "peers" / f"{name}-real", questions()[0])
            _keep_best(found[name], first_result_s=time.perf_counter() - start)
    for name in PEERS:
        tell(f"{name}: queries at {PASSAGES:,} passages")
        found[name] |= _large(name, max(round(PASSAGES / found[name]["passages"]), 1))
    return found


def _large(name: str, copies: int) -> Figures:
    folder = repeated(corpus(), OUT / f"corpus-{copies}", copies)
    large = _run(name, "ingest", folder, _fresh(name, "large"), GOLDEN, "--stub")
    return {
        "passages_large": large["passages"],
        "query_p50_ms": large["query_p50_ms"],
        "query_p95_ms": large["query_p95_ms"],
        "query_without_embedding_p50_ms": large["query_without_embedding_p50_ms"],
        "memory_large_mb": large["peak_memory_mb"],
    }


def _run(name: str, *arguments: object) -> Figures:
    python = Path(sys.executable) if name == "citewell" else HERE / "peers" / name / ".venv" / "bin" / "python"
    environment = {"PYTHONPATH": str(REPO / "src") if name == "citewell" else "", "HAYSTACK_TELEMETRY_ENABLED": "False"}
    return child(HERE / "peers" / name / "run.py", *arguments, environment=environment, python=python)


def _fresh(name: str, what: str) -> Path:
    store = OUT / "peers" / f"{name}-{what}"
    shutil.rmtree(store, ignore_errors=True)
    return store


def _keep_best(found: Figures, **measured: float) -> None:
    for name, value in measured.items():
        found[name] = min(value, found.get(name, value))
