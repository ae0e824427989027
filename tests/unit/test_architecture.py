"""What import-linter cannot say: each library has one owner, and one module reads the environment."""

import ast
import re
import tomllib
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "citewell"

OWNERS = {
    "agents": ("answering/sdk.py",),
    "openai": ("answering/sdk.py",),
    "httpx2": ("answering/sdk.py",),
    "mcp": ("api/mcp_server.py",),
    "fastapi": ("api/",),
    "starlette": ("api/",),
    "uvicorn": ("api/server.py",),
    "sse_starlette": ("api/streams.py",),
    "redis": ("api/admission/shared.py",),
    "prometheus_client": ("api/metrics.py",),
    "sqlalchemy": ("conversations/",),
    "alembic": ("conversations/",),
    "asyncpg": ("conversations/",),
    "qdrant_edge": ("index/",),
    "qdrant_client": ("index/",),
    "onnxruntime": ("inference/", "embedding/builtin.py"),
    "httpx": ("embedding/hosted_embedders.py", "judge/hosted_judge.py", "ingest/", "index/server_client.py"),
    "selectolax": ("ingest/",),
    "markdown_it": ("ingest/",),
    "mdit_py_plugins": ("ingest/",),
    "pypdf": ("ingest/formats/pdf.py",),
    "docutils": ("ingest/formats/rst.py", "ingest/formats/rst_blocks.py"),
    "yaml": ("ingest/",),
    "watchfiles": ("ingest/watch.py",),
    "Stemmer": ("text.py",),
    "structlog": ("logs.py",),
    "pydantic_settings": ("settings.py",),
    "typer": ("cli/",),
    "rich": ("cli/",),
    "stamina": ("retrieval/", "index/", "embedding/hosted_embedders.py"),
}


@cache
def modules() -> list[tuple[str, ast.Module]]:
    return [
        (path.relative_to(SOURCE).as_posix(), ast.parse(path.read_text("utf-8")))
        for path in sorted(SOURCE.rglob("*.py"))
    ]


@cache
def imported(tree: ast.Module) -> set[str]:
    names = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names.add(node.module.partition(".")[0])
    return names


@pytest.mark.parametrize("library", OWNERS)
def test_a_library_is_imported_by_its_owner_alone(library: str) -> None:
    users = [name for name, tree in modules() if library in imported(tree)]
    assert users, f"nobody imports {library} any more: take it out of here and of pyproject.toml"
    assert [name for name in users if not name.startswith(OWNERS[library])] == []


def test_only_the_settings_read_the_environment() -> None:
    readers = {
        name
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv", "environb")
    }
    # The SDK's switch is written, not read: it must be set before the SDK is imported.
    assert readers <= {"answering/sdk.py"}


def test_private_parts_of_libraries_are_used_where_their_version_is_bounded_and_nowhere_else() -> None:
    """Through `super()` or of another's object; what starts with two underscores is Python's."""
    used = {
        (name, node.attr)
        for name, tree in modules()
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__")
        if not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
        if ast.unparse(node.value) == "super()" or not owned(tree, node.attr)
    }
    assert used == {("answering/sdk.py", "_fetch_response")}
    extras = tomllib.loads((SOURCE.parents[1] / "pyproject.toml").read_text("utf-8"))["project"][
        "optional-dependencies"
    ]
    bounded = {re.split(r"[<>=]", needed)[0] for extra in extras.values() for needed in extra if ",<" in needed}
    assert {"openai-agents", "uvicorn", "sse-starlette"} <= bounded


def owned(tree: ast.Module, attribute: str) -> bool:
    """The module gives the attribute to one of its own classes."""
    return any(
        (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name == attribute)
        or (isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == attribute)
        or (isinstance(node, ast.Attribute) and node.attr == attribute and ast.unparse(node.value) == "self")
        for node in ast.walk(tree)
    )


def test_nothing_below_the_api_knows_http() -> None:
    for name, tree in modules():
        if not name.startswith(("api/", "cli/")):
            assert not imported(tree) & {"fastapi", "starlette", "uvicorn", "sse_starlette"}, name


def test_every_file_that_the_architecture_names_exists() -> None:
    repo = SOURCE.parents[1]
    text = (repo / "docs" / "architecture.md").read_text("utf-8")
    named = set(re.findall(r"`([\w./-]+(?:\.py|/))`", text))
    assert len(named) > 60
    assert [name for name in sorted(named) if not (SOURCE / name).exists() and not (repo / name).exists()] == []


def test_every_package_has_its_line_in_the_architecture() -> None:
    text = (SOURCE.parents[1] / "docs" / "architecture.md").read_text("utf-8")
    packages = {path.parent.name for path in SOURCE.glob("*/__init__.py")}
    assert {name for name in packages if f"| `{name}/`" not in text} == set()


WORDS = (
    "abstention, admission, analytics, authentication, chunking, circuit breaker, citation gate, composition root, "
    "concurrency limiter, contradiction detection, crawler, cross-encoder, deadline, domain model, entailment, "
    "extractive question answering, fact checking, groundedness, hybrid search, idempotency store, language detection, "
    "middleware, prompt injection, query cache, query rewriting, rate limiter, retriever, server-sent events, "
    "small talk, spelling correction, ssrf guard, stemming, supervisor"
)


def test_who_looks_for_a_word_of_the_field_finds_the_module_that_has_it() -> None:
    opened = " ".join((ast.get_docstring(tree) or "").partition("\n")[0].lower() for _, tree in modules())
    assert [word for word in WORDS.split(", ") if word not in opened] == []
