"""Text that a page takes from other files: of the book's own folder only, bounded in size. Sync."""

import contextlib
import posixpath
import re
from collections.abc import Container
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

    def excerpt(self, path: Path, target: str, mark: re.Pattern[str], deep: int) -> str:
        """What `file.rs`, `file.rs:2:10` or `file.rs:name` stands for, without the marks of regions."""
        name, _, wanted = target.partition(":")
        text = self.read(path, name, deep)
        if text is None:
            return ""
        lines = text.rstrip("\n").split("\n")
        if not wanted.strip(":"):
            lines = [line for line in lines if not mark.search(line)]
        elif not wanted.strip(":,0123456789"):
            lines = chosen_lines(lines, wanted)
        else:
            lines = marked_lines(lines, mark, {wanted.partition(":")[0]})
            self.missing += [] if lines else [target]
        return "\n".join(lines)

    @property
    def problem(self) -> str:
        """In one sentence; empty when everything was there."""
        names = list(dict.fromkeys(self.missing))
        if not names:
            return ""
        more = f" and {len(names) - _NAMED:,} more" if len(names) > _NAMED else ""
        return f"Left out, as the book's folder does not give it: {', '.join(names[:_NAMED])}{more}."


def chosen_lines(lines: list[str], wanted: str, to: str = ":") -> list[str]:
    """By numbers from 1: `3`, `2:10`, `:10` or `2:`, or several of them. `to` stands between first and last."""
    found: list[str] = []
    for part in re.split("[,;]", wanted):
        first, between, last = (each.strip() for each in part.partition(to))
        if _is_number(first or "1"):
            start = max(int(first or 1) - 1, 0)
            found += lines[start : int(last) if _is_number(last) else len(lines) if between else start + 1]
    return found


def _is_number(text: str) -> bool:
    return text.isdecimal() and len(text) < 10


def marked_lines(lines: list[str], mark: re.Pattern[str], names: Container[str]) -> list[str]:
    """The lines in the named regions, without marks. A mark has its region's name as its `start` or its `end`."""
    found: list[str] = []
    inside: set[str] = set()
    for line in lines:
        if edge := mark.search(line):
            if edge["start"] in names:
                inside.add(edge["start"])
            inside.discard(edge["end"])
        elif inside:
            found.append(line)
    return found
