"""Checksums of a generation's files: what was written is what is read. Files are sparse: what is zero is not hashed."""

import hashlib
import os
from collections.abc import Iterator, Mapping
from pathlib import Path

from citewell.errors import IndexDamagedError

Checksums = Mapping[str, str]
"""By path in the generation: size and digest, as one string."""
_BLOCK = 1 << 16
_ZEROS = bytes(_BLOCK)
_DATA = getattr(os, "SEEK_DATA", None)  # where the system cannot skip holes, they are read


def checksums_of(folder: Path, *, without: str) -> dict[str, str]:
    """Of all files but `without`, the one that will hold them."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return {name: _checksum(folder / name) for name in names if name != without}


class CheckedFiles:
    """The files of one generation, read once; after that only those are read again that were written to."""

    def __init__(self, folder: Path, checksums: Checksums) -> None:
        self._folder = folder
        self._checksums = checksums
        self._paths = [(name, os.fspath(folder / name)) for name in checksums]
        self._stamps: dict[str, tuple[int, int]] = {}

    def check(self) -> None:
        """Raises IndexDamagedError; FileNotFoundError when the whole folder is gone."""
        for name, path in self._paths:
            try:
                stat = os.stat(path)  # noqa: PTH116 - for each search: a Path takes five times as long
            except FileNotFoundError as error:
                if not self._folder.exists():
                    raise
                raise IndexDamagedError(f"{name} is missing") from error
            stamp = (stat.st_size, stat.st_mtime_ns)
            if self._stamps.get(name) != stamp:
                if not self._is_as_written(name):
                    raise IndexDamagedError(f"{name} is not what was written")
                self._stamps[name] = stamp

    def damaged(self) -> list[str]:
        """All that is missing or other than it was written; everything is read."""
        return [name for name, _ in self._paths if not self._is_as_written(name)]

    def _is_as_written(self, name: str) -> bool:
        try:
            return _checksum(self._folder / name) == self._checksums[name]
        except FileNotFoundError:
            return False

    def forget(self) -> None:
        """The next check reads everything."""
        self._stamps.clear()


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb", buffering=0) as file:
        size = os.fstat(file.fileno()).st_size
        for start in _blocks(file.fileno(), size):
            block = os.pread(file.fileno(), _BLOCK, start)
            if block != _ZEROS[: len(block)]:
                digest.update(start.to_bytes(8))
                digest.update(block)
    return f"{size}:{digest.hexdigest()}"


def _blocks(handle: int, size: int) -> Iterator[int]:
    """Where the blocks begin that are not holes of the file."""
    start = 0
    while start < size:
        if _DATA is not None:
            try:
                start = os.lseek(handle, start, _DATA) // _BLOCK * _BLOCK
            except OSError:  # nothing but a hole to the end
                return
        yield start
        start += _BLOCK
