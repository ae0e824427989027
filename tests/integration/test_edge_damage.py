"""An embedded index whose files are damaged: every call says so, health tells, and a new run repairs it."""

import asyncio
import random
from contextlib import aclosing
from pathlib import Path

import numpy as np
import pytest

from citewell.embedding import BuiltinEmbedder
from citewell.errors import IndexDamagedError, RetrievalError
from citewell.index.edge import EdgeIndex, EdgeWriter
from citewell.index.edge_shard import translated
from citewell.ingest import IngestOptions, ingest, source_of
from tests.integration.test_edge_generations import VECTOR, passage, publish, served

PANICS = "payload_storage/tracker.dat"
"""Damaged, it makes Rust panic, which Python sees as a BaseException of a class that cannot be imported."""
RAISES = "payload_storage/page_0.dat"
"""Damaged, it makes Edge raise a bare Exception."""
HOLDS_TWO = 1024
"""Bytes. The first two passages of a file are before this, most of a hundred are after it."""


def damage(folder: Path, name: str, *, generation: str = "*", after: int = 0) -> list[tuple[Path, bytes]]:
    """Overwrite with noise, in place: whoever has a file mapped sees it. What was there before."""
    before = []
    for path in folder.glob(f"generations/{generation}/shard/segments/*/{name}"):
        with path.open("r+b") as file:
            before.append((path, file.read(200_000)))
            file.seek(after)
            file.write(random.Random(1).randbytes(len(before[-1][1]) - after))
    return before


@pytest.mark.parametrize("name", [PANICS, RAISES])
async def test_damage_under_an_open_index_is_our_error_with_the_remedy(tmp_path: Path, name: str) -> None:
    await publish(tmp_path, "text")
    index = EdgeIndex(tmp_path)
    await index.current()
    damage(tmp_path, name)
    with pytest.raises(IndexDamagedError, match="citewell index back"):
        await index.candidates("x", VECTOR, limit=10, filters={})
    with pytest.raises(IndexDamagedError, match="citewell index back"):
        await index.passages_of("https://book.example/a")


@pytest.mark.parametrize("name", [PANICS, RAISES])
async def test_a_ping_reads_from_the_files(tmp_path: Path, name: str) -> None:
    await publish(tmp_path, "text")
    index = EdgeIndex(tmp_path)
    await index.ping()
    damage(tmp_path, name)
    with pytest.raises(IndexDamagedError):
        await index.ping()


async def test_a_ping_tries_again_what_failed_until_it_succeeds(tmp_path: Path) -> None:
    """Damage may be where a ping by itself does not look."""
    made = sorted((passage(f"text {n}") for n in range(100)), key=lambda made: made.id)
    draft = await EdgeWriter(tmp_path).begin(embedder="toy", dimensions=4)
    for part in (made[:2], made[2:]):  # within one call Edge keeps no order
        await draft.add(part, np.stack([VECTOR] * len(part)))
    await draft.publish()
    index = EdgeIndex(tmp_path)
    await index.ping()
    before = damage(tmp_path, RAISES, after=HOLDS_TWO)
    await index.ping()
    with pytest.raises(IndexDamagedError):
        await index.passages_of("https://book.example/a")
    with pytest.raises(IndexDamagedError):
        await index.ping()
    for path, content in before:
        with path.open("r+b") as file:
            file.write(content)
    await index.ping()


async def test_going_back_serves_the_sound_generation_before(tmp_path: Path) -> None:
    await publish(tmp_path, "old")
    new = await publish(tmp_path, "new")
    index = EdgeIndex(tmp_path)
    damage(tmp_path, RAISES, generation=new.id)
    with pytest.raises(IndexDamagedError):
        await served(index)
    await EdgeWriter(tmp_path).go_back()
    assert await served(index) == {"old"}
    await index.ping()


@pytest.mark.parametrize("name", [RAISES, "segment.json", "vector_storage-bm25/store/page_0.dat"])
async def test_the_same_book_ingested_again_repairs_a_damaged_index(tmp_path: Path, name: str) -> None:
    """Although nothing of the book has changed, so that a sound index would have been left as it is."""
    book, data = tmp_path / "book", tmp_path / "data"
    book.mkdir()
    (book / "a.md").write_text("# A\n\nThe arm lifts 5 kg.\n", "utf-8")
    options = IngestOptions(state_dir=data)
    source, writer = source_of(str(book), options), EdgeWriter(data / "index")
    async with aclosing(BuiltinEmbedder()) as embedder:
        first = await ingest(source, writer, embedder, options, lambda _: None)
        damage(data / "index", name)
        again = await ingest(source, writer, embedder, options, lambda _: None)
    assert first.configuration.generation != again.configuration.generation
    assert (await writer.integrity()).sound
    await EdgeIndex(data / "index").ping()


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit, asyncio.CancelledError])
def test_what_stops_a_program_is_not_taken_for_damage(stop: type[BaseException]) -> None:
    with pytest.raises(stop), translated():
        raise stop


async def test_an_index_that_is_out_of_reach_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    with pytest.raises(RetrievalError, match=r"file cannot be read: Not a directory"):
        await EdgeIndex(file).current()
