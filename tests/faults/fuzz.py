"""Coverage-guided fuzzing of readers: `python -m tests.faults.fuzz 20000 "Markdown and MDX"`; without a name, of all.

Needs atheris (`uv pip install --group fuzz`), which is in no lock: it installs where its wheels fit. What breaks
something is written into `corpus/`, where every test run tries it again; what only leads further is thrown away.
"""

import logging
import os
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["citewell", "markdown_it", "pypdf"]):
    from tests.faults.readers import READERS

CORPUS = Path(__file__).parent / "corpus"
LONGEST = 1000
"""Bytes: what a reader does is decided in few; what long texts cost is measured by `test_growth.py`."""


def fuzz(name: str, runs: str) -> int:
    """How the fuzzer ended: it ends its process, so it gets one of its own, which is spared the slow import."""
    with tempfile.TemporaryDirectory() as found:
        if child := os.fork():
            return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        flags = [f"-runs={runs}", f"-max_len={LONGEST}", f"-artifact_prefix={CORPUS}/", "-seed=1"]
        flags += ["-timeout=600", "-report_slow_units=600"]  # by the clock: only what never ends
        atheris.Setup([sys.argv[0], *flags, found, str(CORPUS)], READERS[name])
        atheris.Fuzz()
    raise AssertionError


if __name__ == "__main__":
    logging.disable()
    broken = [name for name in sys.argv[2:] or READERS if fuzz(name, sys.argv[1])]
    sys.exit(f"Broken: {', '.join(broken)}" if broken else 0)
