"""How a folder of documentation is laid out: what its configuration says, read by pattern and never run.

Docusaurus: docs, versions and translations. MkDocs: docs_dir and the form of its addresses. mdBook: the chapters of
its summary. Sphinx: the pages of its toctrees. Else a folder of pages.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from citewell.ingest.files import UnreadableFile, read_text, walk
from citewell.ingest.formats import mdbook, mkdocs, sphinx
from citewell.ingest.formats.contents import NO_CONTENTS, Contents
from citewell.ingest.markdown import Flavour
from citewell.ingest.sources import SUFFIXES

_COMMENT = re.compile(r"/\*.*?\*/|(?<![:\"'])//[^\n]*", re.DOTALL)
_MKDOCS_BLOCK = re.compile(r"^(?:!!!|\?\?\?\+?|/{3,})[ \t]+\w|^===[ \t]+\"", re.MULTILINE)
_CONFIGS = tuple(f"docusaurus.config.{suffix}" for suffix in ("js", "ts", "mjs", "cjs", "mts"))
CONFIGURATION_FILES = (*_CONFIGS, "versions.json", *mkdocs.CONFIGURATIONS, "book.toml", "conf.py")


@dataclass(frozen=True, slots=True)
class Root:
    """A folder of pages with one address prefix, language and version."""

    folder: Path
    flavour: Flavour
    prefix: str = ""
    language: str = ""
    """Empty: not said, so each page is asked."""
    version: str = ""
    directory_urls: bool = True
    trailing_slash: bool | None = None
    """None: as the route has it."""
    aliases: tuple[tuple[str, Path], ...] = ()
    """What `@site/` stands for in imports."""
    contents: Contents = NO_CONTENTS
    """What the book's own table of contents says of its pages."""
    site: mkdocs.MkDocsSettings | sphinx.SphinxSettings | None = None
    """What mkdocs.yml or conf.py says."""
    suffixes: tuple[str, ...] = SUFFIXES
    """Of the files that are pages."""
    names: sphinx.Names = sphinx.NO_NAMES


def roots_of(folder: Path) -> tuple[Root, ...]:
    for name in _CONFIGS:
        if (folder / name).is_file():
            return tuple(_docusaurus(folder, _COMMENT.sub("", _text(folder / name, folder))))
    for name in mkdocs.CONFIGURATIONS:
        if (folder / name).is_file():
            return (_mkdocs(folder, _text(folder / name, folder)),)
    if book := _mdbook(folder) or _sphinx(folder):
        return (book,)
    docs = folder / "docs"
    if docs.is_dir() and all(path.is_relative_to(docs) for path in walk(folder, SUFFIXES)):
        # Without its configuration a site has its defaults; a slug counts from the same address as the other pages.
        flavour = _guessed(docs)
        return (Root(docs, flavour, "" if flavour == "mkdocs" else "docs", aliases=(("@site/", folder),)),)
    return (Root(folder, _guessed(folder)),)


def root_of_file(path: Path) -> Root:
    """For a file that is a book by itself."""
    is_mkdocs = path.suffix.lower() == ".md" and _MKDOCS_BLOCK.search(_text(path, path.parent))
    return Root(path.parent, "mkdocs" if is_mkdocs else "docusaurus")


def _docusaurus(site: Path, config: str) -> Iterator[Root]:
    """What docusaurus.config and versions.json say."""
    docs = _docs_options(config)
    base, route = _value(config, "baseUrl") or "", _value(docs, "routeBasePath")
    said_locale = _value(config, "defaultLocale") or ""
    own_locale = said_locale or "en"
    versions = _versions(site)
    last = _value(docs, "lastVersion") or (versions[0] if versions else "current")
    for folder, version, locale in _docusaurus_folders(site, _value(docs, "path") or "docs", versions, own_locale):
        translated = "" if locale == own_locale else locale
        in_path = "" if version == last else "next" if version == "current" else version
        parts = (base.strip("/"), translated, "docs" if route is None else route.strip("/"), in_path)
        yield Root(
            folder,
            "docusaurus",
            prefix="/".join(filter(None, parts)),
            language=translated or said_locale,
            version=version if versions else "",
            trailing_slash=_trailing_slash(config),
            aliases=(("@site/", site),),
        )


def _docs_options(config: str) -> str:
    found = re.search(r"\bdocs\s*:\s*\{", config)
    docs = config[found.end() :] if found else ""
    return docs[: _closing_brace(docs)]


def _trailing_slash(config: str) -> bool | None:
    slash = re.search(r"\btrailingSlash\s*:\s*(true|false)", config)
    return None if slash is None else slash[1] == "true"


def _docusaurus_folders(site: Path, path: str, versions: list[str], locale: str) -> Iterator[tuple[Path, str, str]]:
    """The pages that are worked on, those of each version, and the translations of both: folder, version, locale."""
    yield site / path, "current", locale
    for version in versions:
        yield site / "versioned_docs" / f"version-{version}", version, locale
    for translated in sorted((site / "i18n").glob("*/docusaurus-plugin-content-docs")):
        for folder in ("current", *(f"version-{version}" for version in versions)):
            if translated.parent.name != locale and (translated / folder).is_dir():
                yield translated / folder, folder.removeprefix("version-"), translated.parent.name


def _closing_brace(text: str) -> int:
    depth = 1
    for match in re.finditer(r"[{}]", text):
        depth += 1 if match.group() == "{" else -1
        if depth == 0:
            return match.start()
    return len(text)


def _value(config: str, key: str) -> str | None:
    match = re.search(rf"(?<![\w.]){key}\s*:\s*([\"'`])(.*?)\1", config)
    return match[2] if match else None


def _versions(site: Path) -> list[str]:
    """The newest first."""
    try:
        found = json.loads(_text(site / "versions.json", site) or "[]")
    except (ValueError, RecursionError):
        return []
    names = [v for v in found if isinstance(v, str) and re.fullmatch(r"[\w.+-]+", v)] if isinstance(found, list) else []
    return [v for v in names if (site / "versioned_docs" / f"version-{v}").is_dir()]


def _mkdocs(folder: Path, config: str) -> Root:
    site = mkdocs.read_site(config)
    return Root(
        folder / site.docs_dir,
        "mkdocs",
        prefix=site.path,
        language=site.language,
        directory_urls=site.directory_urls,
        contents=site.contents,
        site=site,
    )


def _mdbook(folder: Path) -> Root | None:
    """With a book.toml, or a summary where mdBook looks for one."""
    book = mdbook.read_book(_text(folder / "book.toml", folder))
    source = folder / book.source
    if not (folder / "book.toml").is_file() and not (source / mdbook.SUMMARY).is_file():
        source = folder
    if not (source / mdbook.SUMMARY).is_file() or not source.resolve().is_relative_to(folder.resolve()):
        return None
    contents = mdbook.read_summary(_text(source / mdbook.SUMMARY, folder))
    return Root(source, "mdbook", book.site_url, book.language, contents=contents)


def _sphinx(folder: Path) -> Root | None:
    """With a conf.py where projects have one, and a page to begin at beside it."""
    for place in sphinx.PLACES:
        source = folder / place
        if not (source / "conf.py").is_file():
            continue
        site = sphinx.read_configuration(_text(source / "conf.py", folder))
        if not any((source / (site.root + suffix)).is_file() for suffix in site.suffixes):
            continue
        paths = [PurePosixPath(path.relative_to(source).as_posix()) for path in walk(source, site.suffixes)]
        kept = [path for path in paths if not site.rule_against(path)]
        texts = {path: _text(source / path, folder) for path in kept}
        pages = {path.with_suffix("").as_posix(): path for path in kept}
        return Root(
            source,
            "sphinx",
            language=site.language,
            contents=sphinx.in_toctree_order(site.root, pages, texts.__getitem__),
            site=site,
            suffixes=site.suffixes,
            names=sphinx.read_names(texts.items()),
        )
    return None


def _guessed(folder: Path) -> Flavour:
    """Without a configuration: MkDocs when its blocks are used and nothing speaks for Docusaurus."""
    if next(folder.rglob("*.mdx"), None) or next(folder.rglob("_category_.*"), None):
        return "docusaurus"
    for i, path in enumerate(sorted(folder.rglob("*.md"))):
        if i < 50 and path.is_file() and _MKDOCS_BLOCK.search(_text(path, folder)):
            return "mkdocs"
    return "docusaurus"


def _text(path: Path, root: Path) -> str:
    try:
        return read_text(path, root)
    except UnreadableFile:
        return ""
