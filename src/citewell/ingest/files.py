"""Files of a folder, read safely: bounded in size, never through a link that leads out, always UTF-8. Sync."""

import os
from collections.abc import Iterator
from pathlib import Path

MAX_BYTES = 10_000_000
MAX_DEEP = 50
MAX_FILES = 200_000
_SKIPPED = frozenset(("node_modules", "__pycache__", "__tests__", "venv"))


class UnreadableFile(ValueError):
    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def walk(root: Path, suffixes: tuple[str, ...]) -> Iterator[Path]:
    """Files by name, folders after the files beside them. Hidden folders and links to folders are left out."""
    count = 0
    stack = [(root, 0)]
    while stack:
        folder, deep = stack.pop()
        try:
            entries = sorted(os.scandir(folder), key=lambda entry: entry.name)
        except OSError:
            continue
        for entry in entries:
            if entry.is_file() and entry.name.lower().endswith(suffixes) and not entry.name.startswith("."):
                count += 1
                if count > MAX_FILES:
                    return
                yield Path(entry.path)
        folders = [e for e in entries if e.is_dir(follow_symlinks=False) and not e.name.startswith(".")]
        if deep < MAX_DEEP:
            stack.extend((Path(e.path), deep + 1) for e in reversed(folders) if e.name not in _SKIPPED)


def read_text(path: Path, root: Path) -> str:
    """Raises UnreadableFile. `root` is the folder that the file must really be in."""
    data = read_bytes(path, root, MAX_BYTES)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UnreadableFile("invalid_utf8", f"Byte {error.start:,} is not UTF-8. Save the file as UTF-8.") from error


def read_bytes(path: Path, root: Path, limit: int) -> bytes:
    try:
        real = path.resolve()
        # The root is mostly given as it really is, and to resolve it for each file would cost as much as to read it.
        if not (real.is_relative_to(root) or real.is_relative_to(root.resolve())):
            raise UnreadableFile("outside_folder", "The file is a link that leads out of the folder.")
        with path.open("rb") as file:
            data = file.read(limit + 1)
    except OSError as error:
        raise UnreadableFile("unreadable", f"The file cannot be read: {error.strerror}.") from error
    if len(data) > limit:
        raise UnreadableFile("too_large", f"The file is larger than {limit // 1_000_000:,} MB.")
    return data
