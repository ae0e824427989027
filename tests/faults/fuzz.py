"""Coverage-guided fuzzing of one reader, for as long as one lets it: `python -m tests.faults.fuzz Markdown`.

Needs atheris, which is in no lock: it installs where its wheels fit. What breaks something goes into `corpus/`.
"""

import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["citewell"]):
    from tests.faults.readers import READERS

atheris.Setup([sys.argv[0], str(Path(__file__).parent / "corpus"), *sys.argv[2:]], READERS[sys.argv[1]])
atheris.Fuzz()
