"""A book's own table of contents: which files are its pages, in what order, under which titles. Pure."""

import fnmatch
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath


@dataclass(frozen=True, slots=True)
class Entry:
    path: PurePosixPath
    """Of the page's file, from the root of the book's sources."""
    title: str = ""
    """Empty: the page names itself."""
    module: str = ""
    """The title of the part or chapter that the page is in."""


@dataclass(frozen=True, slots=True)
class Contents:
    entries: tuple[Entry, ...] = ()
    name: str = ""
    """The file that it was read from."""
    is_whole: bool = False
    """A file that is not listed is no page."""

    def titles(self) -> dict[PurePosixPath, Entry]:
        """By file; of a file that is listed twice the first counts, as it is the first that readers meet."""
        found: dict[PurePosixPath, Entry] = {}
        for entry in self.entries:
            found.setdefault(entry.path, entry)
        return found


NO_CONTENTS = Contents()


def modules(entries: Sequence[tuple[int, Entry]]) -> tuple[Entry, ...]:
    """Entries with their depths, outermost 0: what stands under an outermost entry, and that entry, is one module."""
    found: list[Entry] = []
    for i, (depth, entry) in enumerate(entries):
        module = entry.module
        has_pages = i + 1 < len(entries) and entries[i + 1][0] > depth
        if not module and depth:
            module = next((above.title for level, above in reversed(entries[:i]) if level == 0), "")
        elif not module and has_pages:
            module = entry.title
        found.append(Entry(entry.path, entry.title, module))
    return tuple(found)


def matches(path: PurePosixPath, pattern: str) -> bool:
    """As in a .gitignore, without exceptions."""
    if pattern.startswith(("!", "#")):
        return False
    bare = pattern.strip("/")
    if "/" in pattern.rstrip("/"):
        return any(fnmatch.fnmatch(part.as_posix(), bare) for part in (path, *path.parents))
    return any(fnmatch.fnmatch(part, bare) for part in path.parts)
