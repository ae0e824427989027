"""An embedded index whose files are damaged: every call says so, health tells, and a new run repairs it."""

import asyncio
import os
import random
from contextlib import aclosing
from pathlib import Path

import pytest

from citewell.embedding import BuiltinEmbedder
from citewell.errors import IndexDamagedError, RetrievalError
from citewell.index.edge import EdgeIndex, EdgeWriter
from citewell.index.edge_shard import translated
from citewell.ingest import IngestOptions, ingest, source_of
from tests.integration.test_edge_generations import VECTOR, publish, served

PANICS = "payload_storage/tracker.dat"
"""Damaged, it makes Rust panic, which Python sees as a BaseException of a class that cannot be imported."""
RAISES = "payload_storage/page_0.dat"
"""Damaged, it makes Edge raise a bare Exception."""


def damage(folder: Path, name: str, *, generation: str = "*") -> None:
    """Overwrite with noise, in place: whoever has a file mapped sees it."""
    for path in folder.glob(f"generations/{generation}/shard/segments/*/{name}"):
        with path.open("r+b") as file:
            file.write(random.Random(1).randbytes(min(path.stat().st_size, 200_000)))


def vectors_of(folder: Path) -> Path:
    (path,) = folder.glob("generations/*/shard/segments/*/vector_storage-dense/vectors/chunk_0.mmap")
    return path


@pytest.mark.fault("index damaged under load", "an error with the remedy, no dead process")
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


@pytest.mark.fault("index, one bit", "found before the next search and by index check")
async def test_damage_that_no_search_would_meet_is_found_before_the_next_one_until_it_is_mended(tmp_path: Path) -> None:
    """One bit of a vector: Edge would rank by it and say nothing."""
    await publish(tmp_path, "text")
    index = EdgeIndex(tmp_path)
    await index.ping()
    path = vectors_of(tmp_path)
    sound = path.read_bytes()
    with path.open("r+b") as file:
        file.write(bytes([sound[0] ^ 1]))
    for ask in (index.candidates("x", VECTOR, limit=10, filters={}), index.ping(), index.current(), index.ping()):
        with pytest.raises(IndexDamagedError, match=r"chunk_0\.mmap is not what was written"):
            await ask
    checked = await EdgeWriter(tmp_path).integrity()
    assert (checked.sound, len(checked.damaged_files)) == (False, 1)
    with path.open("r+b") as file:
        file.write(sound[:1])
    await index.ping()
    assert await served(index) == {"text"}
    assert (await EdgeWriter(tmp_path).integrity()).sound


@pytest.mark.fault("index damaged at rest", "found at open, before Rust reads it")
@pytest.mark.parametrize("harm", ["shorter", "gone", "manifest"])
async def test_damage_is_found_when_the_index_is_opened(tmp_path: Path, harm: str) -> None:
    """A file cut short makes Rust end the process, so that it must not get to read it."""
    generation = await publish(tmp_path, "text")
    home = tmp_path / "generations" / generation.id
    payloads = next(home.glob("shard/segments/*/payload_storage/page_0.dat"))
    if harm == "shorter":
        os.truncate(payloads, 100)
    elif harm == "gone":
        payloads.unlink()
    else:
        manifest = home / "generation.json"
        manifest.write_text(manifest.read_text("utf-8").replace('"passages": 1', '"passages": 2'), "utf-8")
    with pytest.raises(IndexDamagedError):
        await EdgeIndex(tmp_path).current()


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


@pytest.mark.fault("index damaged, ingested again", "repaired")
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
