"""The evaluations are a distribution of their own: citewell works without them and says what to install."""

import subprocess
import sys

WITHOUT = "import sys; sys.modules['citewell_evaluation'] = None; from citewell.cli import main; main()"
"""As Python behaves when the package is not there."""


def test_without_the_evaluations_one_line_says_what_to_install() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT, "eval", "book", "--json"], capture_output=True, text=True)
    assert run.returncode == 1
    said = "citewell: citewell-evaluation is not installed. Install it with: pip install 'citewell[eval]'\n"
    assert run.stderr == said


def test_without_them_every_other_command_is_there() -> None:
    run = subprocess.run([sys.executable, "-c", WITHOUT, "--help"], capture_output=True, text=True)
    assert {"ingest", "ask", "serve", "eval"} <= set(run.stdout.split())
