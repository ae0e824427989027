"""A folder of Markdown, MDX and HTML as a source of pages, addressed as its site generator would."""

import asyncio
import contextlib
import hashlib
import posixpath
from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath

from citewell.errors import IngestError
from citewell.ingest.bounds import SECONDS, SMALL, SMALL_RST, PageIsLarge, UnreadablePage, Worker
from citewell.ingest.files import MAX_BYTES, UnreadableFile, read_bytes, read_text, walk
from citewell.ingest.formats import asciidoc, mdbook, mkdocs, myst, notebook
from citewell.ingest.formats.contents import Entry
from citewell.ingest.formats.includes import Expanded
from citewell.ingest.frontmatter import FrontMatter, category_label, split_front_matter
from citewell.ingest.html import read_html
from citewell.ingest.layout import CONFIGURATION_FILES, Root, root_of_file, roots_of
from citewell.ingest.markdown import Flavour, read_markdown
from citewell.ingest.pagetext import PageContent, plain
from citewell.ingest.routes import docusaurus_route, html_route, joined, label_of, legible, mkdocs_route
from citewell.ingest.share import markdown_letters
from citewell.ingest.sources import (
    ASCIIDOC_SUFFIXES,
    HTML_SUFFIXES,
    NOTEBOOK_SUFFIXES,
    RST_SUFFIXES,
    SUFFIXES,
    UNREAD,
    Failure,
    LeftOut,
    Outcome,
    Validators,
    page_read,
)

_CATEGORY_FILES = ("_category_.json", "_category_.yml", "_category_.yaml")


@dataclass(frozen=True, slots=True)
class _File:
    path: Path
    root: Root
    entry: Entry | None = None
    """Of the book's table of contents."""

    @property
    def relative(self) -> PurePosixPath:
        return PurePosixPath(self.path.relative_to(self.root.folder).as_posix())

    @property
    def is_rst(self) -> bool:
        """By its suffix, or, in a Sphinx project, because it is no Markdown."""
        suffix = self.path.suffix.lower()
        is_other = suffix in (".md", *NOTEBOOK_SUFFIXES)
        return suffix in RST_SUFFIXES or (self.root.flavour == "sphinx" and not is_other)

    @property
    def is_foreign(self) -> bool:
        """Brought to plain Markdown before it is read."""
        return self.path.suffix.lower() in (*ASCIIDOC_SUFFIXES, *NOTEBOOK_SUFFIXES)


class FolderSource:
    """Pages in the order of their files' names, the files of a folder before its subfolders.

    With `only`, the book is that one file of the folder.
    """

    def __init__(
        self, folder: Path, base_url: str, *, only: Path | None = None, page_cpu_seconds: int = SECONDS
    ) -> None:
        self.folder: Path | None = only or folder
        self.base_url = base_url
        self.discovered = 0
        self._folder = folder
        self._only = only
        self._page_seconds = page_cpu_seconds
        self._labels: dict[Path, str] = {}

    async def fingerprint(self) -> str:
        return await asyncio.to_thread(self._fingerprint)

    def _fingerprint(self) -> str:
        digest = hashlib.sha256(self.base_url.encode())
        for path in [self._only] if self._only else walk(self._folder, ("",)):
            digest.update(f"\n{path.relative_to(self._folder)}\n".encode("utf-8", "surrogateescape"))
            digest.update(self._trace(path))
        return digest.hexdigest()

    def _trace(self, path: Path) -> bytes:
        """Of a page or a configuration its content; of what a page may take text from, as much as costs nothing."""
        try:
            if path == self._only or path.name.lower().endswith((*SUFFIXES, *_CATEGORY_FILES, *CONFIGURATION_FILES)):
                return hashlib.sha256(read_bytes(path, self._folder, MAX_BYTES)).digest()
            about = path.stat()
        except UnreadableFile as error:
            return error.code.encode()
        except OSError:
            return b"unreadable"
        return f"{about.st_size} {about.st_mtime_ns}".encode()

    async def read(self, known: Mapping[str, Validators]) -> AsyncGenerator[Outcome, None]:
        if not self._folder.is_dir():
            raise IngestError(f"There is no folder {self._folder}.")
        self._labels.clear()
        files, left_out = await asyncio.to_thread(self._files)
        self.discovered = len(files)
        with contextlib.closing(Worker(self._page_seconds)) as worker:
            for file in files:
                outcome = await self._within_bounds(worker, file)
                self.discovered -= isinstance(outcome, LeftOut)
                yield outcome
        for each in left_out:
            yield each

    async def _within_bounds(self, worker: Worker, file: _File) -> Outcome:
        try:
            return await asyncio.to_thread(self._read, file, SMALL_RST if file.is_rst else SMALL)
        except PageIsLarge:
            try:
                return await worker.run(self._read, file, MAX_BYTES)
            except UnreadablePage as error:
                return Failure(self._url(file, FrontMatter()), error.code, str(error))

    def _files(self) -> tuple[list[_File], list[LeftOut]]:
        """The files of the pages in order, and what is none."""
        if self._only is not None:
            return [_File(self._only, root_of_file(self._only))], []
        roots = roots_of(self._folder)
        files: list[_File] = []
        left_out: list[LeftOut] = []
        for root in roots:
            files += self._in_order(root, left_out)
        inside = tuple(root.folder for root in roots)
        for path in walk(self._folder, (*SUFFIXES, *UNREAD)):
            if not any(path.is_relative_to(folder) for folder in inside):
                left_out.append(self._left_out(path, "It is not in the folder of the book's pages."))
            elif rule := UNREAD.get(path.suffix.lower()):
                left_out.append(self._left_out(path, rule))
        return files, left_out

    def _in_order(self, root: Root, left_out: list[LeftOut]) -> list[_File]:
        """What the table of contents lists, as it lists it, then what it does not."""
        there: dict[PurePosixPath, _File] = {}
        for path in walk(root.folder, root.suffixes):
            file = _File(path, root)
            if root.site and (rule := root.site.rule_against(file.relative)):
                left_out.append(self._left_out(path, rule))
            else:
                there[file.relative] = file
        found: list[_File] = []
        for place, entry in root.contents.titles().items():
            listed = there.pop(place, None)
            if listed is not None:
                found.append(replace(listed, entry=entry))
            else:
                left_out.append(LeftOut(place.as_posix(), f"{root.contents.name} lists it, but there is no such file."))
        for file in there.values():
            if file.path.name == root.contents.name:
                continue
            if root.contents.is_whole:
                left_out.append(self._left_out(file.path, f"{root.contents.name} does not list it."))
            elif _is_partial(file.relative):
                left_out.append(self._left_out(file.path, "A name that begins with _ is no page, nor is a test."))
            elif file.path.name == "404.html":
                left_out.append(self._left_out(file.path, "It is what a site shows for an address that it has not."))
            else:
                found.append(file)
        return found

    def _left_out(self, path: Path, rule: str) -> LeftOut:
        return LeftOut(legible(path.relative_to(self._folder).as_posix()), rule)

    def _read(self, file: _File, most: int) -> Outcome:
        """Raises PageIsLarge when there are more than `most` characters to read."""
        front = FrontMatter()
        try:
            source = read_text(file.path, self._folder)
            if len(source) > most:
                raise PageIsLarge
            if file.path.suffix.lower() in HTML_SUFFIXES:
                return self._came(file, self._url(file, front), read_html(source))
            if file.is_rst:
                return self._rst(file, source)
            front, body = split_front_matter(source)
            if front.hidden:
                return self._left_out(file.path, "It is a draft or unlisted, as its front matter says.")
            return self._markdown(file, front, body, most)
        except (UnreadableFile, UnreadablePage) as error:
            return Failure(self._url(file, front), error.code, str(error))

    def _markdown(self, file: _File, front: FrontMatter, body: str, most: int) -> Outcome:
        source = self._expanded(file, body)
        if len(source.text) > most:
            raise PageIsLarge
        flavour: Flavour = "mdbook" if file.is_foreign else file.root.flavour
        read = read_markdown(source.text, flavour, lambda target: self._partial(file, target))
        if not read.text.blocks:
            read.text.prose(front.description)
        unclosed = ", ".join(f"<{name}>" for name in read.unclosed[:5])
        content = PageContent(
            read.text,
            source.title or plain(front.title) or read.title,
            language=front.language,
            letters=markdown_letters(source.text, mdx=flavour == "docusaurus"),
            problems=(
                ("bad_front_matter", front.problem),
                ("unclosed_tag", f"Never closed: {unclosed}." if unclosed else ""),
                ("incomplete_page", source.problem),
            ),
        )
        return self._came(file, self._url(file, front), content)

    def _came(self, file: _File, url: str, content: PageContent) -> Outcome:
        """The page with what its place in the folder says of it."""
        if content.rule_against:
            return self._left_out(file.path, content.rule_against)
        if not content.text.blocks:
            return Failure(url, "empty_page", "The file has no text.", is_lost=False)
        title = (file.entry.title if file.entry else "") or content.title or label_of(file.path.stem)
        module = content.module or self._module(file)
        language, version = content.language or file.root.language, file.root.version or content.version
        return page_read(url, replace(content, title=title, module=module, language=language, version=version))

    def _expanded(self, file: _File, body: str) -> Expanded:
        """As Markdown, with what the page takes from other files. Raises UnreadableNotebook."""
        suffix = file.path.suffix.lower()
        if suffix in ASCIIDOC_SUFFIXES:
            return asciidoc.expanded(body, file.path, self._folder)
        if suffix in NOTEBOOK_SUFFIXES:
            body = notebook.as_markdown(body)
        match file.root.flavour:
            case "mdbook":
                return mdbook.expanded(body, file.path, self._folder)
            case "mkdocs":
                site = file.root.site if isinstance(file.root.site, mkdocs.MkDocsSettings) else mkdocs.MkDocsSettings()
                return mkdocs.expanded(body, file.path, site, self._folder)
            case "sphinx":
                return Expanded(myst.as_markdown(body, file.root.names))
            case "docusaurus":
                return Expanded(body)

    def _rst(self, file: _File, source: str) -> Outcome:
        try:
            from citewell.ingest.formats.rst import read_rst
        except ImportError:
            return self._left_out(file.path, "reStructuredText needs docutils: pip install 'citewell[rst]'.")
        content = read_rst(source, file.path, file.root.folder, self._folder, file.root.names)
        return self._came(file, self._url(file, FrontMatter()), content)

    def _url(self, file: _File, front: FrontMatter) -> str:
        root, path = file.root, file.relative
        if path.suffix.lower() in HTML_SUFFIXES:
            route = html_route(path)
        elif file.is_rst or root.flavour == "sphinx" or (file.is_foreign and root.flavour != "mkdocs"):
            route = html_route(path.with_suffix(".html"))
        elif root.flavour == "mkdocs":
            route = mkdocs_route(path, directory_urls=root.directory_urls)
        elif root.flavour == "mdbook":
            route = mdbook.mdbook_route(path)
        else:
            route = docusaurus_route(path, front)
        prefix = root.prefix
        if self.base_url and root.flavour != "docusaurus":
            prefix = ""  # the base URL is the site's own
        url = joined(self.base_url, prefix, route)
        if root.trailing_slash is not None:
            url = url.rstrip("/") + ("/" if root.trailing_slash or url == "/" else "")
        return url

    def _module(self, file: _File) -> str:
        if file.entry is not None:
            return file.entry.module
        parts = file.relative.parts
        if len(parts) < 2:
            return ""
        folder = file.root.folder / parts[0]
        if folder not in self._labels:
            self._labels[folder] = self._label(folder) or label_of(parts[0])
        return self._labels[folder]

    def _label(self, folder: Path) -> str:
        for name in _CATEGORY_FILES:
            with contextlib.suppress(UnreadableFile):  # which most folders lack
                return plain(category_label(name, read_text(folder / name, self._folder)))
        return ""

    def _partial(self, file: _File, target: str) -> str | None:
        """The body of a Markdown file that a page imports, if it is in the folder."""
        path = file.path.parent / target
        for alias, folder in file.root.aliases:
            if target.startswith(alias):
                path = folder / target.removeprefix(alias)
        path = Path(posixpath.normpath(path.as_posix()))
        try:
            return split_front_matter(read_text(path, self._folder))[1]
        except UnreadableFile:
            return None


def _is_partial(path: PurePosixPath) -> bool:
    """Docusaurus makes no page of a file or folder whose name begins with an underscore, nor of tests."""
    return any(part.startswith("_") for part in path.parts) or ".test." in path.name
