"""What the dialects share on the wire: the base of every model, JSON, snippets, safe numbers. Pure."""

import json
import math

from pydantic import BaseModel, ConfigDict, GetJsonSchemaHandler
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from citewell.values import Passage, SelectionSpan

SNIPPET = 500
NO_HEADING = "Introduction"


class Wire(BaseModel):
    """Anything that goes over the wire. Bodies are strict: no text is taken for a number."""

    model_config = ConfigDict(strict=True)

    @classmethod
    def __get_pydantic_json_schema__(cls, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        """Without defaults: a generator of clients takes what has one for a field that is always there."""
        found = handler(schema)
        for field in handler.resolve_ref_schema(found).get("properties", {}).values():
            field.pop("default", None)
        return found


class WholeReply(Wire):
    """Every field is always sent, if only as null."""

    model_config = ConfigDict(json_schema_serialization_defaults_required=True)


def dumped(model: BaseModel, *, exclude_none: bool = False, exclude_unset: bool = False) -> str:
    """ASCII on one line. Not pydantic's own JSON: it fails on the half of a surrogate pair that a model may say."""
    value = model.model_dump(mode="json", exclude_none=exclude_none, exclude_unset=exclude_unset)
    return json.dumps(value, separators=(",", ":"))


def encoded(model: BaseModel) -> bytes:
    return dumped(model).encode()


def similarity(score: float) -> float:
    return round(min(1.0, max(0.0, score)), 4) if math.isfinite(score) else 0.0


def snippet(passage: Passage, quote: str = "") -> str:
    """At most 500 characters of a passage: its beginning, or from the quote on when that stands further down."""
    end = passage.text.find(quote) + len(quote) if quote else 0
    if end <= SNIPPET:
        return passage.text[:SNIPPET]
    return passage.text[end - len(quote) :][:SNIPPET]


def cut(quote: str, span: SelectionSpan) -> tuple[str, SelectionSpan]:
    """A quote and its place in the selection, cut together: the place is always exactly the text that is shown."""
    if len(quote) <= SNIPPET:
        return quote, span
    shown = quote[:SNIPPET]
    last = span.line_start + shown.count("\n")
    return shown, SelectionSpan(span.char_start, span.char_start + SNIPPET, span.line_start, last)
