"""The whole book in, exactly once: sources, pages, passages, and the run that publishes them."""

from pathlib import Path

from citewell.errors import IngestError
from citewell.ingest.folder import FolderSource
from citewell.ingest.report import IngestOptions, IngestReport, Progress, Statistics
from citewell.ingest.run import ingest
from citewell.ingest.sources import BOOK_SUFFIXES, SUFFIXES, Failure, LeftOut, PageRead, PageUnchanged, Source
from citewell.ingest.watch import changes

__all__ = [
    "Failure",
    "IngestOptions",
    "IngestReport",
    "LeftOut",
    "PageRead",
    "PageUnchanged",
    "Progress",
    "Source",
    "Statistics",
    "changes",
    "ingest",
    "source_of",
]


def source_of(place: str, options: IngestOptions) -> Source:
    """A folder, a file or a site, by what `place` looks like. Raises IngestError when it is none of them."""
    if place.lower().startswith(("http://", "https://")):
        from citewell.ingest.site import SiteSource

        return SiteSource(place, options)
    path = Path(place)
    if path.is_dir():
        return FolderSource(path, options.base_url, page_cpu_seconds=options.page_cpu_seconds)
    if path.suffix.lower() in SUFFIXES and path.is_file():
        return FolderSource(path.parent, options.base_url, only=path, page_cpu_seconds=options.page_cpu_seconds)
    if path.suffix.lower() in BOOK_SUFFIXES and path.is_file():
        from citewell.ingest.books import BookSource

        return BookSource(path, options.base_url)
    known = ", ".join((*SUFFIXES, *BOOK_SUFFIXES))
    raise IngestError(
        f"{place} is no folder, no file of a format that is read ({known}), and no http or https address."
    )
