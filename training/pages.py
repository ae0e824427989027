"""Documentation that our own claims and questions were written over: fetched from PyPI, never kept in the repository.

    python -m training.pages FOLDER

fetches the source distributions named in written/sources.json and in evaluation/books, and reads the pages of the
former the way a book is read. A row in written/ names a passage by the digest of its text as the ingest makes it,
headings included.
"""

import asyncio
import hashlib
import io
import json
import re
import sys
import tarfile
import urllib.parse
import urllib.request
from pathlib import Path

from citewell.embedding.builtin import BuiltinEmbedder
from citewell.ingest.folder import FolderSource
from citewell.ingest.sources import PageRead
from citewell.ingest.splitting import Limit, split
from citewell.values import Passage

WRITTEN = Path(__file__).parent / "written"
BOOKS = Path(__file__).parents[1] / "evaluation" / "books"
_PAGE = re.compile(r"/(?:docs?|documentation)/.*\.(?:md|rst|txt)$")


def fetch(folder: Path) -> None:
    """Each source distribution by its checksum; only the text of its documentation is unpacked."""
    sources = [json.loads((place / "sources.json").read_text()) for place in (WRITTEN, BOOKS)]
    for name, source in (sources[0] | sources[1]).items():
        if (folder / name).is_dir():
            continue
        listing = f"https://pypi.org/simple/{name}/"
        with urllib.request.urlopen(listing, timeout=60) as reply:
            address = re.search(rf'href="([^"#]+)#sha256={source["sha256"]}"', reply.read().decode())
        if address is None:
            sys.exit(f"{name} {source['version']} is no longer listed.")
        with urllib.request.urlopen(urllib.parse.urljoin(listing, address[1]), timeout=300) as reply:
            data = reply.read()
        if hashlib.sha256(data).hexdigest() != source["sha256"]:
            sys.exit(f"{name} {source['version']} is not the file that was written over: its checksum differs.")
        with tarfile.open(fileobj=io.BytesIO(data)) as archive:
            members = [m for m in archive.getmembers() if m.isfile() and _PAGE.search(m.name)]
            archive.extractall(folder / name, members, filter="data")
        print(f"{name} {source['version']}: {len(members)} pages")


def digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


async def passages(folder: Path) -> list[Passage]:
    """Of one project, page by page, in the order of its files."""
    embedder = BuiltinEmbedder()
    limit = Limit(embedder.count_tokens, embedder.max_tokens)
    return [
        passage
        async for outcome in FolderSource(folder, "https://pages.example").read({})
        if isinstance(outcome, PageRead)
        for passage in split(outcome.page, limit)
    ]


def read(folder: Path) -> None:
    """Every passage of the fetched projects into passages.json: by digest, the page it stands on and its text."""
    found = {
        digest(passage.embedded_text): (f"{name}:{passage.url}", passage.embedded_text)
        for name in json.loads((WRITTEN / "sources.json").read_text())
        for passage in asyncio.run(passages(folder / name))
    }
    (folder / "passages.json").write_text(json.dumps(found))


def texts(folder: Path) -> dict[str, tuple[str, str]]:
    found: dict[str, tuple[str, str]] = json.loads((folder / "passages.json").read_text())
    return found


if __name__ == "__main__":
    fetch(Path(sys.argv[1]))
    read(Path(sys.argv[1]))
