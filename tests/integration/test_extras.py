"""What an installation without extras can do, and what it says when something more is wanted."""

import ast
import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
PROJECT = tomllib.loads((REPO / "pyproject.toml").read_text("utf-8"))["project"]
MODULES = {
    "agent": ("agents", "openai"),
    "server": ("fastapi", "starlette", "uvicorn", "uvloop", "httptools", "sse_starlette", "prometheus_client"),
    "postgres": ("asyncpg",),
    "redis": ("redis",),
    "qdrant": ("qdrant_client", "grpc"),
    "mcp": ("mcp", "mcp_types"),
    "pdf": ("pypdf",),
    "rst": ("docutils",),
    "larger": ("citewell_larger",),
}
BARE = f"""
import sys

class NotInstalled:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {sorted(m for modules in MODULES.values() for m in modules)}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
        return None

sys.meta_path.insert(0, NotInstalled())
from citewell.cli import main
main()
"""


def bare(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """The command line where no extra is installed."""
    env = {k: v for k, v in os.environ.items() if k in ("PATH", "HOME", "PYTHONPATH")}
    env |= {"CITEWELL_DATA_DIR": str(folder / "data"), **variables}
    return subprocess.run(
        [sys.executable, "-c", BARE, *arguments], env=env, cwd=folder, capture_output=True, text=True, timeout=600
    )


def test_without_extras_a_book_is_ingested_searched_and_asked(tmp_path: Path) -> None:
    (tmp_path / "bridge.md").write_text("# Bridge\n\nThe bridge listens on port 8765.\n", "utf-8")
    (tmp_path / "arm.html").write_text("<main><h1>Arm</h1><p>The arm has six joints.</p></main>", "utf-8")
    (tmp_path / "said").write_text("Port 8765 is the one on which the bridge listens.", "utf-8")
    for arguments, says in (
        (("check", "said", "--passage", "bridge.md", "--json"), '"supported"'),
        (("ingest", "."), "2 pages"),
        (("search", "bridge"), "port 8765"),
        (("ask", "Which port does the bridge listen on?", "--json"), "8765"),
    ):
        done = bare(tmp_path, *arguments)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
        assert says in done.stdout


@pytest.mark.parametrize(
    ("extra", "arguments", "variables"),
    [
        (
            "agent",
            ("ask", "Which port does it listen on?", "--selected-text", "book.pdf"),
            {"GEMINI_API_KEY": "secret"},
        ),
        ("server", ("serve",), {}),
        ("postgres", ("ask", "What?"), {"DATABASE_URL": "postgresql://me@127.0.0.1:1/none"}),
        ("qdrant", ("search", "What?"), {"QDRANT_URL": "http://127.0.0.1:1"}),
        ("mcp", ("mcp",), {}),
        ("pdf", ("ingest", "book.pdf"), {}),
    ],
)
def test_what_needs_an_extra_says_which_in_one_line(
    extra: str, arguments: tuple[str, ...], variables: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / "book.pdf").write_text("The bridge listens on port 8765.", "utf-8")
    done = bare(tmp_path, *arguments, **variables)
    assert done.returncode == 1
    assert re.fullmatch(
        rf"citewell: \w+ is not installed\. Install it with: pip install 'citewell\[{extra}\]'\n", done.stderr
    )


def imported() -> Iterator[tuple[str, str]]:
    """Every package of others that the source imports, and where."""
    source = REPO / "src" / "citewell"
    for path in source.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
            if isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            for top in {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) - {"citewell"}:
                yield top, str(path.relative_to(source))


def test_every_imported_package_is_declared() -> None:
    extras = [line for name, lines in PROJECT["optional-dependencies"].items() if name != "all" for line in lines]
    declared = {_normal(line) for line in (*PROJECT["dependencies"], *extras)}
    owners = packages_distributions()
    inside = {"pydantic_core"}  # pydantic names one version of it, and gives its types as part of its own
    missing = {
        (top, where)
        for top, where in imported()
        if top not in inside and not {_normal(owner) for owner in owners.get(top, [top])} & declared
    }
    assert missing == set()


def test_all_is_every_extra_of_the_product_itself() -> None:
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    assert set(re.findall(r"\w+", everything)) - {"citewell"} == set(extras) - {"all", "eval", "larger", "mkdocs"}


def test_the_client_of_the_hub_is_in_no_lock() -> None:
    for lock in REPO.glob("requirements*.lock"):
        assert "huggingface" not in lock.read_text("utf-8"), lock.name


def _normal(requirement: str) -> str:
    match = re.match(r"[\w.-]+", requirement)
    return match.group().lower().replace("_", "-").replace(".", "-") if match else ""
