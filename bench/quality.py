"""Every evaluation on the shared data and the demo book; the figures go into docs/quality.md.

    python bench/quality.py [--only book,conflicts]

Embeds two corpora the first time (minutes); their indexes stay in bench/out/eval. EVAL_DATA names another place than
`shared/eval` beside the repository.
"""

import argparse
import os
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
os.environ["PYTHONPATH"] = os.pathsep.join(str(Path(__file__).resolve().parents[1] / p) for p in ("src", "evaluation"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "evaluation"))

from measuring import OUT, REPO, tell

from citewell_evaluation import Evaluation
from citewell_evaluation.json_form import from_json
from citewell_evaluation.tables import to_markdown

DATA = Path(os.environ.get("EVAL_DATA", REPO.parent / "shared" / "eval"))
BOOK = REPO / "examples" / "book"
RUNS: dict[str, list[str]] = {
    "book": ["book", str(BOOK / "golden.jsonl")],
    "scifact": ["retrieval", str(DATA / "scifact")],
    "mtrag": ["retrieval", str(DATA / "mtrag-cloud")],
    "squad": ["answers", str(DATA / "squad2" / "questions.jsonl")],
    "mtrag-answers": ["answers", str(DATA / "mtrag-cloud" / "questions.jsonl")],
    "support": ["support", str(DATA / "support")],
    "conflicts": ["conflicts", str(DATA / "conflicts" / "wikicontradict.jsonl")],
    "calibration": ["calibration", str(BOOK / "golden.jsonl")],
    "calibration-mtrag": ["calibration", str(DATA / "mtrag-cloud" / "questions.jsonl")],
    "calibration-squad": ["calibration", str(DATA / "squad2" / "questions.jsonl")],
}
BEGIN, END = "<!-- measured -->", "<!-- /measured -->"


def citewell(*arguments: str) -> str:
    environment = os.environ | {"CITEWELL_DATA_DIR": str(OUT / "eval")}
    ran = subprocess.run(
        [sys.executable, "-m", "citewell", *arguments], env=environment, capture_output=True, text=True
    )
    if ran.returncode:
        sys.exit(f"citewell {' '.join(arguments)} failed:\n{ran.stderr[-3000:]}")
    return ran.stdout


def shown(evaluation: Evaluation, command: str) -> str:
    parts = [f"### `citewell eval {command}`\n"]
    parts += [to_markdown(table) for table in evaluation.tables]
    return "\n".join(parts)


def refresh() -> None:
    parts = []
    for name, (kind, path) in RUNS.items():
        file = OUT / f"quality-{name}.json"
        if file.exists():
            label = f"{kind} {Path(path).parent.name}/{Path(path).name}"
            parts.append(shown(from_json(file.read_text("utf-8")), label))
    docs = REPO / "docs" / "quality.md"
    before, _, rest = docs.read_text("utf-8").partition(BEGIN)
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    body = f"Measured on {date} with `python bench/quality.py`.\n\n" + "\n".join(parts)
    docs.write_text(f"{before}{BEGIN}\n\n{body}\n{END}{rest.partition(END)[2]}", "utf-8")


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--only", default=",".join(RUNS))
    names = arguments.parse_args().only.split(",")
    OUT.mkdir(exist_ok=True)
    if {"book", "calibration"} & set(names):
        tell("the demo book is ingested")
        citewell("ingest", str(BOOK))
    for name in names:
        tell(" ".join(RUNS[name]))
        (OUT / f"quality-{name}.json").write_text(citewell("eval", *RUNS[name], "--json"), "utf-8")
    refresh()


if __name__ == "__main__":
    main()
