"""A passage prepared for judging: its sentences and rows, read once, with arrays for the words."""

import itertools
import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from citewell.document import read_plain, sentences
from citewell.grounding.claims import Reading, Word, read
from citewell.grounding.lexicon import lexicon
from citewell.grounding.quantities import Quantity

FloatArray = NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Evidence:
    """A passage prepared for judging: its sentences, and one row of arrays for each content word."""

    text: str
    sentences: tuple[Sentence, ...]
    readings: tuple[Reading, ...]
    amounts: tuple[Quantity, ...]
    words: tuple[Word, ...]
    rows: NDArray[np.int32]
    vectors: FloatArray
    starts: NDArray[np.int64]
    """Where each sentence begins among the words."""
    places: dict[str, tuple[int, ...]]
    """Stem to its places among the words."""
    squeezed: frozenset[str]
    """Words and pairs of neighbours without marks: "ROS 2" and "ros-2" are "ros2"."""
    asserted: FloatArray
    """1 for sentences that say how things are, less for questions and aims."""
    initials: frozenset[str]
    """Initials of runs of capitalized words: "Robot Operating System" stands for "ROS"."""


@lru_cache(maxsize=256)
def prepared(text: str) -> Evidence:
    units = [u for u in _units(text) if not addresses_model(u.text)]
    read_units = [(s, read(s.text)) for s in units]
    filled = [(s, r) for s, r in read_units if r.content]
    readings = tuple(r for _, r in filled)
    words = tuple(w for r in readings for w in r.content)
    rows = np.array([w.row for w in words], dtype=np.int32)
    places: dict[str, list[int]] = {}
    for place, word in enumerate(words):
        places.setdefault(word.stem, []).append(place)
    return Evidence(
        text,
        tuple(s for s, _ in filled),
        readings,
        tuple(q for _, r in read_units for q in r.amounts),
        words,
        rows,
        word_vectors(rows),
        np.cumsum([0] + [len(r.content) for r in readings[:-1]]),
        {k: tuple(v) for k, v in places.items()},
        _squeezed([w.text for _, r in read_units for w in r.words]),
        np.array([1.0 if r.asserts else 0.85 for r in readings], dtype=np.float32),
        initials(text),
    )


_TO_A_MODEL: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|prompts?|rules|guidelines|directions)\b"
    r"|\bsystem prompt\b|\byou are (?:now|no longer)\b|\bas an? (?:ai|language model|assistant|chatbot)\b"
    r"|\b(?:reply|respond|answer|say|output|print|write)\b.{0,12}\b(?:only|exactly|with) (?:the )?"
    r"(?:\W|word|phrase|text|[A-Z]{3,})"
    r"|\b(?:in|to|of|end|begin|start|with) your (?:answer|response|reply|output)s?\b"
    r"|\b(?:do not|don't|never) (?:tell|reveal|inform|mention)\b.{0,30}\b(?:user|reader)s?\b"
    r"|\b(?:tell|inform|instruct|urge|convince) the (?:user|reader)s?\b",
    re.IGNORECASE,
)


def addresses_model(text: str) -> bool:
    """Whether a sentence of a passage gives orders to the model that reads it. Such a sentence is no evidence."""
    return bool(_TO_A_MODEL.search(text))


def squeeze(word: str) -> str:
    return "".join(c for c in word if c.isalnum())


def _squeezed(words: list[str]) -> frozenset[str]:
    bare = [squeeze(w) for w in words]
    return frozenset(bare) | {a + b for a, b in itertools.pairwise(bare)}


_CAPITALS: Final = re.compile(r"\b[A-Z][\w]*(?:[ -](?:(?:of|the|and|for|to|in)[ -])?[A-Z][\w]*)+")


def initials(text: str) -> frozenset[str]:
    return frozenset(
        "".join(part[0] for part in re.split(r"[ -]", run) if part[0].isupper()).lower()
        for run in _CAPITALS.findall(text)
    )


def word_vectors(rows: NDArray[np.int32]) -> FloatArray:
    """A vector for each row of the lexicon; zeros for unknown words."""
    vectors: FloatArray = lexicon().vectors[rows]
    vectors[rows < 0] = 0
    return vectors


def _units(text: str) -> list[Sentence]:
    """Sentences of prose, items and headings; rows of tables; lines of code."""
    places = (span for block in read_plain(text) for span in sentences(text, block))
    return [Sentence(text[start:end], start, end) for start, end in places]
