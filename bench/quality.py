"""Every evaluation on the shared data and the demo book; each one's figures go into docs/quality.md as it ends.

    python bench/quality.py [--only book,support]

Embeds two corpora the first time (minutes); their indexes stay in bench/out/eval. EVAL_DATA names another place than
`shared/eval` beside the repository.
"""

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
os.environ["PYTHONPATH"] = os.pathsep.join(str(Path(__file__).resolve().parents[1] / p) for p in ("src", "evaluation"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "evaluation"))

from measuring import BASE_URL, OUT, REPO, corpus, tell

from citewell_evaluation import Evaluation
from citewell_evaluation.json_form import from_json
from citewell_evaluation.tables import to_markdown

DATA = Path(os.environ.get("EVAL_DATA", REPO.parent / "shared" / "eval"))
CORPORA = DATA.parent / "corpora"
BOOK = REPO / "examples" / "book"


@dataclass(frozen=True)
class Run:
    command: str
    data: tuple[Path, ...]
    corpus: Path | None = None
    """The book that is asked; ingested first."""
    options: tuple[str, ...] = ()
    ingest: tuple[str, ...] = ()

    @property
    def label(self) -> str:
        files = [f"{path.parent.name}/{path.name}" for path in self.data]
        return " ".join(["citewell eval", self.command, *files, *self.options])


MOST = ("--most", "300")
RERANK = ("--rerank", "20")
RUNS = {
    "book": Run("book", (BOOK / "golden.jsonl",), BOOK),
    "talks": Run("book", (BOOK / "talks.jsonl",), BOOK),
    "httpx": Run("book", (DATA / "books/httpx.jsonl",), CORPORA / "httpx"),
    "rust": Run("book", (DATA / "books/rust.jsonl",), CORPORA / "rust-book"),
    "docusaurus": Run("book", (REPO / "bench/docusaurus_golden.jsonl",), corpus(), ingest=("--base-url", BASE_URL)),
    "scifact": Run("retrieval", (DATA / "scifact",), options=RERANK),
    "mtrag": Run("retrieval", (DATA / "mtrag-cloud",), options=RERANK),
    "squad": Run("answers", (DATA / "squad2/questions.jsonl",), options=MOST),
    "nomiracl": Run("answers", (DATA / "refusal/nomiracl.jsonl",)),
    "mtrag-answers": Run("answers", (DATA / "mtrag-cloud/questions.jsonl",)),
    "support": Run(
        "support",
        (DATA / "support", DATA / "llm-answers", DATA / "conflicts/wikicontradict.jsonl"),
        options=("--limit", "424"),
    ),
}
BEGIN, END = "<!-- measured -->", "<!-- /measured -->"


def citewell(folder: str, *arguments: str) -> str:
    environment = os.environ | {"CITEWELL_DATA_DIR": str(OUT / folder)}
    ran = subprocess.run(
        [sys.executable, "-m", "citewell", *arguments], env=environment, capture_output=True, text=True
    )
    if ran.returncode:
        sys.exit(f"citewell {' '.join(arguments)} failed:\n{ran.stderr[-3000:]}")
    return ran.stdout


def shown(evaluation: Evaluation) -> str:
    date = datetime.now(UTC).strftime("%Y-%m-%d")
    return "\n".join([f"Measured on {date}.\n", *(to_markdown(table) for table in evaluation.tables)])


def refresh(name: str) -> None:
    """This run's section anew; those of others stay as they are."""
    docs = REPO / "docs" / "quality.md"
    before, _, rest = docs.read_text("utf-8").partition(BEGIN)
    sections = dict(
        re.findall(r"^### `([^`\n]+)`\n\n(.*?)(?=^### |\Z)", rest.partition(END)[0], re.MULTILINE | re.DOTALL)
    )
    sections[RUNS[name].label] = shown(from_json((OUT / f"quality-{name}.json").read_text("utf-8")))
    labels = [run.label for run in RUNS.values() if run.label in sections]
    body = "\n\n".join(f"### `{label}`\n\n{sections[label].strip()}" for label in labels)
    docs.write_text(f"{before}{BEGIN}\n\n{body}\n\n{END}{rest.partition(END)[2]}", "utf-8")


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("--only", default=",".join(RUNS))
    names = arguments.parse_args().only.split(",")
    OUT.mkdir(exist_ok=True)
    for name in names:
        run = RUNS[name]
        folder = f"eval-{run.corpus.name}" if run.corpus else "eval"
        if run.corpus:
            tell(f"{run.corpus.name} is ingested")
            citewell(folder, "ingest", str(run.corpus), *run.ingest)
        tell(run.label)
        found = citewell(folder, "eval", run.command, *map(str, run.data), *run.options, "--json")
        (OUT / f"quality-{name}.json").write_text(found, "utf-8")
        refresh(name)


if __name__ == "__main__":
    main()
