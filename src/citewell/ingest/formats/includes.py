"""Text that a page takes from other files: of the book's own folder only, bounded in size. Sync."""

import contextlib
import posixpath
from dataclasses import dataclass, field
from pathlib import Path

from citewell.ingest.files import MAX_BYTES, UnreadableFile, read_text

MAX_DEEP = 10
MAX_FILES = 5_000
"""Read for one page, a file that is read twice counted twice."""
_NAMED = 3


@dataclass(frozen=True, slots=True)
class Expanded:
    """A page's source with everything put in that it takes from elsewhere."""

    text: str
    problem: str = ""
    """What could not be put in; nothing stands in its place."""
    title: str = ""
    """What the source names the page, if it does."""


@dataclass(slots=True)
class Includes:
    """What one page takes from other files, and what it could not have."""

    book: Path
    """No file outside this folder is read."""
    missing: list[str] = field(default_factory=list)
    _characters_left: int = MAX_BYTES
    _files_left: int = MAX_FILES

    def read(self, path: Path, name: str, deep: int = 0) -> str | None:
        """The file's text; None when it cannot be had, and then it is remembered under its name.

        `deep` counts the files that the one which asks was itself taken from.
        """
        self._files_left -= 1
        text = None
        if deep < MAX_DEEP and self._files_left >= 0:
            with contextlib.suppress(UnreadableFile):
                text = read_text(Path(posixpath.normpath(path.as_posix())), self.book)
        if text is not None:
            self._characters_left -= len(text)
        if text is None or self._characters_left < 0:
            self.missing.append(name)
            return None
        return text.replace("\r\n", "\n")

    @property
    def problem(self) -> str:
        """In one sentence; empty when everything was there."""
        names = list(dict.fromkeys(self.missing))
        if not names:
            return ""
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        return f"Left out, as the book's folder does not give it: {', '.join(names[:_NAMED])}{more}."
