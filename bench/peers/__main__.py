"""`python -m bench.peers`: the side-by-side part of the benchmarks alone."""

import subprocess
import sys
from pathlib import Path

RUN = Path(__file__).parents[1] / "run.py"
sys.exit(subprocess.run([sys.executable, RUN, "--only", "peers,install", *sys.argv[1:]]).returncode)
