"""The folder of an embedded index: pointer, manifests, lock, and writing that survives a kill. No Qdrant here.

<folder>/current                    the id of the generation that is served, replaced in one step
<folder>/generations/<id>/          a shard, its pages and its generation.json, written once, then only read
<folder>/drafts/<id>/               a generation in the making; what a killed run left here is swept away
<folder>/ingest.lock                held while a draft is open; the system lets go of it when its owner dies
"""

import hashlib
import json
import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from citewell.errors import (
    CitewellError,
    CollectionNotFoundError,
    IndexDamagedError,
    IngestError,
    IngestRunningError,
    RetrievalError,
    SchemaValidationError,
)
from citewell.index.checksums import CheckedFiles, checksums_of
from citewell.index.payload import generation_of, manifest_of
from citewell.values import Generation, PageEntry

_MANIFEST = "generation.json"


def pointer_stamp(folder: Path) -> tuple[int, int]:
    with _reached(folder):
        stat = (folder / "current").stat()
    return stat.st_mtime_ns, stat.st_ino


def current_id(folder: Path) -> str:
    """Raises CollectionNotFoundError when nothing was published."""
    with _reached(folder):
        return (folder / "current").read_text(encoding="utf-8").strip()


@contextmanager
def _reached(folder: Path) -> Iterator[None]:
    try:
        yield
    except FileNotFoundError:
        raise CollectionNotFoundError(f"There is no index in {folder} yet. Run `citewell ingest` first.") from None
    except OSError as error:
        raise RetrievalError(f"The index in {folder} cannot be read: {error.strerror}.") from error


def read_manifest(folder: Path) -> tuple[Generation, tuple[PageEntry, ...], CheckedFiles]:
    try:
        manifest = json.loads((folder / _MANIFEST).read_text(encoding="utf-8"))
        generation = generation_of(manifest)
        digest = manifest.pop("digest")
        contents = tuple(PageEntry(*entry) for entry in manifest["contents"])
        files = CheckedFiles(folder, dict(manifest["files"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise SchemaValidationError(f"The index in {folder} cannot be read. Ingest the book again.") from error
    if digest != _digest(manifest):
        raise IndexDamagedError(f"{_MANIFEST} is not what was written")
    return generation, contents, files


def write_manifest(folder: Path, generation: Generation, pages: Sequence[PageEntry]) -> None:
    """The last file of a generation: it holds the checksums of all others, and its own."""
    contents = [[page.url, page.title, page.module, page.passages] for page in pages]
    files = checksums_of(folder, without=_MANIFEST)
    manifest = {**manifest_of(generation), "contents": contents, "files": files}
    text = json.dumps(manifest | {"digest": _digest(manifest)}, ensure_ascii=False)
    (folder / _MANIFEST).write_text(text, encoding="utf-8")


def _digest(manifest: Mapping[str, object]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def generation_folders(folder: Path) -> list[Path]:
    return [path for path in (folder / "generations").glob("*") if path.is_dir()]


def generations(folder: Path) -> list[Generation]:
    found = []
    for path in generation_folders(folder):
        try:
            found.append(read_manifest(path)[0])
        except (CitewellError, FileNotFoundError):
            continue
    return sorted(found, key=lambda g: g.id, reverse=True)


def point_to(folder: Path, generation_id: str) -> None:
    fresh = folder / "current.new"
    with fresh.open("w", encoding="utf-8") as file:
        file.write(generation_id + "\n")
        file.flush()
        os.fsync(file.fileno())
    fresh.replace(folder / "current")
    sync(folder)


def sync(path: Path) -> None:
    """Bring to the disk what was written. On Windows the system alone decides when."""
    if sys.platform == "win32":
        return
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def sync_tree(folder: Path) -> None:
    for path in folder.rglob("*"):
        sync(path)
    sync(folder)


def need_space(folder: Path, needed: int) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise IngestError(
            f"Only {free // 2**20:,} MB are free in {folder}; {needed // 2**20:,} MB are needed. "
            "The index in use is unchanged."
        )


if sys.platform == "win32":
    import msvcrt

    def _lock(handle: int) -> None:
        """A byte behind the text: who waits can still read whose lock it is."""
        os.lseek(handle, 2**20, os.SEEK_SET)
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)
else:
    import fcntl

    def _lock(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


class IngestLock:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "ingest.lock"
        self._handle: int | None = None

    def __enter__(self) -> None:
        self.acquire()

    def __exit__(self, *_: object) -> None:
        self.release()

    def acquire(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        handle = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _lock(handle)
        except (BlockingIOError, PermissionError):  # the second on Windows
            os.lseek(handle, 0, os.SEEK_SET)
            owner = os.read(handle, 32).decode(errors="replace").strip()
            os.close(handle)
            raise IngestRunningError(f"Another ingest is running (process {owner or 'unknown'}).") from None
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
        self._handle = handle

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
