"""EPUB files into one page for each document of the book, in reading order. Nothing is unpacked to disk."""

import io
import posixpath
import re
import struct
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote, urldefrag

from citewell.ingest.bounds import UnreadablePage
from citewell.ingest.html import read_html
from citewell.ingest.pagetext import PageContent
from citewell.ingest.plainxml import Element, UnreadableXml, elements

MAX_FILES = 10_000
MAX_FILE_BYTES = 10_000_000
MAX_BYTES = 200_000_000
_DAMAGED = (zipfile.BadZipFile, zlib.error, struct.error, ValueError, RuntimeError, OSError, EOFError)
"""What zipfile lets through of a file that is none: offsets before its beginning, encryption, streams that are cut."""
_SELF_CLOSED = re.compile(r"<(title|script|style|a|div|span|p|i|b|em|strong|li|td|th|h[1-6]|section)\b([^<>]*)/>")


class UnreadableEpub(UnreadablePage):
    """The book, or one of its documents; the message says why."""

    code = "unreadable_document"


def read_document(source: str) -> PageContent:
    """Raises UnreadableHtml."""
    return read_html(_SELF_CLOSED.sub(r"<\1\2></\1>", source))


class EpubBook:
    """Raises UnreadableEpub when it is opened."""

    def __init__(self, data: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(io.BytesIO(data))
        except _DAMAGED as error:
            raise UnreadableEpub("The file is not an EPUB.") from error
        if len(self._zip.infolist()) > MAX_FILES:
            raise UnreadableEpub(f"The EPUB has more than {MAX_FILES:,} files.")
        self._left = MAX_BYTES
        container = self._xml("META-INF/container.xml")
        package = next((e.attributes.get("full-path", "") for e in container if e.name == "rootfile"), "")
        self._folder = posixpath.dirname(package)
        opf = self._xml(package)
        self.title = _said(opf, "title")
        self.language = _said(opf, "language").split("-")[0].lower()
        self.hrefs = list(_spine(opf))

    def document(self, href: str) -> str:
        """Raises UnreadableEpub."""
        try:
            return self._read(posixpath.normpath(posixpath.join(self._folder, href))).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise UnreadableEpub(f"Byte {error.start:,} is not UTF-8.") from error

    def _xml(self, name: str) -> list[Element]:
        try:
            return elements(self._read(name))
        except UnreadableXml as error:
            raise UnreadableEpub(f"{name or 'The package file'} of the EPUB: {error}") from error

    def _read(self, name: str) -> bytes:
        """Bounded while unpacking: the sizes that a zip file states may be lies."""
        limit = min(MAX_FILE_BYTES, self._left)
        try:
            packed = self._zip.getinfo(name)
            if packed.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise zipfile.BadZipFile
            with self._zip.open(packed) as file:
                data = file.read(limit + 1)
        except KeyError as error:
            raise UnreadableEpub(f"The EPUB lacks {name or 'its package file'}.") from error
        except _DAMAGED as error:
            raise UnreadableEpub(f"{name} of the EPUB is damaged or encrypted.") from error
        if len(data) > limit:
            raise UnreadableEpub(f"{name} of the EPUB is too large.")
        self._left -= len(data)
        return data


def _said(opf: Iterable[Element], name: str) -> str:
    return next((e.text for e in opf if e.name == name and e.text), "")


def _spine(opf: Sequence[Element]) -> Iterator[str]:
    """The documents in reading order, without the table of contents."""
    items = {e.attributes.get("id", ""): e.attributes for e in opf if e.name == "item"}
    for item in (items.get(e.attributes.get("idref", ""), {}) for e in opf if e.name == "itemref"):
        is_menu = "nav" in item.get("properties", "").split()
        if "href" in item and "html" in item.get("media-type", "") and not is_menu:
            yield urldefrag(unquote(item["href"]))[0]
