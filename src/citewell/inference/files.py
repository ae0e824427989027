"""Model files: checked against their manifest, opened as ONNX sessions and word pieces. Imports onnxruntime late."""

import hashlib
import json
from pathlib import Path
from typing import TYPE_CHECKING, Final

from citewell.errors import ConfigurationError
from citewell.wordpieces import WordPieces

if TYPE_CHECKING:
    import onnxruntime

ASSETS: Final = Path(__file__).parent.parent / "assets"


def verified(assets: Path, filename: str) -> bytes:
    """The file's bytes, if they are those that the manifest names."""
    try:
        expected = json.loads((assets / "manifest.json").read_bytes())["files"][filename]["sha256"]
        content = (assets / filename).read_bytes()
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise ConfigurationError(
            f"The built-in model {assets.name} is not complete ({filename}). Install citewell again."
        ) from error
    if hashlib.sha256(content).hexdigest() != expected:
        raise ConfigurationError(
            f"The built-in model {assets.name}: {filename} is damaged (wrong checksum). Install citewell again."
        )
    return content


def open_session(model: bytes) -> "onnxruntime.InferenceSession":
    """One thread a session: who wants more runs several at once."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def open_tokenizer(assets: Path) -> WordPieces:
    return WordPieces.of_json(verified(assets, "tokenizer.json").decode("utf-8"))
