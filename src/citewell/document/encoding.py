"""Blocks as JSON and back: as the index keeps them and as `/book/page` gives them. Defaults are left out."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from typing import get_args

from citewell.document.blocks import Block, Part, Row, Table
from citewell.errors import SchemaValidationError

Json = str | int | list["Json"] | dict[str, "Json"]

KINDS: dict[str, type[Block]] = {
    re.sub("(?<=[a-z])(?=[A-Z])", "_", kind.__name__).lower(): kind for kind in get_args(Block)
}
"""By the names that they have in JSON: `list_item` for ListItem."""
_NAMES = {kind: name for name, kind in KINDS.items()}
_OWN = {
    kind: [f.name for f in fields(kind) if f.name in kind.__match_args__ and kind is not Table]
    for kind in KINDS.values()
}
"""The fields that only this kind has, all of them text or whole numbers."""
_PARTS = frozenset(get_args(Part))


def type_name(block: Block) -> str:
    return _NAMES[type(block)]


def blocks_to_json(blocks: Iterable[Block]) -> list[dict[str, Json]]:
    return [_to_json(block) for block in blocks]


def blocks_from_json(data: object) -> tuple[Block, ...]:
    """Raises SchemaValidationError for what `blocks_to_json` did not make."""
    try:
        if not isinstance(data, list):
            raise TypeError("a list is expected")
        return tuple(_from_json(entry) for entry in data)
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise SchemaValidationError("A page's blocks cannot be read. Ingest the book again.") from error


def _to_json(block: Block) -> dict[str, Json]:
    kind = type(block)
    data: dict[str, Json] = {"type": _NAMES[kind], "start": block.start, "end": block.end}
    if block.anchor:
        data["anchor"] = block.anchor
    if block.part != "body":
        data["part"] = block.part
    if block.within:
        data["within"] = list(block.within)
    if block.divided:
        data["divided"] = list(block.divided)
    if isinstance(block, Table):
        data["header"] = list(block.header)
        data["rows"] = [[row.start, row.end, *row.cells] for row in block.rows]
        return data
    for name in _OWN[kind]:
        value = getattr(block, name)
        if value != "":
            data[name] = value
    return data


def _from_json(data: Mapping[str, object]) -> Block:
    kind = KINDS[str(data["type"])]
    part = data.get("part", "body")
    if part not in _PARTS:
        raise ValueError(part)
    divided = _numbers(data.get("divided", ()))
    shared: dict[str, object] = {
        "start": _number(data["start"]),
        "end": _number(data["end"]),
        "anchor": str(data.get("anchor", "")),
        "part": part,
        "within": _numbers(data.get("within", ())),
        "divided": (divided[0], divided[1]) if divided else None,
    }
    if kind is Table:
        header, rows = data["header"], data["rows"]
        if not isinstance(header, list) or not isinstance(rows, list):
            raise TypeError("a table has lists")
        shared["header"] = tuple(map(str, header))
        shared["rows"] = tuple(Row(tuple(map(str, cells)), _number(start), _number(end)) for start, end, *cells in rows)
    else:
        shared.update({name: data.get(name, "") for name in _OWN[kind]})
    return kind(**shared)  # type: ignore[arg-type]  # the fields are those of the kind, checked by the round trip


def _number(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no place")
    return value


def _numbers(values: object) -> tuple[int, ...]:
    return tuple(map(_number, values)) if isinstance(values, Sequence) else ()
