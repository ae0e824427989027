"""Texts as BM25 sparse vectors, the same for Edge and server. Words are Qdrant's own BM25 tokens; identifiers such
as `nav2_bringup` or `--ros-args`, which its tokenizer cuts apart, are added whole.
"""

import re
import zlib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import qdrant_edge

from citewell.index import Hint

AVERAGE_LENGTH = 120.0
"""In tokens. Fixed, not measured: passages of one splitter are of one size, and a generation is written as it comes."""
_K = 1.2
_B = 0.75
_IDENTIFIER = re.compile(
    r"(?:--?)?[^\W_]+(?:[-_.:/]{1,2}[^\W_]+)+|--[^\W_]+|[^\W\d_]+\d[^\W_]*|\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b"
)
_TOKEN = re.compile(r"[^\W_]+")
_RUN = re.compile(r"[\w\-.:/]+")
"""What no token and no identifier reaches beyond."""
_MARKS = ".,;:!?()[]{}\"'`*<>|/$&=+@#%^~\\"
"""What may stand around a word without making it an identifier, as a hyphen does."""
_KEPT_LENGTH = 64
"""Longer words are data, and would fill the memory."""


@dataclass(frozen=True, slots=True)
class Terms:
    """A sparse vector."""

    ids: list[int]
    weights: list[float]


class Bm25Encoder:
    def __init__(self) -> None:
        self._words = qdrant_edge.Bm25(qdrant_edge.Bm25Config(k=_K, b=_B, avg_len=AVERAGE_LENGTH))

    def of_passage(self, text: str) -> Terms:
        words = self._words.embed_document(text)
        length, found = 0, list[int]()
        for word in text.split():
            tokens, ids = _of_word(word) if len(word) <= _KEPT_LENGTH else _counted(word)
            length += tokens
            found += ids
        norm = _K * (1 - _B + _B * length / AVERAGE_LENGTH)
        whole = {term: count * (_K + 1) / (count + norm) for term, count in Counter(found).items()}
        terms = dict(zip(words.indices, words.values, strict=True)) | whole
        return Terms(list(terms), list(terms.values()))

    def of_query(self, text: str, hints: Sequence[Hint] = ()) -> Terms:
        terms: dict[int, float] = {}
        for said, weight in (*((hint.text, hint.weight) for hint in hints), (text, 1.0)):
            for term in (*self._words.embed_query(said).indices, *map(_term_id, identifiers(said))):
                terms[term] = max(weight, terms.get(term, 0.0))
        return Terms(list(terms), list(terms.values()))


def identifiers(text: str) -> list[str]:
    """Names that a tokenizer would cut, lowered, with repetitions: `err_404`, `rclpy.init`, `--ros-args`."""
    return [m.group().lower() for m in _IDENTIFIER.finditer(text)]


def _counted(word: str) -> tuple[int, tuple[int, ...]]:
    """How many tokens it has, and the terms of its identifiers."""
    bare = word.strip(_MARKS)
    if bare.isalpha() and bare[1:].islower():
        return 1, ()
    runs = _RUN.findall(word)
    names = (name for run in runs for name in identifiers(run))
    return sum(len(_TOKEN.findall(run)) for run in runs), tuple(map(_term_id, names))


_of_word = lru_cache(maxsize=2**15)(_counted)
"""The same few thousand words come again and again."""


def _term_id(identifier: str) -> int:
    # A prefix no token can have keeps these apart from the ids of words.
    return zlib.crc32(f"\x00{identifier}".encode()) & 0x7FFFFFFF
