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


def checksum(assets: Path, filename: str) -> str:
    """What the manifest says that the file's SHA-256 is."""
    try:
        return str(json.loads((assets / "manifest.json").read_bytes())["files"][filename]["sha256"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise _incomplete(assets, filename) from error


def verified(assets: Path, filename: str) -> bytes:
    """The file's bytes, if they are those that the manifest names."""
    expected = checksum(assets, filename)
    try:
        content = (assets / filename).read_bytes()
    except OSError as error:
        raise _incomplete(assets, filename) from error
    if hashlib.sha256(content).hexdigest() != expected:
        raise ConfigurationError(
            f"The built-in model {assets.name}: {filename} is damaged (wrong checksum). Install citewell again."
        )
    return content


def _incomplete(assets: Path, filename: str) -> ConfigurationError:
    return ConfigurationError(f"The built-in model {assets.name} is not complete ({filename}). Install citewell again.")


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
