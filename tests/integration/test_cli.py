"""The command line as a person calls it: real processes, one line on what goes wrong, pure JSON on request."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from citewell import __version__

CHAPTER = """---
title: Kinematics
---

## What it is

Inverse kinematics is the problem of finding the joint angles that put the hand at a wanted pose.

## Speed

The solver of the arm runs at 500 Hz.
"""


def citewell(data: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    env = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "PYTHONPATH")}
    env |= {"CITEWELL_DATA_DIR": str(data), **variables}
    return subprocess.run(
        [sys.executable, "-m", "citewell", *arguments],
        env=env,
        cwd=data.parent,
        capture_output=True,
        text=True,
        timeout=600,
    )


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("cli")
    book = folder / "book"
    book.mkdir()
    (book / "kinematics.md").write_text(CHAPTER, "utf-8")
    done = citewell(folder / "data", "ingest", str(book), "--base-url", "https://book.example", "--json")
    report = json.loads(done.stdout)
    assert report["statistics"]["urls_successful"] == 1
    assert report["failures"] == []
    return folder / "data"


def test_a_search_as_json_is_one_document(data: Path) -> None:
    done = citewell(data, "search", "inverse kinematics", "--json")
    document = json.loads(done.stdout)
    assert document["results"][0]["source_url"] == "https://book.example/kinematics"
    assert document["results"][0]["section_url"].endswith("#what-it-is")


def test_a_search_for_people_shows_headings_and_scores(data: Path) -> None:
    done = citewell(data, "search", "inverse kinematics")
    assert "Kinematics › What it is" in done.stdout
    assert "bm25" in done.stdout


def test_ask_streams_the_answer_and_lists_its_sources(data: Path) -> None:
    done = citewell(data, "ask", "What is inverse kinematics?")
    assert done.stdout.startswith("Inverse kinematics is the problem")
    assert "[1] Kinematics › What it is  https://book.example/kinematics#what-it-is" in done.stdout


def test_ask_as_json_is_the_developers_reply(data: Path) -> None:
    reply = json.loads(citewell(data, "ask", "What is inverse kinematics?", "--json").stdout)
    assert reply["metadata"]["status"] == "success"
    assert reply["sources"][0]["page_title"] == "Kinematics"


def test_a_selection_from_a_file_confines_the_answer(data: Path) -> None:
    selection = data.parent / "selection.txt"
    selection.write_text("The crane lifts 300 kg.", "utf-8")
    done = citewell(data, "ask", "How much does the crane lift?", "--selected-text", str(selection))
    assert "300 kg" in done.stdout
    assert "characters 0–23" in done.stdout


def test_the_index_can_be_listed_checked_and_validated(data: Path) -> None:
    listed = json.loads(citewell(data, "index", "--json").stdout)
    assert listed["generations"][0]["id"] == listed["current"]
    assert json.loads(citewell(data, "index", "check", "--json").stdout)["sound"] is True
    assert json.loads(citewell(data, "validate", "--json").stdout)["ok"] is True


def test_verify_prints_the_determinism_record(data: Path) -> None:
    record = json.loads(citewell(data, "verify", "What is inverse kinematics?").stdout)
    assert record["consistent"] is True
    assert {"input_hash", "output_hash", "validation_timestamp"} <= record.keys()


@pytest.mark.parametrize(
    ("arguments", "variables", "says"),
    [
        (("ask", "What?"), {}, "citewell ingest"),
        (("search", "What?"), {}, "citewell ingest"),
        (("ingest", "no/such/folder"), {}, "no/such/folder"),
        (("search", "What?"), {"API_RATE_LIMIT": "many"}, "API_RATE_LIMIT"),
        (("serve",), {"API_KEYS": " ,"}, "API_KEYS"),
        (("serve",), {"DATABASE_URL": "mysql://host/name"}, "DATABASE_URL"),
        (("serve", "--workers", "2"), {"REDIS_URL": "http://host"}, "REDIS_URL"),
        (("search", "What?"), {"QDRANT_URL": "http://127.0.0.1:1"}, "QDRANT_URL"),
        (("search", "x" * 2001), {}, "2,000"),
        (("search", "What?", "--filter", "colour=red"), {}, "Valid filters"),
        (("ask", "What?", "--selected-text", "missing.txt"), {}, "missing.txt"),
    ],
)
def test_what_goes_wrong_is_one_line_with_the_remedy(
    tmp_path: Path, arguments: tuple[str, ...], variables: dict[str, str], says: str
) -> None:
    done = citewell(tmp_path / "data", *arguments, **variables)
    assert done.returncode == 1
    assert done.stdout == ""
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert done.stderr.startswith("citewell: ")
    assert says in done.stderr


@pytest.mark.parametrize("arguments", [("ask", "What?"), ("search", "What?"), ("index",), ("serve",), ("purge",)])
def test_a_data_folder_that_is_a_file_is_one_line(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    file = tmp_path / "file"
    file.touch()
    done = citewell(file, *arguments)
    assert (done.returncode, done.stderr) == (1, f"citewell: CITEWELL_DATA_DIR: {file} is a file; name a folder.\n")


def test_the_version_is_printed() -> None:
    done = subprocess.run([sys.executable, "-m", "citewell", "--version"], capture_output=True, text=True)
    assert done.stdout == f"citewell {__version__}\n"


def test_a_port_in_use_is_said_before_anything_is_loaded(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        done = citewell(tmp_path / "data", "serve", "--port", str(taken.getsockname()[1]))
    assert done.returncode == 1
    assert "--port" in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_a_book_that_replaces_another_says_so_and_how_to_return(tmp_path: Path) -> None:
    for name in ("one", "other"):
        (tmp_path / f"{name}.md").write_text(f"# The {name}\n\nThis is the {name}.\n", "utf-8")
    assert "replaces" not in citewell(tmp_path / "data", "ingest", "one.md").stdout
    said = citewell(tmp_path / "data", "ingest", "other.md").stdout.splitlines()[-1]
    assert said.startswith("This replaces an index of 1 pages, of which 1 are gone; `citewell index back` restores it.")
    citewell(tmp_path / "data", "index", "back")
    found = json.loads(citewell(tmp_path / "data", "search", "What is it?", "--json").stdout)
    assert [result["source_url"] for result in found["results"]] == ["/one"]


def test_help_needs_nothing_heavy() -> None:
    script = (
        "import sys; sys.argv = ['citewell', '--help']\n"
        "from citewell.cli import main\n"
        "try:\n    main()\nexcept SystemExit:\n    pass\n"
        "heavy = {'agents', 'sqlalchemy', 'onnxruntime', 'qdrant_client', 'qdrant_edge', 'fastapi', 'httpx'}\n"
        "print(sorted(heavy & set(sys.modules)), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr.strip() == "[]"
    assert "ingest" in done.stdout
