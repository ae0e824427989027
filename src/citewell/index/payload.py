"""Passages as Qdrant payloads and back: the one place that names the stored fields. Imports no Qdrant library."""

import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from datetime import datetime
from hashlib import sha256

import numpy as np

from citewell.document import Block, blocks_from_json, blocks_to_json, read_plain
from citewell.errors import IngestError, SchemaValidationError
from citewell.index import SCHEMA_VERSION
from citewell.values import FILTER_FIELDS, Filters, Generation, PageEntry, Passage, Vector

DENSE = "dense"
BM25 = "bm25"
FILTERED_FIELDS = tuple(field for field in FILTER_FIELDS if field != "chapter")
"""A chapter is a page's title, so its filter needs no index of its own."""

Json = str | int | float | bool | list[str] | None
Payload = dict[str, Json]


def payload_of(passage: Passage, *, position: int, embedder: str) -> Payload:
    """`position` counts the passages of a generation in the order of ingestion."""
    return {
        "chunk_text": passage.text,
        "source_url": passage.url,
        "section_url": passage.section_url,
        "page_title": passage.page_title,
        "section_heading": passage.section_heading,
        "heading_path": list(passage.heading_path),
        "anchor": passage.anchor,
        "module": passage.module,
        "chapter": passage.chapter,
        "language": passage.language,
        "version": passage.version,
        "page_number": passage.page_number,
        "chunk_index": passage.chunk_index,
        "char_start": passage.char_start,
        "char_end": passage.char_end,
        "blocks": json.dumps(blocks_to_json(passage.blocks), separators=(",", ":")),
        "first_block": passage.first_block,
        "content_hash": passage.content_hash or content_hash(passage),
        "position": position,
        "embedder": embedder,
        "schema_version": SCHEMA_VERSION,
    }


def content_hash(passage: Passage) -> str:
    return sha256(passage.embedded_text.encode()).hexdigest()


def passage_of(point_id: str, payload: Mapping[str, object]) -> Passage:
    """Collections of other makers lack most fields: only the text and its page are required."""
    text = payload.get("chunk_text", payload.get("text"))
    url = payload.get("source_url", payload.get("url"))
    if not isinstance(text, str) or not isinstance(url, str):
        raise SchemaValidationError(
            f"Point {point_id} of the collection has no chunk_text or no source_url. Ingest the book again."
        )
    chunk_index = _whole(payload.get("chunk_index", payload.get("chunk_position")), 0)
    start = _whole(payload.get("char_start"), 0)
    page_number = payload.get("page_number")
    return Passage(
        id=point_id,
        url=url,
        page_title=_word(payload.get("page_title")),
        text=text,
        chunk_index=chunk_index,
        char_start=start,
        char_end=_whole(payload.get("char_end"), start + len(text)),
        blocks=_blocks(text, payload.get("blocks")),
        first_block=_whole(payload.get("first_block"), 0),
        heading_path=_path(payload),
        anchor=_word(payload.get("anchor")),
        module=_word(payload.get("module")),
        language=_word(payload.get("language"), "en"),
        version=_word(payload.get("version")),
        page_number=page_number if isinstance(page_number, int) else None,
        content_hash=_word(payload.get("content_hash")),
    )


def _blocks(text: str, stored: object) -> tuple[Block, ...]:
    if not isinstance(stored, str):
        return read_plain(text)
    try:
        return blocks_from_json(json.loads(stored))
    except ValueError as error:
        raise SchemaValidationError("A passage's blocks cannot be read. Ingest the book again.") from error


def _path(payload: Mapping[str, object]) -> tuple[str, ...]:
    path = payload.get("heading_path")
    if isinstance(path, list):
        return tuple(str(heading) for heading in path)
    heading = _word(payload.get("section_heading"))
    return (heading,) if heading else ()


def _word(value: object, default: str = "") -> str:
    return value if isinstance(value, str) else default


def _whole(value: object, default: int) -> int:
    return value if isinstance(value, int) else default


def conditions(filters: Filters) -> list[tuple[str, list[str]]]:
    """Each pair must hold: the stored field has one of the values. No values at all match nothing."""
    return [("page_title" if field == "chapter" else field, list(values)) for field, values in filters.items()]


class ContentsTally:
    """The table of contents while it is being written or read."""

    def __init__(self) -> None:
        self._pages: dict[str, tuple[str, str, int]] = {}

    def count(self, url: str, title: str, module: str) -> None:
        known = self._pages.get(url)
        self._pages[url] = (known[0], known[1], known[2] + 1) if known else (title, module, 1)

    def entries(self) -> list[PageEntry]:
        return [PageEntry(url, title, module, passages) for url, (title, module, passages) in self._pages.items()]


def contents_of(payloads: Iterable[Mapping[str, object]]) -> list[PageEntry]:
    """The table of contents from the payloads of all passages, in any order."""
    contents = ContentsTally()
    for payload in sorted(payloads, key=lambda p: _whole(p.get("position"), 0)):
        contents.count(
            _word(payload.get("source_url", payload.get("url"))),
            _word(payload.get("page_title")),
            _word(payload.get("module")),
        )
    return contents.entries()


def manifest_of(generation: Generation) -> dict[str, str | int]:
    return asdict(generation) | {"created_at": generation.created_at.isoformat()}


def generation_of(manifest: Mapping[str, object]) -> Generation:
    """Raises SchemaValidationError for a manifest that this version cannot read."""
    version = manifest.get("schema_version")
    if version != SCHEMA_VERSION:
        raise SchemaValidationError(
            f"The index has schema version {version}; this Citewell reads version {SCHEMA_VERSION}. "
            "Ingest the book again."
        )
    try:
        return Generation(
            id=str(manifest["id"]),
            embedder=str(manifest["embedder"]),
            dimensions=int(str(manifest["dimensions"])),
            created_at=datetime.fromisoformat(str(manifest["created_at"])),
            pages=int(str(manifest["pages"])),
            passages=int(str(manifest["passages"])),
            schema_version=SCHEMA_VERSION,
        )
    except (KeyError, ValueError) as error:
        raise SchemaValidationError("The index's manifest cannot be read. Ingest the book again.") from error


def check_vectors(vectors: Vector, *, rows: int, dimensions: int) -> None:
    """Qdrant takes NaN without a word and then ranks at random."""
    if vectors.shape != (rows, dimensions):
        raise IngestError(f"Expected {rows} vectors of {dimensions} dimensions, got an array of {vectors.shape}.")
    if not np.isfinite(vectors).all():
        raise IngestError("A vector holds NaN or infinity; the embedder is broken.")
    lengths = np.linalg.norm(vectors, axis=1)
    if rows and not np.allclose(lengths, 1.0, atol=1e-2):
        raise IngestError(f"A vector has the length {_farthest(lengths):.3f} instead of 1; the embedder is broken.")


def _farthest(lengths: Vector) -> float:
    return float(max(lengths, key=lambda length: math.fabs(length - 1.0)))
