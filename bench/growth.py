"""Time and memory at 1, 10 and 100 times the corpus, with made-up vectors, and the exponent that fits them.

python bench/growth.py [--largest 100]      writes docs/growth.svg
"""

import argparse
import json
import shutil
from pathlib import Path

from measuring import HERE, OUT, REPO, Figures, child, corpus, repeated, tell

from citewell_evaluation.plots import Series, axis_over, line_chart
from citewell_evaluation.statistics import growth_exponent

SIZES = (1, 10, 100)
WITHOUT = ("migration", "i18n")
"""Folders left out, so that the corpus has about 1,000 passages, and a hundred of it about 100,000."""


def measure(largest: int = 100) -> dict[str, Figures]:
    found = {}
    for copies in (size for size in SIZES if size <= largest):
        tell(f"growth: {copies} times the corpus")
        data = index_of(copies)
        shutil.rmtree(data, ignore_errors=True)
        folder = repeated(corpus(), OUT / f"corpus-small-{copies}", copies, WITHOUT)
        ingest = child(HERE / "ingest.py", folder, data, "--stub", "--once")
        query = child(HERE / "retrieval.py", "query", data / "index")
        found[f"{copies}x"] = {
            "passages": ingest["passages"],
            "ingest_s": ingest["total_s"],
            "ingest_memory_mb": ingest["peak_memory_mb"],
            "query_p50_ms": query["p50_ms"],
            "query_p95_ms": query["p95_ms"],
            "query_memory_mb": query["memory_mb"],
        }
    found["exponent"] = exponents(found)
    return found


def index_of(copies: int) -> Path:
    """The data directory of that many copies; the retrieval benchmark asks of it too."""
    return OUT / f"growth-{copies}"


def exponents(found: dict[str, Figures]) -> Figures:
    rows = list(found.values())
    sizes = [row["passages"] for row in rows]
    return {name: growth_exponent(sizes, [row[name] for row in rows]) for name in rows[0] if name != "passages"}


def draw(found: dict[str, Figures]) -> str:
    rows = [row for name, row in found.items() if name != "exponent"]
    fitted = found["exponent"]
    names = {
        "ingest_s": "ingest, seconds",
        "ingest_memory_mb": "ingest, MB at most",
        "query_p50_ms": "query, milliseconds",
        "query_memory_mb": "serving, MB",
    }
    series = [
        Series(f"{label} (n^{fitted[name]:.2f})", [(row["passages"], row[name]) for row in rows])
        for name, label in names.items()
    ]
    x = axis_over("passages", [row["passages"] for row in rows], logarithmic=True)
    y = axis_over("both axes grow tenfold at each step", [p[1] for s in series for p in s.points], logarithmic=True)
    return line_chart("Growth with the corpus", x, y, series, dots=True)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--largest", type=int, default=100)
    result = measure(arguments.parse_args().largest)
    (REPO / "docs").mkdir(exist_ok=True)
    (REPO / "docs" / "growth.svg").write_text(draw(result), "utf-8")
    print(json.dumps(result, indent=1))
