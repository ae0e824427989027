"""Pages as JSON and back, and the file of an embedded generation that keeps them. No Qdrant here.

<generation>/pages.jsonl    one page a line, in reading order
<generation>/pages.json     where in it each page begins and how long it is, by address
"""

import hashlib
import json
import os
import weakref
from pathlib import Path
from typing import BinaryIO

from citewell.document import blocks_from_json, blocks_to_json
from citewell.errors import IndexDamagedError, SchemaValidationError
from citewell.values import Page

_LINES, _PLACES = "pages.jsonl", "pages.json"


def page_to_json(page: Page) -> str:
    return json.dumps(
        {
            "url": page.url,
            "title": page.title,
            "module": page.module,
            "language": page.language,
            "version": page.version,
            "page_starts": page.page_starts,
            "text": page.text,
            "blocks": blocks_to_json(page.blocks),
        },
        separators=(",", ":"),
    )


def page_from_json(text: str | bytes) -> Page:
    """Raises SchemaValidationError."""
    try:
        data = json.loads(text)
        return Page(
            url=str(data["url"]),
            title=str(data["title"]),
            text=str(data["text"]),
            blocks=blocks_from_json(data["blocks"]),
            module=str(data["module"]),
            language=str(data["language"]),
            version=str(data["version"]),
            page_starts=tuple(map(int, data["page_starts"])),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise SchemaValidationError("A page of the index cannot be read. Ingest the book again.") from error


def digest_of(page: str) -> str:
    return hashlib.sha256(page.encode()).hexdigest()


class PageWriter:
    """Writes the pages of a draft, in order."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file: BinaryIO = (folder / _LINES).open("wb")
        self._places: dict[str, tuple[int, int]] = {}

    def add(self, page: Page) -> str:
        """Returns a digest of all that is kept of it."""
        text = page_to_json(page)
        line = text.encode()
        self._places[page.url] = (self._file.tell(), len(line))
        self._file.write(line + b"\n")
        return digest_of(text)

    def close(self) -> None:
        self._file.close()

    def finish(self) -> None:
        """The last act of a draft that is kept."""
        self.close()
        (self._folder / _PLACES).write_text(json.dumps(self._places), encoding="utf-8")


class PageReader:
    """Reads pages of a generation, also after its folder was unlinked. Safe to share between threads."""

    def __init__(self, folder: Path) -> None:
        """Raises FileNotFoundError when the folder is gone, IndexDamagedError."""
        try:
            places = json.loads((folder / _PLACES).read_text(encoding="utf-8"))
            self._places = {str(url): (int(start), int(length)) for url, (start, length) in places.items()}
        except (ValueError, TypeError, AttributeError) as error:
            raise IndexDamagedError(f"{_PLACES} is not what was written") from error
        self._file = os.open(folder / _LINES, os.O_RDONLY)
        weakref.finalize(self, os.close, self._file)  # searches under way may use it until they end

    def page(self, url: str) -> Page | None:
        if url not in self._places:
            return None
        start, length = self._places[url]
        return page_from_json(os.pread(self._file, length, start))
