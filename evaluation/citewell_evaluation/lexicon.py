"""Makes the word knowledge of the support judge: `python -m citewell_evaluation.lexicon WORDNET_DICT OUT.npz`.

Vectors are the built-in embedder's for single words, reduced and rounded; relations are WordNet's. Run by hand only.
"""

import asyncio
import json
import re
import sys
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from citewell.embedding.builtin import ASSETS, BuiltinEmbedder
from citewell.models import Vector
from citewell.text import stem

DIMENSIONS = 96
LEAST_LIKENESS = 0.3
"""Measured: without this filter the judge loses half a point of balanced accuracy."""
_SENSES = {"noun": 3, "verb": 3, "adj": 3, "adv": 2}
_DEPTH = {"noun": 4, "verb": 1, "adj": 0, "adv": 0}
PartOfSpeech = Literal["noun", "verb", "adj", "adv"]


@dataclass(frozen=True, slots=True)
class Synset:
    words: tuple[str, ...]
    broader: tuple[str, ...]
    opposites: tuple[tuple[str, int, int], ...]
    """Synset, source word and target word (counted from 1; 0 is every word)."""
    similar: tuple[str, ...]
    derived: tuple[tuple[str, int, int], ...]


def vocabulary(tokenizer: Path) -> list[str]:
    """Whole words of the embedder's vocabulary, the frequent first."""
    ids: dict[str, int] = json.loads(tokenizer.read_text("utf-8"))["model"]["vocab"]
    return [w for w, _ in sorted(ids.items(), key=lambda item: item[1]) if re.fullmatch(r"[a-z]{2,}", w)]


def stems_of(words: list[str]) -> tuple[list[str], list[int]]:
    """The stems, each at the rank of its most frequent form, and that form's place among the words."""
    seen: dict[str, int] = {}
    for rank, word in enumerate(words):
        seen.setdefault(stem(word), rank)
    return list(seen), list(seen.values())


def reduced(vectors: Vector) -> NDArray[np.int8]:
    """Principal components without the mean, of length one, in 8 bits."""
    centred = vectors - vectors.mean(axis=0)
    _, _, axes = np.linalg.svd(centred[:8000], full_matrices=False)
    projected = centred @ axes[:DIMENSIONS].T
    projected /= np.linalg.norm(projected, axis=1, keepdims=True)
    small: NDArray[np.int8] = np.clip(np.round(projected * 127), -127, 127).astype(np.int8)
    return small


def read_synsets(folder: Path) -> dict[str, Synset]:
    found: dict[str, Synset] = {}
    for part in _SENSES:
        for line in (folder / f"data.{part}").read_text("latin-1").splitlines():
            if line.startswith("  "):
                continue
            fields = line.split(" | ")[0].split()
            count = int(fields[3], 16)
            words = tuple(re.sub(r"\(.*\)", "", w).lower() for w in fields[4 : 4 + 2 * count : 2])
            pointers = fields[5 + 2 * count :]
            found[f"{part}{fields[0]}"] = _synset(words, pointers)
    return found


def _synset(words: tuple[str, ...], pointers: list[str]) -> Synset:
    parts = {"n": "noun", "v": "verb", "a": "adj", "s": "adj", "r": "adv"}
    links: dict[str, list[tuple[str, int, int]]] = defaultdict(list)
    for i in range(0, len(pointers) - 3, 4):
        symbol, offset, part, ends = pointers[i : i + 4]
        if part in parts and len(ends) == 4:
            source, target = (int(half, 16) for half in (ends[:2], ends[2:]))
            links[symbol[:1]].append((parts[part] + offset, source, target))
    return Synset(
        words,
        tuple(s for s, _, _ in links["@"]),
        tuple(links["!"]),
        tuple(s for s, _, _ in links["&"]),
        tuple(links["+"]),
    )


def senses_of(folder: Path) -> dict[str, list[str]]:
    """Lemma to its synsets, the usual senses first, over all parts of speech."""
    found: dict[str, list[str]] = defaultdict(list)
    for part, most in _SENSES.items():
        for line in (folder / f"index.{part}").read_text("latin-1").splitlines():
            if line.startswith("  "):
                continue
            fields = line.split()
            offsets = fields[6 + int(fields[3]) :]
            found[fields[0]].extend(part + offset for offset in offsets[:most])
    return found


class Relations:
    """WordNet between the stems of the vocabulary."""

    def __init__(self, stems: list[str], words: list[str], folder: Path) -> None:
        self._row = {s: i for i, s in enumerate(stems)}
        self._words = words
        self._synsets = read_synsets(folder)
        self._senses = senses_of(folder)

    def entailing(self) -> dict[int, set[int]]:
        """Row of a word to the rows of the words that say as much: synonyms, derived words, narrower words."""
        found: dict[int, set[int]] = defaultdict(set)
        for word in self._words:
            source = self._row[stem(word)]
            for name in self._senses.get(word, ()):
                for target in self._said_by(name, word):
                    if target != source:
                        found[target].add(source)
        return found

    def _said_by(self, name: str, word: str) -> set[int]:
        synset = self._synsets[name]
        rows = self._rows(synset.words)
        for target, source_word, target_word in synset.derived:
            if source_word and synset.words[source_word - 1] == word:
                rows |= self._rows((self._synsets[target].words[target_word - 1],))
        part = re.sub(r"\d", "", name)
        level = set(synset.broader)
        for _ in range(_DEPTH[part]):
            rows |= {r for s in level for r in self._rows(self._synsets[s].words)}
            level = {b for s in level for b in self._synsets[s].broader}
        return rows

    def opposites(self) -> dict[int, set[int]]:
        found: dict[int, set[int]] = defaultdict(set)
        for word in self._words:
            for name in self._senses.get(word, ()):
                synset = self._synsets[name]
                for target, source_word, target_word in synset.opposites:
                    if source_word and synset.words[source_word - 1] != word:
                        continue
                    others = self._synsets[target].words
                    for row in self._rows((others[target_word - 1],) if target_word else others):
                        found[self._row[stem(word)]].add(row)
                        found[row].add(self._row[stem(word)])
        return found

    def parents(self, count: int) -> NDArray[np.int32]:
        """A number for the direct broader sense of each noun's first sense; -1 when there is none."""
        numbers: dict[str, int] = {}
        parents = np.full(count, -1, dtype=np.int32)
        for word in self._words:
            names = [n for n in self._senses.get(word, ()) if n.startswith("noun")]
            row = self._row[stem(word)]
            if names and parents[row] < 0 and self._synsets[names[0]].broader:
                parent = self._synsets[names[0]].broader[0]
                parents[row] = numbers.setdefault(parent, len(numbers))
        return parents

    def _rows(self, words: tuple[str, ...]) -> set[int]:
        return {self._row[s] for w in words if w.isalpha() and (s := stem(w)) in self._row}


def alike(links: dict[int, set[int]], vectors: NDArray[np.int8], least: float = LEAST_LIKENESS) -> dict[int, set[int]]:
    """Only links between words whose vectors are near: WordNet knows senses that nobody means."""
    scaled = vectors.astype(np.float32) / 127
    return {row: {o for o in others if float(scaled[row] @ scaled[o]) > least} for row, others in links.items()}


def packed(links: dict[int, set[int]], count: int) -> tuple[NDArray[np.int32], NDArray[np.uint16]]:
    """Adjacency as offsets and targets."""
    offsets = np.zeros(count + 1, dtype=np.int32)
    targets: list[int] = []
    for row in range(count):
        targets.extend(sorted(links.get(row, ())))
        offsets[row + 1] = len(targets)
    return offsets, np.array(targets, dtype=np.uint16)


async def make(wordnet: Path, out: Path) -> None:
    words = vocabulary(ASSETS / "tokenizer.json")
    stems, places = stems_of(words)
    embedder = BuiltinEmbedder()
    vectors = await embedder.embed_passages([words[p] for p in places])
    await embedder.aclose()
    relations = Relations(stems, words, wordnet)
    small = reduced(vectors)
    entail_offsets, entail_targets = packed(alike(relations.entailing(), small), len(stems))
    opposite_offsets, opposite_targets = packed(relations.opposites(), len(stems))
    np.savez_compressed(
        out,
        stems=np.array(" ".join(stems)),
        ranks=np.array(places, dtype=np.uint16),
        vectors=small,
        entail_offsets=entail_offsets,
        entail_targets=entail_targets,
        opposite_offsets=opposite_offsets,
        opposite_targets=opposite_targets,
        parents=relations.parents(len(stems)),
    )


if __name__ == "__main__":
    asyncio.run(make(Path(sys.argv[1]), Path(sys.argv[2])))
