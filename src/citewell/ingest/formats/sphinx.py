"""Sphinx: what conf.py says, read as syntax and never run; the order of the toctrees; what labels are called. Sync."""

import ast
import posixpath
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath

from citewell.ingest.fences import columns
from citewell.ingest.formats.contents import Contents, Entry, matches

PLACES = (".", "docs", "doc", "docs/source", "doc/source", "source", "Doc")
"""Where conf.py stands in a project."""
_TOCTREE = re.compile(r"^(?P<indent>[ \t]*)(?:\.\.[ \t]+toctree::|(?P<fence>`{3,}|:{3,})\{toctree\})")
_CAPTION = re.compile(r":caption:[ \t]*(.+)")
_TITLED = re.compile(r"^(?P<title>.*?)[ \t]*<(?P<to>[^<>]+)>$")
_UNDERLINE = r"([=\-`:.'\"~^_*+#<>!$%&(),/;?@\[\\\]{|}])\2{2,}[ \t]*"
_TITLE = re.compile(rf"^(?=\S)(?!\.\. )(.+)\n{_UNDERLINE}$", re.MULTILINE)
_LABELLED = re.compile(
    r"^\.\. _`?([^`:\n]+)`?:[ \t]*\n(?:\s*\.\. _[^\n]*:[ \t]*\n)*\s*(?:([=\-`:.'\"~^_*+#])\2{2,}[ \t]*\n[ \t]*)?"
    r"(\S.*)\n[ \t]*([=\-`:.'\"~^_*+#])\4{2,}[ \t]*$",
    re.MULTILINE,
)
_MD_TITLE = re.compile(r"^#[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_MD_LABELLED = re.compile(r"^\(([^()\n]+)\)=[ \t]*\n\s*#{1,6}[ \t]+(.+?)[ \t#]*$", re.MULTILINE)
_ROLE = re.compile(r":[\w:+.-]+:`~?([^`<]+?)(?:[ \t]*<[^`>]*>)?`|`{1,2}([^`]+)`{1,2}_{0,2}")
_MAX_PAGES = 100_000


@dataclass(frozen=True, slots=True)
class Names:
    """What a book's pages and labels are called: the words that a reference without words shows."""

    pages: Mapping[str, str] = field(default_factory=dict)
    """By path without suffix."""
    labels: Mapping[str, str] = field(default_factory=dict)


NO_NAMES = Names()


@dataclass(frozen=True, slots=True)
class SphinxSettings:
    """What conf.py says, as far as it concerns the pages."""

    language: str = ""
    root: str = "index"
    suffixes: tuple[str, ...] = (".rst", ".md", ".ipynb")
    excluded: tuple[str, ...] = ()

    def rule_against(self, path: PurePosixPath) -> str:
        """Why a file is no page; empty when it is one."""
        if any(matches(path, pattern) for pattern in self.excluded):
            return "conf.py leaves it out (exclude_patterns)."
        return ""


def read_configuration(source: str) -> SphinxSettings:
    values = _literals(source)
    suffix = values.get("source_suffix")
    suffixes = (suffix,) if isinstance(suffix, str) else tuple(suffix) if isinstance(suffix, list | dict) else ()
    excluded = values.get("exclude_patterns")
    root = values.get("root_doc") or values.get("master_doc")
    language = values.get("language")
    return SphinxSettings(
        language=language.split("_")[0].lower() if isinstance(language, str) and language else "",
        root=root if isinstance(root, str) and root else "index",
        suffixes=tuple(dict.fromkeys((*(s for s in suffixes if isinstance(s, str)), ".rst", ".md", ".ipynb"))),
        excluded=tuple(p for p in excluded if isinstance(p, str)) if isinstance(excluded, list | tuple) else (),
    )


def _literals(source: str) -> dict[str, object]:
    """Assignments of plain values, one by one: others in the file may be computed."""
    found: dict[str, object] = {}
    try:
        statements = ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return found
    for statement in statements:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            try:
                found[statement.targets[0].id] = ast.literal_eval(statement.value)
            except (ValueError, RecursionError, MemoryError):
                continue
    return found


def read_names(sources: Iterable[tuple[PurePosixPath, str]]) -> Names:
    """From all pages, by pattern: the labels that stand before a heading, and each page's first heading."""
    pages: dict[str, str] = {}
    labels: dict[str, str] = {}
    for path, source in sources:
        is_markdown = path.suffix == ".md"
        if title := _title(path, source):
            pages[path.with_suffix("").as_posix()] = title
        for found in (_MD_LABELLED if is_markdown else _LABELLED).finditer(source):
            labels[found[1].strip().lower()] = _plain(found[2] if is_markdown else found[3])
    return Names(pages, labels)


def _title(path: PurePosixPath, source: str) -> str:
    found = (_MD_TITLE if path.suffix == ".md" else _TITLE).search(source)
    return _plain(found[1]) if found else ""


def _plain(title: str) -> str:
    return _ROLE.sub(lambda m: m[1] or m[2], title).strip()


def in_toctree_order(root: str, paths: Mapping[str, PurePosixPath], text: Callable[[PurePosixPath], str]) -> Contents:
    """From the root down, each page before those that its toctrees name. `paths` are the pages by name."""
    entries: list[Entry] = []
    seen: set[str] = set()
    waiting: list[tuple[str, str]] = [(root, "")]
    while waiting and len(seen) < _MAX_PAGES:
        name, module = waiting.pop()
        if name in seen or name not in paths:
            continue
        seen.add(name)
        entries.append(Entry(paths[name], "", module))
        source = text(paths[name])
        below = [(child, module or caption) for caption, child in toctrees(source, name, paths)]
        if name != root and not module and below:
            title = _title(paths[name], source)
            entries[-1] = Entry(paths[name], "", title)
            below = [(child, title) for child, _ in below]
        waiting += reversed(below)
    return Contents(tuple(entries), "the toctree")


def toctrees(source: str, name: str, pages: Iterable[str]) -> Iterator[tuple[str, str]]:
    """The captions and the pages that the toctrees of a page name, in order."""
    folder = PurePosixPath(name).parent
    lines = source.split("\n")
    for i, line in enumerate(lines):
        tree = _TOCTREE.match(line) if "toctree" in line else None
        if not tree:
            continue
        caption = ""
        for entry in _body(lines[i + 1 :], tree):
            if found := _CAPTION.match(entry):
                caption = found[1].strip()
            if entry.startswith(":") or entry == "self" or "://" in entry:
                continue
            target = titled["to"] if (titled := _TITLED.match(entry)) else entry
            for suffix in (".rst", ".md", ".txt"):
                target = target.removesuffix(suffix)
            where = posixpath.normpath(posixpath.join("/", folder, target))[1:]
            yield from ((caption, page) for page in _named(where, pages))


def _body(lines: Iterable[str], tree: re.Match[str]) -> Iterator[str]:
    """The lines that belong to a toctree."""
    indent = columns(tree["indent"], 8)
    for line in lines:
        if tree["fence"]:
            if line.strip().startswith(tree["fence"]):
                return
        elif line.strip() and columns(line, 8) <= indent:
            return
        if line.strip():
            yield line.strip()


def _named(target: str, pages: Iterable[str]) -> list[str]:
    if "*" not in target:
        return [target]
    return sorted(page for page in pages if PurePosixPath(page).match(target))
