"""Write the larger model as int8 ONNX: `python -m training.export_larger OUT/state.pt FOLDER`.

One graph serves both steps. Passages: no past, `present` comes out. Sentences: that goes in as `past`; several may
stand side by side, where `near` and `hidden` keep them apart and `firsts` says where each begins. The table of words
lies in a file of its own, so that none is larger than 100 MB. Needs onnx and onnxruntime.
"""

import hashlib
import json
import math
import sys
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

from citewell.inference.shipped_model import LONGEST_TEXT
from training.export import eight_bits
from training.mpnet import ALONE, HEADS, LAYERS, WIDTH, Layer, Network, buckets

STATES = 2 * (LAYERS - ALONE)


class Graph(nn.Module):
    """The network with explicit attention, so that the graph is made of plain products."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network

    def forward(
        self, words: Tensor, places: Tensor, near: Tensor, hidden: Tensor, past: Tensor, firsts: Tensor
    ) -> tuple[Tensor, ...]:
        network = self.network
        x = network.norm(words + network.places(places))
        for layer in network.layers[:ALONE]:
            x = _layer(layer, x, layer.key(x), layer.value(x), near)
        bias, present = torch.cat([network.across[:, None, None] + hidden, near], 2), []
        for number, layer in enumerate(network.layers[ALONE:]):
            key, value = layer.key(x), layer.value(x)
            present += [key, value]
            if number == LAYERS - ALONE - 1:
                x, bias = x[firsts], bias[:, firsts]
            x = _layer(layer, x, torch.cat([past[2 * number], key]), torch.cat([past[2 * number + 1], value]), bias)
        return torch.stack(present), network.told(x), network.answers(x)


def _layer(layer: Layer, x: Tensor, key: Tensor, value: Tensor, bias: Tensor) -> Tensor:
    scores = _heads(layer.query(x)) @ _heads(key).transpose(-1, -2) / math.sqrt(WIDTH // HEADS) + bias
    return layer.fed(x, scores.softmax(-1) @ _heads(value))


def _heads(x: Tensor) -> Tensor:
    return x.unflatten(1, (HEADS, WIDTH // HEADS)).transpose(0, 1)


def tables(network: Network) -> dict[str, np.ndarray]:
    """The words in 8 bits with a scale each, and what nearness counts, by the distance."""
    words = network.words.weight.detach().numpy()
    scales = np.abs(words).max(1) / 127 + 1e-12
    far = torch.arange(-LONGEST_TEXT, LONGEST_TEXT + 1)
    return {
        "words": np.rint(words / scales[:, None]).astype(np.int8),
        "scales": scales.astype(np.float32),
        "near": network.near.weight.detach().numpy(),
        "buckets": buckets(far).numpy().astype(np.int8),
    }


def main(state: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    network = Network()
    network.load_state_dict(torch.load(state)["network"])
    graph = Graph(network.eval())
    tokens, before = 7, 5
    sample = (
        torch.zeros(tokens, WIDTH), torch.arange(tokens) + 2, torch.zeros(HEADS, tokens, tokens),
        torch.zeros(tokens, before), torch.zeros(STATES, before, WIDTH), torch.tensor([0, 3]),
    )  # fmt: skip
    whole = folder / "whole.onnx"
    torch.onnx.export(
        graph, sample, str(whole), dynamo=False, opset_version=17,
        input_names=["words", "places", "near", "hidden", "past", "firsts"],
        output_names=["present", "support", "answers"],
        dynamic_axes={
            "words": {0: "tokens"}, "places": {0: "tokens"}, "near": {1: "tokens", 2: "tokens"},
            "hidden": {0: "tokens", 1: "before"}, "past": {1: "before"}, "firsts": {0: "sentences"},
            "present": {1: "tokens"}, "support": {0: "sentences"}, "answers": {0: "sentences"},
        },
    )  # fmt: skip
    eight_bits(whole, folder / "model.onnx")
    with (folder / "words.npz").open("wb") as file:
        np.savez(file, **tables(network))
    files = {
        name: {
            "bytes": (folder / name).stat().st_size,
            "sha256": hashlib.sha256((folder / name).read_bytes()).hexdigest(),
        }
        for name in ("model.onnx", "words.npz")
    }
    (folder / "manifest.json").write_text(json.dumps({"states": STATES, "files": files}, indent=2) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
