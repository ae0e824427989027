"""Write the trained network as int8 ONNX: `python -m training.export OUT/state.pt FOLDER`. Needs onnx and onnxruntime.

One graph serves both steps. Passages: no past, `present` comes out. Sentences: that goes in as `past`.
"""

import hashlib
import json
import math
import sys
from pathlib import Path

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper
from onnxruntime.quantization import QuantType, quantize_dynamic
from torch import Tensor, nn
from torch.nn import functional

from training.model import HEADS, WIDTH, Network, restored

MIDDLE = 128
WEIGHT_STEPS = 64
"""Without VNNI, products of full 8-bit weights overflow 16 bits: seven bits are exact everywhere."""


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
    """The graph with its weights reduced, in place of the whole one.

    What goes into a product is reduced token by token. With one scale for all tokens, as dynamic quantization has it, a
    few with large values take the digits from the others."""
    quantize_dynamic(whole, small, weight_type=QuantType.QInt8, op_types_to_quantize=["Gather"])
    model = onnx.load(str(small))
    held = {tensor.name: tensor for tensor in model.graph.initializer}
    sums = [tuple(node.input) for node in model.graph.node if node.op_type == "Add"]
    biases = {product: name for inputs in sums for product, name in (inputs, inputs[::-1]) if name in held}
    constants = {
        "one": np.float32(1), "middle": np.uint8(MIDDLE), "least": np.float32(1e-9),
        "steps": np.float32(MIDDLE - 1), "half": np.float32(MIDDLE + 0.5),
    }  # fmt: skip
    model.graph.initializer.extend(numpy_helper.from_array(np.array(v), name) for name, v in constants.items())
    nodes: list[onnx.NodeProto] = []
    reduced: set[str] = set()
    for node in model.graph.node:
        if node.op_type not in ("Gemm", "MatMul") or node.input[1] not in held:
            nodes.append(node)
            continue
        if node.input[0] not in reduced:
            reduced.add(node.input[0])
            nodes += _by_token(node.input[0])
        weight = held[node.input[1]]
        model.graph.initializer.remove(weight)
        nodes += _product(model.graph, node, weight, biases)
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    model.producer_name, model.doc_string = "citewell", ""
    onnx.save(model, str(small))
    whole.unlink()


def _product(
    graph: onnx.GraphProto, node: onnx.NodeProto, held: onnx.TensorProto, biases: dict[str, str]
) -> list[onnx.NodeProto]:
    """The product with its weights in steps under a scale for each output, times the scale of each token."""
    given, weight = node.input[0], numpy_helper.to_array(held)
    is_whole = node.op_type == "Gemm"  # bias and all, with its weights turned round
    if is_whole:
        weight = weight.T
    bias = node.input[2] if is_whole else biases[node.output[0]]
    base = bias.removesuffix(".bias")
    scale = np.maximum(np.abs(weight).max(0), 1e-9).astype(np.float32) / WEIGHT_STEPS
    graph.initializer.append(numpy_helper.from_array(scale, f"{base}.scale"))
    graph.initializer.append(numpy_helper.from_array(np.rint(weight / scale).astype(np.int8), f"{base}.steps"))
    inputs = [f"{given}/steps", f"{base}.steps", "one", f"{base}.scale", "middle"]
    scaled = f"{base}/scaled" if is_whole else node.output[0]
    made = [
        helper.make_node("MatMulIntegerToFloat", inputs, [f"{base}/product"], domain="com.microsoft"),
        helper.make_node("Mul", [f"{base}/product", f"{given}/scale"], [scaled]),
    ]
    return [*made, helper.make_node("Add", [scaled, bias], list(node.output))] if is_whole else made


def _by_token(given: str) -> list[onnx.NodeProto]:
    """Eight bits of each token's values, under a scale of its own."""
    steps = [
        ("Abs", [given], f"{given}/abs", {}),
        ("ReduceMax", [f"{given}/abs"], f"{given}/most", {"axes": [-1], "keepdims": 1}),
        ("Max", [f"{given}/most", "least"], f"{given}/bound", {}),
        ("Div", [f"{given}/bound", "steps"], f"{given}/scale", {}),
        ("Div", [given, f"{given}/scale"], f"{given}/parts", {}),
        ("Add", [f"{given}/parts", "half"], f"{given}/moved", {}),  # the cast drops what is behind the point
        ("Cast", [f"{given}/moved"], f"{given}/steps", {"to": onnx.TensorProto.UINT8}),
    ]
    return [helper.make_node(kind, inputs, [output], **more) for kind, inputs, output, more in steps]


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
