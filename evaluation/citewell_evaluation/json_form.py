"""An evaluation as JSON (and back). Numbers have six digits, so that equal runs are equal bytes apart from times."""

import json
import math
from collections.abc import Mapping
from typing import Any

import citewell
from citewell.errors import InvalidInputError
from citewell_evaluation import Evaluation, Figure, FigureRow, FigureTable, Item, ShownPassage
from citewell_evaluation.compare import Comparison

Json = dict[str, Any]
"""A JSON object on its way to or from a file: it does not leave this module as anything but text."""


def to_json(evaluation: Evaluation, comparison: Comparison | None = None) -> str:
    document: Json = {
        "kind": evaluation.kind,
        "dataset": evaluation.dataset,
        "data_sha256": evaluation.data_sha256,
        "citewell": citewell.__version__,
        "main": evaluation.main,
        "tables": [_table(table) for table in evaluation.tables],
        "notes": list(evaluation.notes),
        "items": [_item(item) for item in evaluation.items],
    }
    if comparison is not None:
        document["comparison"] = _comparison(comparison)
    return json.dumps(document, ensure_ascii=False, indent=1, allow_nan=False) + "\n"


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
        document = json.loads(text)
        return Evaluation(
            kind=document["kind"],
            dataset=document["dataset"],
            tables=tuple(_read_table(table) for table in document["tables"]),
            items=tuple(_read_item(item) for item in document["items"]),
            main=document["main"],
            data_sha256=document["data_sha256"],
            notes=tuple(document["notes"]),
        )
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InvalidInputError(
            "The earlier run is not the JSON of `citewell eval … --json`.", field="against"
        ) from error


def _number(value: float | None) -> float | None:
    return None if value is None or math.isnan(value) else round(value, 6)


def _figure(figure: Figure) -> Json:
    found = {"value": _number(figure.value)}
    if figure.low is not None or figure.high is not None:
        found |= {"low": _number(figure.low), "high": _number(figure.high)}
    return found


def _table(table: FigureTable) -> Json:
    rows = [{"name": r.name, "figures": {name: _figure(f) for name, f in r.figures.items()}} for r in table.rows]
    return {"title": table.title, "note": table.note, "rows": rows}


def _item(item: Item) -> Json:
    found: Json = {
        "id": item.id,
        "question": item.question,
        "scores": {name: _number(score) for name, score in item.scores.items()},
    }
    optional: Mapping[str, object] = {
        "answer": item.answer,
        "expected": item.expected,
        "passages": [
            {"url": p.url, "text": p.text, "score": _number(p.score), "relevant": p.relevant} for p in item.passages
        ],
        "probability": _number(item.probability),
        "truth": item.truth,
        "elapsed_ms": _number(item.elapsed_ms),
    }
    return found | {name: value for name, value in optional.items() if value not in ("", [], None)}


def _comparison(comparison: Comparison) -> Json:
    def changes(kind: str) -> list[Json]:
        return [
            {"id": c.id, "question": c.question, "before": _number(c.before), "after": _number(c.after)}
            for c in (comparison.better if kind == "better" else comparison.worse)
        ]

    return {
        "main": comparison.main,
        "difference": _figure(comparison.difference),
        "verdict": comparison.verdict,
        "same": comparison.same,
        "better": changes("better"),
        "worse": changes("worse"),
        "only_before": list(comparison.only_before),
        "only_after": list(comparison.only_after),
    }


def _read_figure(found: Json) -> Figure:
    value = found["value"]
    return Figure(math.nan if value is None else float(value), found.get("low"), found.get("high"))


def _read_table(found: Json) -> FigureTable:
    rows = tuple(
        FigureRow(r["name"], {name: _read_figure(f) for name, f in r["figures"].items()}) for r in found["rows"]
    )
    return FigureTable(found["title"], rows, found["note"])


def _read_item(found: Json) -> Item:
    return Item(
        id=found["id"],
        question=found["question"],
        scores={name: math.nan if score is None else float(score) for name, score in found["scores"].items()},
        answer=found.get("answer", ""),
        expected=found.get("expected", ""),
        passages=tuple(
            ShownPassage(p["url"], p["text"], float(p["score"]), p["relevant"]) for p in found.get("passages", [])
        ),
        probability=found.get("probability"),
        truth=found.get("truth"),
        elapsed_ms=found.get("elapsed_ms"),
    )
