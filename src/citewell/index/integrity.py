"""Integrity check, a look at every passage of a generation: are they what was written? Pure."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from citewell.index.payload import content_hash
from citewell.values import Generation, PageEntry, Passage, Vector


@dataclass(frozen=True, slots=True)
class Integrity:
    """What the look found; ids of passages, sorted."""

    generation: Generation
    passages: int = 0
    altered: tuple[str, ...] = ()
    """The text does not have the hash that was stored with it."""
    orphans: tuple[str, ...] = ()
    """Passages of no page of the table of contents."""
    duplicates: tuple[str, ...] = ()
    """A second passage for the same place of a page."""
    broken_vectors: tuple[str, ...] = ()
    damaged_files: tuple[str, ...] = ()
    """Not what was written; with any, the passages are not looked at."""

    @property
    def sound(self) -> bool:
        found = self.altered or self.orphans or self.duplicates or self.broken_vectors or self.damaged_files
        return not found and self.passages == self.generation.passages

    def as_json(self) -> dict[str, object]:
        return {
            "generation": self.generation.id,
            "embedder": self.generation.embedder,
            "passages": self.passages,
            "passages_published": self.generation.passages,
            "altered": list(self.altered),
            "orphans": list(self.orphans),
            "duplicates": list(self.duplicates),
            "broken_vectors": list(self.broken_vectors),
            "damaged_files": list(self.damaged_files),
            "sound": self.sound,
        }


def inspected(
    generation: Generation, pages: Iterable[PageEntry], stored: Iterable[tuple[Passage, Vector]]
) -> Integrity:
    urls = {page.url for page in pages}
    places: set[tuple[str, int]] = set()
    passages = 0
    altered, orphans, duplicates, broken = [], [], [], []
    for passage, vector in stored:
        passages += 1
        place = (passage.url, passage.chunk_index)
        if content_hash(passage) != passage.content_hash:
            altered.append(passage.id)
        if passage.url not in urls:
            orphans.append(passage.id)
        if place in places:
            duplicates.append(passage.id)
        if vector.shape != (generation.dimensions,) or not abs(float(np.linalg.norm(vector)) - 1.0) < 1e-2:
            broken.append(passage.id)
        places.add(place)
    found = (tuple(sorted(ids)) for ids in (altered, orphans, duplicates, broken))
    return Integrity(generation, passages, *found)
