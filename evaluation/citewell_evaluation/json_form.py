"""An evaluation as JSON (and back). Numbers have six digits, so that equal runs are equal bytes apart from times."""

import json
import math
from typing import Any

from pydantic import TypeAdapter

import citewell
from citewell.errors import InvalidInputError
from citewell_evaluation import Evaluation
from citewell_evaluation.compare import Comparison

_EVALUATION = TypeAdapter(Evaluation)


def to_json(evaluation: Evaluation, comparison: Comparison | None = None) -> str:
    """What has its default is left out; what could not be measured is null."""
    document = {"citewell": citewell.__version__, **_EVALUATION.dump_python(evaluation, exclude_defaults=True)}
    if comparison is not None:
        document["comparison"] = TypeAdapter(Comparison).dump_python(comparison) | {"verdict": comparison.verdict}
    return json.dumps(_rounded(document), ensure_ascii=False, indent=1, allow_nan=False) + "\n"


def _rounded(value: object) -> object:
    match value:
        case dict():
            return {key: _rounded(inner) for key, inner in value.items()}
        case list() | tuple():
            return [_rounded(inner) for inner in value]
        case float():
            return None if math.isnan(value) else round(value, 6)
    return value


def without_times(text: str) -> str:
    """The same JSON without what is allowed to differ between two runs: keys that end in `_ms` or `_s`."""
    return json.dumps(_timeless(json.loads(text)), ensure_ascii=False, indent=1) + "\n"


def _timeless(value: object) -> object:
    if isinstance(value, dict):
        return {k: _timeless(v) for k, v in value.items() if not k.endswith(("_ms", "_s")) and k != "times"}
    return [_timeless(v) for v in value] if isinstance(value, list) else value


def from_json(text: str) -> Evaluation:
    """Raises InvalidInputError when the text is not an evaluation that `to_json` wrote."""
    try:
        return _EVALUATION.validate_python(json.loads(text, object_hook=_unmeasured))
    except ValueError as error:
        message = "The earlier run is not the JSON of `citewell eval … --json`."
        raise InvalidInputError(message, field="against") from error


def _unmeasured(found: dict[str, Any]) -> dict[str, Any]:
    """A figure or score that is null is not a number."""
    if "value" in found and found["value"] is None:
        return {**found, "value": math.nan}
    if isinstance(scores := found.get("scores"), dict):
        return {**found, "scores": {name: math.nan if score is None else score for name, score in scores.items()}}
    return found
