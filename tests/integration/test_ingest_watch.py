import asyncio
from pathlib import Path

import pytest

from citewell.errors import IngestError
from citewell.ingest import IngestOptions, changes, source_of


async def test_a_watched_folder_tells_of_a_changed_page(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("One.")
    told = changes(source_of(str(tmp_path), IngestOptions()))
    waiting = asyncio.ensure_future(anext(told))

    async def keep_writing() -> None:
        # The watcher needs a moment to be in place: write until it has told.
        count = 0
        while not waiting.done():
            count += 1
            (tmp_path / "a.md").write_text(f"One {count}.")
            await asyncio.sleep(0.1)

    await asyncio.gather(waiting, keep_writing())
    await told.aclose()


async def test_a_site_cannot_be_watched() -> None:
    with pytest.raises(IngestError, match="Only a folder"):
        await anext(changes(source_of("https://book.example.com/", IngestOptions())))
