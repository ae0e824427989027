"""Generations of the embedded index under kills, full disks, races and damage."""

import asyncio
import json
import signal
import subprocess
import sys
import textwrap
import uuid
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from citewell.errors import CollectionNotFoundError, IngestError, IngestRunningError, SchemaValidationError
from citewell.index.edge import EdgeIndex, EdgeWriter
from citewell.index.payload import content_hash
from citewell.values import Generation, Passage, Vector

VECTOR: Vector = np.array([1.0, 0.0, 0.0, 0.0], dtype=np.float32)


def passage(text: str) -> Passage:
    made = Passage(str(uuid.uuid5(uuid.NAMESPACE_URL, text)), "https://book.example/a", "A", text, 0, 0, len(text))
    return replace(made, content_hash=content_hash(made))


async def publish(folder: Path, *texts: str) -> Generation:
    draft = await EdgeWriter(folder).begin(embedder="toy", dimensions=4)
    await draft.add([passage(text) for text in texts], np.stack([VECTOR] * len(texts)))
    return await draft.publish()


async def served(index: EdgeIndex) -> set[str]:
    return {hit.passage.text for hit in await index.candidates("x", VECTOR, limit=10, filters={})}


_RUN = textwrap.dedent(
    """
    import asyncio, sys
    from pathlib import Path
    import numpy as np
    from citewell.index.edge import EdgeWriter
    from citewell.values import Passage

    async def main():
        draft = await EdgeWriter(Path(sys.argv[1])).begin(embedder="toy", dimensions=4)
        passage = Passage("5c56c793-69f3-4fbf-87e6-c4bf54c28c26", "https://book.example/b", "B", "new", 0, 0, 3)
        await draft.add([passage], np.array([[1.0, 0.0, 0.0, 0.0]], dtype=np.float32))
        print("added", flush=True)
        sys.stdin.readline()
        await draft.publish()
        print("published", flush=True)

    asyncio.run(main())
    """
)


def start_run(folder: Path) -> "subprocess.Popen[str]":
    run = subprocess.Popen(
        [sys.executable, "-c", _RUN, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert run.stdout is not None
    assert run.stdout.readline() == "added\n"
    return run


def end(run: "subprocess.Popen[str]") -> None:
    run.communicate()


async def test_a_run_killed_while_writing_leaves_the_old_generation_and_no_lock(tmp_path: Path) -> None:
    old = await publish(tmp_path, "old")
    run = start_run(tmp_path)
    with pytest.raises(IngestRunningError, match=str(run.pid)):
        await EdgeWriter(tmp_path).begin(embedder="toy", dimensions=4)
    run.send_signal(signal.SIGKILL)
    end(run)
    assert await EdgeIndex(tmp_path).current() == old
    assert list((tmp_path / "drafts").iterdir())
    await publish(tmp_path, "newer")
    assert list((tmp_path / "drafts").iterdir()) == []
    assert await served(EdgeIndex(tmp_path)) == {"newer"}


async def test_a_run_of_another_process_is_seen_by_an_open_reader(tmp_path: Path) -> None:
    await publish(tmp_path, "old")
    index = EdgeIndex(tmp_path)
    assert await served(index) == {"old"}
    run = start_run(tmp_path)
    assert run.stdin is not None
    run.stdin.write("\n")
    end(run)
    assert run.returncode == 0
    assert await served(index) == {"new"}


@pytest.mark.fault("index deleted under load", "the open generation serves on")
async def test_a_reader_keeps_serving_a_generation_whose_files_are_gone(tmp_path: Path) -> None:
    await publish(tmp_path, "one")
    reader = EdgeIndex(tmp_path)
    old = await asyncio.to_thread(reader._open)
    for text in ("two", "three", "four"):
        await publish(tmp_path, text)
    assert not (tmp_path / "generations" / old.generation.id).exists()
    assert [p.text for p in await asyncio.to_thread(old.passages_of, "https://book.example/a")] == ["one"]
    assert await served(reader) == {"four"}


@pytest.mark.fault("generation swapped under load", "one whole generation, always")
async def test_searches_during_publications_always_see_one_whole_generation(tmp_path: Path) -> None:
    await publish(tmp_path, "0a", "0b")
    index = EdgeIndex(tmp_path)
    seen: list[set[str]] = []
    done = asyncio.Event()

    async def search() -> None:
        while not done.is_set():
            seen.append(await served(index))

    async with asyncio.TaskGroup() as group:
        for _ in range(3):
            group.create_task(search())
        for number in range(1, 4):
            await publish(tmp_path, f"{number}a", f"{number}b")
        done.set()
    assert all(texts in [{f"{n}a", f"{n}b"} for n in range(4)] for texts in seen)
    assert await served(index) == {"3a", "3b"}


async def test_an_orphaned_generation_without_a_pointer_is_not_served_and_swept_later(tmp_path: Path) -> None:
    """What a kill between the rename of the folder and of the pointer leaves."""
    old = await publish(tmp_path, "old")
    lost = await publish(tmp_path, "lost")
    (tmp_path / "current").write_text(old.id)
    assert await served(EdgeIndex(tmp_path)) == {"old"}
    new = await publish(tmp_path, "new")
    assert [g.id for g in await EdgeWriter(tmp_path).generations()] == [new.id, old.id]
    assert not (tmp_path / "generations" / lost.id).exists()


@pytest.mark.fault("disk full while ingesting", "one line, nothing changes")
async def test_a_full_disk_is_one_line_and_changes_nothing(tmp_path: Path) -> None:
    old = await publish(tmp_path, "old")
    draft = await EdgeWriter(tmp_path, spare_bytes=2**60).begin(embedder="toy", dimensions=4)
    with pytest.raises(IngestError, match="free") as caught:
        await draft.add([passage("new")], VECTOR[None, :])
    await draft.discard()
    assert "\n" not in str(caught.value)
    assert await EdgeIndex(tmp_path).current() == old


async def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "index").write_text("a file stands where the folder should be")
    with pytest.raises(IngestError) as caught:
        await EdgeWriter(tmp_path / "index").begin(embedder="toy", dimensions=4)
    assert "\n" not in str(caught.value)


async def test_a_manifest_of_a_later_version_is_refused(tmp_path: Path) -> None:
    made = await publish(tmp_path, "old")
    manifest = tmp_path / "generations" / made.id / "generation.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"schema_version": 99}))
    with pytest.raises(SchemaValidationError, match="99"):
        await EdgeIndex(tmp_path).current()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema_version": 1}'])
async def test_a_damaged_manifest_is_an_error_and_the_next_run_repairs_it(tmp_path: Path, content: str) -> None:
    made = await publish(tmp_path, "old")
    (tmp_path / "generations" / made.id / "generation.json").write_text(content)
    with pytest.raises(SchemaValidationError):
        await EdgeIndex(tmp_path).current()
    await publish(tmp_path, "new")
    assert await served(EdgeIndex(tmp_path)) == {"new"}


async def test_a_pointer_to_nowhere_is_an_error(tmp_path: Path) -> None:
    await publish(tmp_path, "old")
    (tmp_path / "current").write_text("20200101T000000000000-abcdef\n")
    with pytest.raises(SchemaValidationError):
        await EdgeIndex(tmp_path).current()


async def test_two_processes_read_side_by_side(tmp_path: Path) -> None:
    await publish(tmp_path, "old")
    here, there = EdgeIndex(tmp_path), EdgeIndex(tmp_path)
    assert await served(here) == await served(there) == {"old"}
    script = (
        "import asyncio, sys; from pathlib import Path; from citewell.index.edge import EdgeIndex;"
        "print(asyncio.run(EdgeIndex(Path(sys.argv[1])).current()).passages)"
    )
    out = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-c", script, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert out.stdout == "1\n"


async def test_no_index_is_named_with_the_remedy(tmp_path: Path) -> None:
    with pytest.raises(CollectionNotFoundError, match="citewell ingest"):
        await EdgeIndex(tmp_path).current()
    with pytest.raises(CollectionNotFoundError):
        await EdgeWriter(tmp_path).integrity()


async def test_a_book_written_in_several_openings_of_its_shard_is_whole(tmp_path: Path) -> None:
    texts = [f"passage number {n}" for n in range(1000)]
    draft = await EdgeWriter(tmp_path, release_every=300).begin(embedder="toy", dimensions=4)
    pages = [replace(passage(t), url=f"https://book.example/{n // 10}", chunk_index=n) for n, t in enumerate(texts)]
    for first in range(0, 1000, 250):
        await draft.add(pages[first : first + 250], np.stack([VECTOR] * 250))
    generation = await draft.publish()
    assert (generation.pages, generation.passages) == (100, 1000)
    index = EdgeIndex(tmp_path)
    for n in (0, 29, 30, 77, 99):
        found = await index.passages_of(f"https://book.example/{n}")
        assert [p.text for p in found] == texts[10 * n : 10 * n + 10]
    assert (await EdgeWriter(tmp_path).integrity()).sound
