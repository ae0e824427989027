"""Waiting for a folder to change. The only module that imports watchfiles."""

from collections.abc import AsyncGenerator

from watchfiles import Change, awatch

from citewell.errors import IngestError
from citewell.ingest.sources import BOOK_SUFFIXES, SUFFIXES, Source

_SUFFIXES = (*SUFFIXES, *BOOK_SUFFIXES, ".json", ".yml", ".yaml", ".toml", ".js", ".ts", ".mjs", ".py", ".rs", ".txt")


async def changes(source: Source) -> AsyncGenerator[None, None]:
    """Yields after each burst of changes to the source's files. Raises IngestError when it is no folder."""
    if source.folder is None:
        raise IngestError("Only a folder can be watched; a site cannot.")
    async for _ in awatch(source.folder, watch_filter=_concerns_pages, debounce=500):
        yield


def _concerns_pages(_: Change, path: str) -> bool:
    return path.lower().endswith(_SUFFIXES) and "/node_modules/" not in path and "/.git/" not in path
