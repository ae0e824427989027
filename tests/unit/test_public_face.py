"""`import citewell`: the names that programs may rely on, and what importing them costs."""

import subprocess
import sys

import pytest

import citewell


def test_the_public_names_are_these() -> None:
    assert citewell.__all__ == [
        "Answer",
        "AnswerEvent",
        "Book",
        "Checked",
        "CheckedSentence",
        "Citation",
        "CitewellError",
        "Completed",
        "Found",
        "HostedModel",
        "IngestReport",
        "Message",
        "Page",
        "PageEntry",
        "Passage",
        "PassagesFound",
        "ScoredPassage",
        "SearchStarted",
        "Settings",
        "SyncBook",
        "TextReleased",
        "__version__",
        "open",
        "open_sync",
    ]


@pytest.mark.parametrize("name", citewell.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(citewell, name) is not None


def test_a_name_that_is_not_public_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'Engine'"):
        citewell.Engine  # type: ignore[attr-defined]  # noqa: B018


def test_importing_the_package_loads_nothing_of_others() -> None:
    program = "import sys, citewell; print(sorted(m for m in sys.modules if m in {'numpy', 'pydantic', 'onnxruntime'}))"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert ran.stdout.strip() == "[]"
