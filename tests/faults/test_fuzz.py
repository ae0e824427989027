"""Fuzzing: whatever is read, nothing but our own errors comes out.

The corpus keeps what once broke something, and something whole of each kind, from which `fuzz.py` goes on.
"""

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.faults.readers import READERS

CORPUS = sorted((Path(__file__).parent / "corpus").iterdir())
PARTS = st.sampled_from([
    "[", "]", "(", ")", "![", "`", "```\n", "*", "_", "|", "\n", "\n\n", "# ", "- ", "1. ", "> ", "    ", "<div>",
    "</div>", "<!--", "-->", "{", "}", "${", "&amp;", "\\", "$$", ":::", "!!! note\n", "---\n", "a: ", "[^1]", "[1]",
    "e.g. ", "It is. ", "\ud800", "\x00", "\u200b", "\u202e", "é", "日本", "🙂",
    "import x from 'y'\n", "<Tabs>", "<table><tr>", "%PDF-1.4",
])  # fmt: skip
TEXTS = st.lists(st.one_of(PARTS, st.text(max_size=8)), max_size=60).map("".join)


@pytest.mark.fault("fuzzed text", "no crash, only our own errors")
@pytest.mark.parametrize("name", READERS)
@given(text=TEXTS)
@example(text="[" * 3000)
@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
def test_any_text_is_read_or_refused(name: str, text: str) -> None:
    READERS[name](text.encode("utf-8", "surrogatepass"))


@pytest.mark.fault("fuzzed text", "no crash, only our own errors")
@pytest.mark.parametrize("name", READERS)
@pytest.mark.parametrize("path", CORPUS, ids=lambda path: path.name)
def test_what_once_broke_something_is_read_or_refused(name: str, path: Path) -> None:
    READERS[name](path.read_bytes())


@pytest.mark.unbounded
@pytest.mark.timeout(1800)
@pytest.mark.fault("fuzzed, guided by coverage", "no crash, no hang, only our own errors")
def test_what_coverage_leads_to_is_read_or_refused(
    tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    pytest.importorskip("atheris", reason="atheris is not installed: uv pip install --group fuzz")
    with (tmp_path / "log").open("wb") as log:
        ended = subprocess.run([sys.executable, "-m", "tests.faults.fuzz", "300"], stderr=log, check=False)
    told = (tmp_path / "log").read_text("utf-8", "replace")
    assert ended.returncode == 0, told[-3000:]
    runs = [int(number) for number in re.findall(r"^Done (\d+) runs", told, re.MULTILINE)]
    record_property("figure", f"{len(runs)} readers, {sum(runs):,} runs")
