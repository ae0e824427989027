"""`make bench`: every benchmark in one run. Prints the tables, writes bench/out/*.json, refreshes docs/benchmarks.md.

    python bench/run.py [--quick | --full] [--only ingest,growth,retrieval,engine,api,startup,walk,widget,peers,install]

quick leaves out the 100,000 passages and the real embedding of the corpus; full adds qdrant-client's local mode at
100,000 passages (minutes of loading) and more rounds.
"""

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
os.environ["PYTHONPATH"] = os.pathsep.join(str(Path(__file__).resolve().parents[1] / p) for p in ("src", "evaluation"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "evaluation"))

import growth
import install
import side_by_side
from measuring import HERE, MODEL, OUT, REPO, Figures, child, corpus, tell

from citewell_evaluation import Figure, FigureRow, FigureTable
from citewell_evaluation.tables import to_markdown

Result = dict[str, Figures]
BEGIN, END = "<!-- measured -->", "<!-- /measured -->"


@dataclass(frozen=True, slots=True)
class Extent:
    """How much to measure: quick, usual or full."""

    name: str
    copies: int
    requests: int

    @property
    def is_full(self) -> bool:
        return self.name == "full"


EXTENTS = {
    "quick": Extent("quick", 10, 200),
    "usual": Extent("usual", 100, 500),
    "full": Extent("full", 100, 2000),
}


def fresh(name: str) -> Path:
    folder = OUT / name
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def ingest(extent: Extent) -> Result:
    found = {"without embedding": child(HERE / "ingest.py", corpus(), fresh("ingest-stub"), "--stub")}
    if extent.name != "quick":
        tell("ingest: with the built-in embedder")
        found["whole"] = child(HERE / "ingest.py", corpus(), fresh("ingest-real"))
    return found


def retrieval(extent: Extent) -> Result:
    """Over the indexes that the growth part made."""
    found = {}
    for copies in (size for size in growth.SIZES if size <= extent.copies):
        count = copies * 1000
        if not growth.index_of(copies).exists():
            growth.measure(copies)
        tell(f"retrieval: {count:,} passages")
        name = f"{count:,}"
        found[name] = child(HERE / "retrieval.py", "query", growth.index_of(copies) / "index")
        if count <= 10_000 or extent.is_full:
            tell(f"retrieval: {count:,} passages in qdrant-client's local mode, and numpy")
            found[name] |= child(HERE / "retrieval.py", "local", growth.index_of(copies) / "index")
            found[name]["local_over_ours"] = found[name]["local_p50_ms"] / found[name]["search_p50_ms"]
    return found


def engine(extent: Extent) -> Result:
    data = prepared()
    for path in data.glob("conversations*"):
        path.unlink()
    return {"10,000 passages": child(HERE / "engine.py", "ask", data)}


def prepared() -> Path:
    """The data directory of 10,000 passages that the engine and the server answer from."""
    data = OUT / f"book-{MODEL}"
    if not (data / ".complete").exists():
        tell("the corpus is embedded, once")
        child(HERE / "engine.py", "build", fresh(data.name))
        (data / ".complete").touch()
    return data


def api(extent: Extent) -> Result:
    return {"10,000 passages": child(HERE / "api.py", prepared(), extent.requests)}


def streams(extent: Extent) -> Result:
    found = {}
    for workers in (1, 2):
        tell(f"streams: {extent.requests} different questions opened at once, {workers} workers")
        found[f"{workers} workers"] = child(HERE / "streams.py", prepared(), extent.requests, workers)
    return found


def startup(extent: Extent) -> Result:
    return {"fresh process": child(HERE / "startup.py", prepared())}


def walk(extent: Extent) -> Result:
    return {"this commit": child(HERE / "walk.py")}


def widget(extent: Extent) -> Result:
    return {"10,000 passages": child(HERE / "widget.py", prepared())}


def grown(extent: Extent) -> Result:
    found = growth.measure(extent.copies)
    (REPO / "docs" / "growth.svg").write_text(growth.draw(found), "utf-8")
    return found


PARTS: dict[str, tuple[str, Callable[[Extent], Result]]] = {
    "ingest": ("Ingest of the Docusaurus manual", ingest),
    "growth": ("Growth: 1, 10 and 100 times the corpus, made-up vectors", grown),
    "retrieval": ("Hybrid query in process, embedding included, beside local mode and a numpy scan", retrieval),
    "engine": ("The engine with the built-in model", engine),
    "api": ("The server's own cost", api),
    "streams": ("Streams of different questions, opened at once", streams),
    "startup": ("Start-up", startup),
    "walk": ("What one question runs and loads", walk),
    "widget": ("The widget in Chromium: kilobytes after gzip, milliseconds", widget),
    "peers": ("Side by side", lambda extent: side_by_side.measure(full=extent.is_full)),
    "install": ("Installed size", lambda extent: install.measure()),
}
LOWER = {
    "ingest_without_embedding_s": ("ingest without embedding, goal 5", 5.0),
    "query_p50_ms": ("hybrid query at 10,000 passages, goal 5", 5.0),
    "first_result_s": ("start to first result, goal 2", 2.0),
    "install_mb": ("installed size for the same work, goal 1", 1.0),
}


def goals(side: Result, sizes: Result) -> list[tuple[str, float, bool]]:
    """How many times better than the best of the three; hit@5 is a difference."""
    rows = {name: side.get(name, {}) | sizes.get(name, {}) for name in side_by_side.PEERS}
    others = [rows[name] for name in side_by_side.PEERS if name != "citewell"]
    found = []
    for key, (label, wanted) in LOWER.items():
        if key in rows["citewell"] and all(key in other for other in others):
            ratio = min(other[key] for other in others) / rows["citewell"][key]
            found.append((label, ratio, ratio >= wanted))
    if "hit_at_5" in rows["citewell"]:
        gap = rows["citewell"]["hit_at_5"] - max(other["hit_at_5"] for other in others)
        found.append(("hit@5 over the best, goal 0", gap, gap >= 0))
    return found


def table(result: Result) -> str:
    """Markdown; the side with fewer names goes across."""
    columns = dict.fromkeys(name for row in result.values() for name in row)
    rows = [
        FigureRow(
            column.replace("_", " "), {name: Figure(row[column]) for name, row in result.items() if column in row}
        )
        for column in columns
    ]
    return to_markdown(FigureTable("", tuple(rows)))


def machine() -> str:
    model = next((line.split(":")[1].strip() for line in _cpuinfo() if line.startswith("model name")), "unknown CPU")
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{os.cpu_count()} cores ({model}), {memory:.0f} GB, {platform.system()}, Python {platform.python_version()}"


def _cpuinfo() -> Sequence[str]:
    path = Path("/proc/cpuinfo")
    return path.read_text().splitlines() if path.exists() else ()


def commit() -> str:
    ran = subprocess.run(["git", "rev-parse", "--short", "HEAD"], cwd=REPO, capture_output=True, text=True)
    return ran.stdout.strip() if ran.returncode == 0 else "not committed"


def sections(old: dict[str, str]) -> dict[str, str]:
    """The tables of everything that was measured here, each with its date; what was measured elsewhere stays."""
    found = {name: json.loads((OUT / f"{name}.json").read_text()) for name in PARTS if (OUT / f"{name}.json").exists()}
    best = "Against the best of the three"
    made = {best: old[best]} if best in old else {}
    if "peers" in found:
        sizes = found.get("install", {}).get("result", {})
        lines = ["| goal | times better | reached |", "|---|---:|---|"]
        lines += [
            f"| {label} | {value:.2f} | {'yes' if ok else '**no**'} |"
            for label, value, ok in goals(found["peers"]["result"], sizes)
        ]
        made[best] = "\n".join(lines)
    for name, (title, _) in PARTS.items():
        if one := found.get(name):
            when = (
                f"{one['date']}, commit {one['commit']}, `{one['command']}`, {one['machine']}, load {one['load']:.1f}."
            )
            drawn = "\n![Growth with the corpus](growth.svg)\n" if name == "growth" else ""
            made[title] = f"{when}\n\n{table(one['result'])}{drawn}"
        elif title in old:
            made[title] = old[title]
    return made


def refresh_docs() -> None:
    path = REPO / "docs" / "benchmarks.md"
    before, _, rest = path.read_text("utf-8").partition(BEGIN)
    measured, _, after = rest.partition(END)
    old = dict(re.findall(r"^## ([^\n]*)\n+(.*?)(?=^## |\Z)", measured, re.MULTILINE | re.DOTALL))
    text = "\n".join(f"## {title}\n\n{body.strip()}\n" for title, body in sections(old).items())
    path.write_text(f"{before}{BEGIN}\n\n{text}\n{END}{after}", "utf-8")


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--quick", dest="extent", action="store_const", const="quick", default="usual")
    arguments.add_argument("--full", dest="extent", action="store_const", const="full")
    arguments.add_argument("--only", default=",".join(PARTS))
    arguments.add_argument("--no-docs", action="store_true")
    given = arguments.parse_args()
    extent = EXTENTS[given.extent]
    OUT.mkdir(exist_ok=True)
    command = "make bench" if extent.name == "usual" else f"python bench/run.py --{extent.name}"
    for name in given.only.split(","):
        title, measure = PARTS[name]
        tell(title)
        load, start = os.getloadavg()[0], time.perf_counter()
        result = measure(extent)
        record = {
            "date": datetime.now(UTC).strftime("%Y-%m-%d"),
            "commit": commit(),
            "command": command,
            "machine": machine(),
            "load": load,
            "took_s": time.perf_counter() - start,
            "result": result,
        }
        (OUT / f"{name}.json").write_text(json.dumps(record, indent=1) + "\n")
        print(f"\n## {title} ({record['took_s']:.0f} s)\n\n{table(result)}", flush=True)
    if not given.no_docs:
        refresh_docs()


if __name__ == "__main__":
    main()
