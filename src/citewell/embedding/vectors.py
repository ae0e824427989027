"""Rows of vectors: made in slices, several at a time, and checked for what every embedder promises."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from citewell.errors import EmbeddingError
from citewell.values import Vector

_SMALLEST_NORM = 1e-6


def unit_rows(rows: NDArray[np.floating], *, source: str) -> Vector:
    """The rows brought to length one, float32; rows without a direction raise EmbeddingError."""
    wide = rows.astype(np.float64)
    if not np.isfinite(wide).all():
        raise EmbeddingError(f"{source} made a vector with values that are not finite.")
    largest = np.abs(wide).max(axis=-1, keepdims=True)
    if (largest < _SMALLEST_NORM).any():
        raise EmbeddingError(f"{source} made a vector of length zero.")
    wide /= largest  # so that no square overflows
    unit: Vector = (wide / np.linalg.norm(wide, axis=-1, keepdims=True)).astype(np.float32)
    return unit


async def in_slices(
    texts: Sequence[str],
    embed: Callable[[Sequence[str]], Awaitable[Vector]],
    *,
    dimensions: int,
    size: int,
    at_once: int,
) -> Vector:
    """One row for each text, by calls of `embed` with at most `size` texts; the first failure stops the rest."""
    rows = np.empty((len(texts), dimensions), dtype=np.float32)
    starts = iter(range(0, len(texts), size))

    async def work() -> None:
        for start in starts:
            rows[start : start + size] = await embed(texts[start : start + size])

    try:
        async with asyncio.TaskGroup() as group:
            for _ in range(min(at_once, -(-len(texts) // size))):
                group.create_task(work())
    except ExceptionGroup as failed:
        raise failed.exceptions[0] from None
    return rows
