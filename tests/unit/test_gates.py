"""Gates that keep the tree in order."""

import ast
import subprocess
import tomllib
from collections import defaultdict
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
SOURCE = REPO / "src" / "citewell"


def test_functions_are_no_more_complex_than_12() -> None:
    lint = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["tool"]["ruff"]["lint"]
    assert "C90" in lint["select"]
    assert lint["mccabe"]["max-complexity"] <= 12
    assert [path for path, rules in lint["per-file-ignores"].items() if "C901" in rules] == []
    assert [path.name for path in SOURCE.rglob("*.py") if "noqa: C901" in path.read_text("utf-8")] == []


def git(*arguments: str) -> str:
    if not (REPO / ".git").exists():
        pytest.skip("this is no clone")
    return subprocess.run(["git", *arguments], cwd=REPO, capture_output=True, text=True, check=True).stdout.strip()


HABIT_SINCE = "4aeaf4beb651a4cb6797bcdd31442495b899cec7"
"""From the commit after this one on, each that changes the source says so in the changelog."""


def test_each_commit_that_changes_the_source_adds_a_line_to_the_changelog() -> None:
    """What readers cannot notice says in its message why it has none: a line "No changelog: ..."."""
    known = subprocess.run(["git", "cat-file", "-e", HABIT_SINCE], cwd=REPO, capture_output=True).returncode == 0
    if not known:
        pytest.skip("this is no clone with its history")
    silent = []
    for commit in git(
        "rev-list", "--no-merges", f"{HABIT_SINCE}..HEAD", "--", "src", "evaluation/citewell_evaluation"
    ).splitlines():
        added = git("show", "--format=", "--numstat", commit, "--", "CHANGELOG.md").split("\t")[0]
        if int(added or 0) == 0 and "\nNo changelog: " not in git("log", "-1", "--format=%B", commit):
            silent.append(git("log", "-1", "--format=%h %s", commit))
    assert silent == []


def test_what_is_not_committed_yet_has_its_line_too() -> None:
    changed = git("status", "--porcelain", "--untracked-files=no", "--", "src", "CHANGELOG.md")
    assert not changed or "CHANGELOG.md" in changed


def test_no_two_modules_have_one_name() -> None:
    """A package counts by the name of its folder."""
    found = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        found[path.parent.name if path.stem == "__init__" else path.stem].append(path.relative_to(SOURCE).as_posix())
    assert {name: places for name, places in found.items() if len(places) > 1} == {}


def test_no_two_classes_have_one_name() -> None:
    found = defaultdict(list)
    for path in SOURCE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.ClassDef):
                found[node.name].append(path.relative_to(SOURCE).as_posix())
    assert {name: places for name, places in found.items() if len(places) > 1} == {}
