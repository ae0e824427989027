"""Makes the built-in embedder's files from gte-small as published (fp32 ONNX): `make_embedder.py GTE_SMALL_FOLDER`.

The folder holds `onnx/model.onnx` and `tokenizer.json`. Needs, in an environment of its own:
`pip install onnx==1.23.2 onnxruntime==1.31.1 tokenizers==0.23.3 numpy`. The same versions give the same bytes.

The graph is written anew: token ids of one text in, one vector of length one out. Weights have 8 bits and a scale for
each output; activations get 8 bits as they come. Why the loss is small: docs/decisions/0002-embedder.md.
"""

import hashlib
import json
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

ROOT = Path(__file__).parent.parent
ASSETS = ROOT / "src" / "citewell" / "assets" / "embedder"
CALIBRATION = ROOT / "scripts" / "calibration.txt"
MICROSOFT = "com.microsoft"
LAYERS, HEADS, WIDTH = 12, 12, 384
EPSILON = 1e-12
SMOOTHING = 0.7
"""How far ranges move from activations into weights, for the inputs of attention and of the first dense layer."""
SMALLEST_GELU = 0.17
CENTRING = 0.8
"""How much of the mean vector is taken away. gte-small's vectors lie in a narrow cone: without this, texts that have
nothing in common have a cosine of 0.7."""

Array = np.ndarray
Dense = tuple[Array, Array]
"""Weights (inputs by outputs) and bias."""


@dataclass(frozen=True)
class Layer:
    query: Dense
    key: Dense
    value: Dense
    attended: Dense
    attended_norm: Dense
    up: Dense
    down: Dense
    norm: Dense


@dataclass(frozen=True)
class Weights:
    words: Array
    positions: Array
    """With the type of the first segment added: there is only one."""
    norm: Dense
    layers: tuple[Layer, ...]


def read_weights(path: Path) -> Weights:
    graph = onnx.load(path).graph
    named = {i.name: numpy_helper.to_array(i) for i in graph.initializer}
    matrices = {n.name: named[n.input[1]] for n in graph.node if n.op_type == "MatMul" and n.input[1] in named}

    def layer(number: int) -> Layer:
        def dense(name: str) -> Dense:
            path = f"/encoder/layer.{number}/{name.replace('.', '/')}/MatMul"
            return matrices[path], named[f"encoder.layer.{number}.{name}.bias"]

        def norm(name: str) -> Dense:
            return named[f"encoder.layer.{number}.{name}.weight"], named[f"encoder.layer.{number}.{name}.bias"]

        return Layer(
            query=dense("attention.self.query"),
            key=dense("attention.self.key"),
            value=dense("attention.self.value"),
            attended=dense("attention.output.dense"),
            attended_norm=norm("attention.output.LayerNorm"),
            up=dense("intermediate.dense"),
            down=dense("output.dense"),
            norm=norm("output.LayerNorm"),
        )

    return Weights(
        words=named["embeddings.word_embeddings.weight"],
        positions=named["embeddings.position_embeddings.weight"] + named["embeddings.token_type_embeddings.weight"][0],
        norm=(named["embeddings.LayerNorm.weight"], named["embeddings.LayerNorm.bias"]),
        layers=tuple(layer(number) for number in range(LAYERS)),
    )


@dataclass
class Graph:
    """Nodes and constants as they are added; every method returns the name of what it made."""

    nodes: list[onnx.NodeProto] = field(default_factory=list)
    constants: list[onnx.TensorProto] = field(default_factory=list)

    def constant(self, value: Array) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(np.ascontiguousarray(value), name))
        return name

    def many(self, op: str, inputs: Sequence[str], count: int, domain: str = "", **attributes: object) -> list[str]:
        outputs = [f"{op}_{len(self.nodes)}_{i}" for i in range(count)]
        self.nodes.append(helper.make_node(op, inputs, outputs, domain=domain, **attributes))
        return outputs

    def add(self, op: str, *inputs: str, domain: str = "", **attributes: object) -> str:
        return self.many(op, inputs, 1, domain, **attributes)[0]

    def norm(self, x: str, weights: Dense) -> str:
        return self.add("LayerNormalization", x, *map(self.constant, weights), axis=-1, epsilon=EPSILON)

    def model(self, outputs: Iterable[str]) -> bytes:
        graph = helper.make_graph(
            self.nodes,
            "gte-small",
            [helper.make_tensor_value_info("input_ids", TensorProto.INT64, [1, "tokens"])],
            [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in outputs],
            self.constants,
        )
        opsets = [helper.make_opsetid("", 17), helper.make_opsetid(MICROSOFT, 1)]
        made: bytes = helper.make_model(graph, opset_imports=opsets, ir_version=8).SerializeToString()
        return made


Multiply = Callable[[Graph, str, Sequence[Dense], str], list[str]]
"""Adds the products of one input with some dense layers. The last argument says where in the model this is."""


def exact(graph: Graph, x: str, dense: Sequence[Dense], place: str) -> list[str]:
    return [graph.add("Add", graph.add("MatMul", x, graph.constant(w)), graph.constant(b)) for w, b in dense]


@dataclass
class EightBit:
    """Integer products. `ranges` has the largest value of every input channel, by place."""

    ranges: dict[str, Array]

    def __call__(self, graph: Graph, x: str, dense: Sequence[Dense], place: str) -> list[str]:
        if place.startswith("down"):
            return self._by_row(graph, x, dense)
        if place.startswith(("attention", "up")):
            x, dense = self._smoothed(graph, x, dense, place)
        quantized = graph.many("DynamicQuantizeLinear", [x], 3)
        return [self._product(graph, quantized, weights, graph.constant(bias)) for weights, bias in dense]

    def _smoothed(self, graph: Graph, x: str, dense: Sequence[Dense], place: str) -> tuple[str, list[Dense]]:
        """A few channels are much larger than the rest: shrink them, and enlarge their weights by as much."""
        inputs = np.maximum(self.ranges[place], 1e-5)
        weights = np.maximum(np.max([np.abs(w).max(axis=1) for w, _ in dense], axis=0), 1e-5)
        factor = inputs**SMOOTHING / weights ** (1 - SMOOTHING)
        factor /= np.exp(np.log(factor).mean())
        x = graph.add("Mul", x, graph.constant((1 / factor).astype(np.float32)))
        return x, [(w * factor[:, None], b) for w, b in dense]

    def _by_row(self, graph: Graph, x: str, dense: Sequence[Dense]) -> list[str]:
        """A few tokens are much larger than the rest: bring every token to the same range, and back afterwards."""
        largest = graph.add("ReduceMax", x, axes=[-1], keepdims=1)
        largest = graph.add("Max", largest, graph.constant(np.float32(SMALLEST_GELU)))
        even = graph.add("Mul", x, graph.add("Reciprocal", largest))
        quantized = graph.many("DynamicQuantizeLinear", [even], 3)
        made = []
        for weights, bias in dense:
            product = graph.add("Mul", self._product(graph, quantized, weights), largest)
            made.append(graph.add("Add", product, graph.constant(bias)))
        return made

    def _product(self, graph: Graph, quantized: Sequence[str], weights: Array, *bias: str) -> str:
        values, scale, zero = quantized
        steps = _steps(weights)
        integers = np.clip(np.round(weights / steps), -127, 127).astype(np.int8)
        zeros = graph.constant(np.zeros(steps.shape, np.int8))
        inputs = (values, graph.constant(integers), scale, graph.constant(steps), zero, zeros, *bias)
        return graph.add("MatMulIntegerToFloat", *inputs, domain=MICROSOFT)


def _steps(weights: Array) -> Array:
    """The scale of each output.

    Processors without VNNI add two neighbouring products in 16 bits and cut off what does not fit. So neighbours of
    one sign may not add up to more than 128: then every processor computes the same integers.
    """
    pairs = weights.reshape(-1, 2, weights.shape[1])
    largest = np.maximum(np.maximum(pairs, 0).sum(axis=1).max(axis=0), np.maximum(-pairs, 0).sum(axis=1).max(axis=0))
    steps = np.maximum(largest, np.abs(weights).max(axis=0)) / 127
    return np.where(steps == 0, 1, steps).astype(np.float32)


def add_words(graph: Graph, weights: Weights) -> str:
    """8 bits and a scale for each word; positions in 16 bits."""
    steps = np.abs(weights.words).max(axis=1, keepdims=True) / 127
    steps = np.where(steps == 0, 1, steps).astype(np.float32)
    table = graph.constant(np.round(weights.words / steps).astype(np.int8))
    words = graph.add("Cast", graph.add("Gather", table, "input_ids"), to=TensorProto.FLOAT)
    words = graph.add("Mul", words, graph.add("Gather", graph.constant(steps), "input_ids"))
    zero = graph.constant(np.array([0], np.int64))
    length = graph.add("Shape", "input_ids", start=1, end=2)
    positions = graph.add("Slice", graph.constant(weights.positions.astype(np.float16)), zero, length, zero)
    return graph.norm(graph.add("Add", words, graph.add("Cast", positions, to=TensorProto.FLOAT)), weights.norm)


def add_exact_words(graph: Graph, weights: Weights) -> str:
    zero = graph.constant(np.array([0], np.int64))
    length = graph.add("Shape", "input_ids", start=1, end=2)
    positions = graph.add("Slice", graph.constant(weights.positions), zero, length, zero)
    words = graph.add("Gather", graph.constant(weights.words), "input_ids")
    return graph.norm(graph.add("Add", words, positions), weights.norm)


def add_layers(graph: Graph, x: str, weights: Weights, multiply: Multiply) -> str:
    for number, layer in enumerate(weights.layers):
        heads = multiply(graph, x, [layer.query, layer.key, layer.value], f"attention {number}")
        attended = graph.add("MultiHeadAttention", *heads, domain=MICROSOFT, num_heads=HEADS)
        (mixed,) = multiply(graph, attended, [layer.attended], f"attended {number}")
        x = graph.norm(graph.add("Add", mixed, x), layer.attended_norm)
        (wide,) = multiply(graph, x, [layer.up], f"up {number}")
        (narrow,) = multiply(graph, graph.add("Gelu", wide, domain=MICROSOFT), [layer.down], f"down {number}")
        x = graph.norm(graph.add("Add", narrow, x), layer.norm)
    return x


def add_pooling(graph: Graph, x: str, mean: Array) -> str:
    """The mean over the tokens as a vector of length one, moved away from the mean of all texts."""
    pooled = graph.add("ReduceMean", x, axes=[1], keepdims=0)
    unit = graph.add("LpNormalization", pooled, axis=-1, p=2)
    moved = graph.add("Sub", unit, graph.constant((CENTRING * mean).astype(np.float32)))
    return graph.add("LpNormalization", moved, axis=-1, p=2)


def run(model: bytes, texts: Iterable[list[int]]) -> list[list[Array]]:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    return [session.run(None, {"input_ids": np.array([ids], np.int64)}) for ids in texts]


def calibrate(weights: Weights, texts: list[list[int]]) -> tuple[dict[str, Array], Array]:
    """The largest value of each channel at each place, and the mean vector of all texts, by the exact model."""
    seen: dict[str, str] = {}

    def watched(graph: Graph, x: str, dense: Sequence[Dense], place: str) -> list[str]:
        seen[place] = x
        return exact(graph, x, dense, place)

    graph = Graph()
    pooled = add_pooling(graph, add_layers(graph, add_exact_words(graph, weights), weights, watched), np.zeros(WIDTH))
    results = run(graph.model([pooled, *seen.values()]), texts)
    ranges = {
        place: np.max([np.abs(result[i][0]).max(axis=0) for result in results], axis=0).astype(np.float64)
        for i, place in enumerate(seen, start=1)
    }
    return ranges, np.mean([result[0][0] for result in results], axis=0)


def make(weights: Weights, multiply: Multiply, words: Callable[[Graph, Weights], str], mean: Array) -> bytes:
    graph = Graph()
    add_pooling(graph, add_layers(graph, words(graph, weights), weights, multiply), mean)
    graph.nodes[-1].output[0] = "embedding"
    return graph.model(["embedding"])


def write(model: bytes, tokenizer: str, agreement: float, source: Path) -> None:
    files = {"model.onnx": model, "tokenizer.json": tokenizer.encode()}
    manifest = {
        "model": "gte-small",
        "source": {"file": "onnx/model.onnx", "sha256": hashlib.sha256(source.read_bytes()).hexdigest()},
        "dimensions": WIDTH,
        "made_by": "scripts/make_embedder.py",
        "how": "8-bit weights per output, 8-bit activations, smoothed; mean over tokens, centred, length one",
        "cosine_to_fp32": round(agreement, 5),
        "files": {n: {"bytes": len(c), "sha256": hashlib.sha256(c).hexdigest()} for n, c in files.items()},
    }
    for name, content in files.items():
        (ASSETS / name).write_bytes(content)
    (ASSETS / "manifest.json").write_text(json.dumps(manifest, indent=2) + "\n", "utf-8")


def main(folder: Path) -> None:
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    texts = [tokenizer.encode(line).ids for line in CALIBRATION.read_text("utf-8").splitlines()]
    source = folder / "onnx" / "model.onnx"
    weights = read_weights(source)
    ranges, mean = calibrate(weights, texts)
    small = make(weights, EightBit(ranges), add_words, mean)
    reference = run(make(weights, exact, add_exact_words, mean), texts)
    agreement = float(np.mean([a[0][0] @ b[0][0] for a, b in zip(run(small, texts), reference, strict=True)]))
    write(small, tokenizer.to_str(), agreement, source)
    print(f"{len(small) / 1e6:.1f} MB, mean cosine to the exact model {agreement:.5f}")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(Path(sys.argv[1]))
