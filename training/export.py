"""Write the trained network as int8 ONNX: `python -m training.export OUT/state.pt FOLDER`. Needs onnx and onnxruntime.

One graph serves both steps. Passages: no past, `present` comes out. Sentences: that goes in as `past`.
"""

import hashlib
import json
import math
import sys
from pathlib import Path

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn
from torch.nn import functional

from training.model import HEADS, WIDTH, Network, restored


class Graph(nn.Module):
    """The network with explicit attention, so that the exported graph is made of plain products."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, ids: Tensor, places: Tensor, kinds: Tensor, mask: Tensor, past: Tensor
    ) -> tuple[Tensor, Tensor, Tensor]:
        network = self.network
        x = network.embed(ids, places, kinds)
        hidden = (1.0 - mask.to(x.dtype))[:, None] * -10000.0
        present = []
        for number, layer in enumerate(network.layers):
            key, value = layer.key(x), layer.value(x)
            present += [key, value]
            keys = _heads(torch.cat([past[2 * number], key], 1))
            values = _heads(torch.cat([past[2 * number + 1], value], 1))
            scores = _heads(layer.query(x)) @ keys.transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + hidden
            seen = scores.softmax(-1) @ values
            x = layer.first_norm(x + layer.joined(seen.transpose(1, 2).flatten(2)))
            x = layer.second_norm(x + layer.down(functional.gelu(layer.up(x))))
        return torch.stack(present), network.answers(x), network.supports(x)


def _heads(x: Tensor) -> Tensor:
    return x.unflatten(2, (HEADS, WIDTH // HEADS)).transpose(1, 2)


def eight_bits(whole: Path, small: Path) -> None:
    """The graph with its weights reduced, in place of the whole one."""
    # Without VNNI, products of full 8-bit weights overflow 16 bits: seven bits are exact everywhere.
    quantize_dynamic(whole, small, weight_type=QuantType.QInt8, per_channel=True, reduce_range=True)
    model = onnx.load(str(small))
    model.producer_name, model.doc_string = "citewell", ""
    onnx.save(model, str(small))
    whole.unlink()


def main(state: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    network = restored(torch.load(state)["network"])
    layers = len(network.layers)
    graph = Graph(network).eval()
    rows, tokens, before = 1, 7, 5
    sample = (
        torch.ones(rows, tokens, dtype=torch.long),
        torch.arange(tokens)[None],
        torch.zeros(rows, tokens, dtype=torch.long),
        torch.ones(rows, tokens, before + tokens, dtype=torch.bool),
        torch.zeros(2 * layers, rows, before, WIDTH),
    )
    sentence = ("ids", "places", "kinds")
    whole = folder / "whole.onnx"
    torch.onnx.export(
        graph, sample, str(whole), dynamo=False, opset_version=17,
        input_names=[*sentence, "mask", "past"],
        output_names=["present", "answers", "support"],
        dynamic_axes={
            **{name: {0: "rows", 1: "tokens"} for name in (*sentence, "answers", "support")},
            "mask": {0: "rows", 1: "tokens", 2: "all"}, "past": {1: "rows", 2: "before"},
            "present": {1: "rows", 2: "tokens"},
        },
    )  # fmt: skip
    small = folder / "model.onnx"
    eight_bits(whole, small)
    manifest = {
        "layers": layers,
        "files": {
            "model.onnx": {"bytes": small.stat().st_size, "sha256": hashlib.sha256(small.read_bytes()).hexdigest()}
        },
    }
    (folder / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
