"""`citewell demo` beside somebody's own book. What it does in an empty folder is run with the README."""

import os
import subprocess
import sys
from pathlib import Path

import citewell
from citewell.cli.demo import demo_book


def test_the_demo_never_replaces_somebodys_own_book(tmp_path: Path) -> None:
    (tmp_path / "mine.md").write_text("# Mine\n\nThis is my own book.\n", "utf-8")
    with citewell.open_sync(tmp_path / "data", settings=citewell.Settings(_env_file=None)) as book:
        book.ingest(tmp_path / "mine.md")
    env = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "PYTHONPATH")}
    done = subprocess.run(
        [sys.executable, "-m", "citewell", "demo", "--no-serve"],
        env=env | {"CITEWELL_DATA_DIR": str(tmp_path / "data")},
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert "holds another book" in done.stderr
    with citewell.open_sync(tmp_path / "data", settings=citewell.Settings(_env_file=None)) as book:
        assert [page.title for page in book.pages()] == ["Mine"]


def test_the_demo_book_is_there() -> None:
    assert len(list((demo_book() / "docs").rglob("*.md*"))) == 28
