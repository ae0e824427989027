"""The mean of two networks: `python -m training.mean EARLIER.pt LATER.pt SHARE OUT.pt`, SHARE of the later one.

A stage moves what the stages before it had learnt; between the two lies a network that has most of both.
"""

import sys
from pathlib import Path

import torch


def main(earlier: Path, later: Path, share: float, out: Path) -> None:
    before, after = torch.load(earlier)["network"], torch.load(later)
    mixed = {name: (1 - share) * before[name] + share * value for name, value in after["network"].items()}
    torch.save({"network": mixed, "step": after["step"]}, out)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), float(sys.argv[3]), Path(sys.argv[4]))
