"""Make a shipped file trainable again: `python -m training.reopen ASSETS STEP OUT/state.pt [MPNET]`. Needs onnx.

Where the state of a run is gone, its next stage begins from what was shipped: weights of seven bits. STEP is that of
the record. For the larger model, MPNET is the folder of all-mpnet-base-v2, whose words it has unchanged.
"""

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import onnx
import torch
from numpy.typing import NDArray
from onnx import numpy_helper
from safetensors.torch import load_file

from training.model import Network
from training.mpnet import HEADS, pretrained
from training.mpnet import Network as Larger

_PREFIX = "network."


def weights(model: onnx.ModelProto) -> Iterator[tuple[str, NDArray[np.float32]]]:
    held = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer}
    for name, value in held.items():
        own = name.removeprefix(_PREFIX)
        if name.endswith(".steps"):
            base = own.removesuffix(".steps")
            yield f"{base}.weight", (value.astype(np.float32) * held[f"{_PREFIX}{base}.scale"]).T
        elif name.endswith("_quantized"):
            whole = name.removesuffix("_quantized")
            steps = value.astype(np.float32) - held[f"{whole}_zero_point"].astype(np.float32)
            yield own.removesuffix("_quantized"), steps * held[f"{whole}_scale"]
        elif name.startswith(_PREFIX) and not name.endswith(("_scale", "_zero_point", ".scale")):
            yield own, value


def main(assets: Path, step: int, out: Path, mpnet: Path | None = None) -> None:
    model = onnx.load(str(assets / "model.onnx"))
    network: Network | Larger
    if mpnet is None:
        network, found = Network(int(json.loads((assets / "manifest.json").read_text())["layers"])), {}
    else:
        network = pretrained(load_file(mpnet / "model.safetensors"))
        # A judge that was never asked questions begins with the heads of the pretrained network.
        found = {
            name: value.numpy()
            for name, value in network.state_dict().items()
            if name.split(".")[0] in ("words", "near", "asked_pooler", "answer")
        }
        # The export folds it into a constant, the only one with a number for each head.
        found["across"] = next(
            a for a in map(numpy_helper.to_array, model.graph.initializer) if a.shape == (HEADS, 1, 1)
        )
    own = network.state_dict()
    found |= dict(weights(model))
    if missing := sorted(set(own) - set(found)):
        sys.exit(f"{assets} lacks {', '.join(missing)}.")
    network.load_state_dict({n: torch.from_numpy(np.array(found[n], np.float32)).view(own[n].shape) for n in own})
    out.parent.mkdir(parents=True, exist_ok=True)
    torch.save({"network": network.state_dict(), "step": step}, out)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3]), *map(Path, sys.argv[4:5]))
