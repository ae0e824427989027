"""Ingesting and searching with the packages of requirements-search.lock and no others."""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

REPO = Path(__file__).parents[2]

PROGRAM = """
import asyncio, importlib.metadata, sys
from pathlib import Path

allowed = set(sys.argv[3].split())
owners = importlib.metadata.packages_distributions()

class OnlyTheLocked:
    def find_spec(self, name, path=None, target=None):
        top = name.partition(".")[0]
        names = {owner.lower().replace("_", "-") for owner in owners.get(top, ())}
        if names and not names & allowed:
            raise ModuleNotFoundError(f"{name} is not among the packages for searching", name=name)
        return None

sys.meta_path.insert(0, OnlyTheLocked())

from citewell.embedding import BuiltinEmbedder
from citewell.index.edge import EdgeIndex, EdgeWriter
from citewell.ingest import IngestOptions, ingest, source_of
from citewell.retrieval import Retriever

async def main(book: Path, folder: Path) -> None:
    options, embedder = IngestOptions(base_url="https://book.example"), BuiltinEmbedder()
    await ingest(source_of(str(book), options), EdgeWriter(folder), embedder, options, lambda step: None)
    found = await Retriever(EdgeIndex(folder), embedder).search("Which port does the bridge use?")
    print(found.passages[0].passage.text)

asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
"""


def locked() -> set[str]:
    lines = (REPO / "requirements-search.lock").read_text("utf-8").splitlines()
    return {match.group(1).lower() for line in lines if (match := re.match(r"([\w.-]+)==", line))}


def test_a_book_is_ingested_and_searched_with_the_packages_for_searching_alone(tmp_path: Path) -> None:
    book = tmp_path / "book"
    book.mkdir()
    (book / "bridge.md").write_text("# Bridge\n\nThe bridge listens on port 8765.\n", "utf-8")
    (book / "arm.html").write_text("<main><h1>Arm</h1><p>The arm has six joints.</p></main>", "utf-8")
    allowed = " ".join({*locked(), "citewell"})
    command = [sys.executable, "-c", PROGRAM, str(book), str(tmp_path / "index"), allowed]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=100)
    assert ran.returncode == 0, ran.stderr
    assert "port 8765" in ran.stdout


def test_what_searching_needs_is_part_of_what_citewell_needs() -> None:
    project = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))
    assert set(project["dependency-groups"]["search"]) <= set(project["project"]["dependencies"])


def test_the_client_of_the_hub_is_in_no_lock() -> None:
    for lock in REPO.glob("requirements*.lock"):
        assert "huggingface" not in lock.read_text("utf-8"), lock.name
