"""mdBook: book.toml, the chapters of SUMMARY.md, and what mdBook's preprocessors put into a page. Sync."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

from citewell.ingest.fences import segments
from citewell.ingest.formats.contents import Contents, Entry, modules
from citewell.ingest.formats.includes import Expanded, Includes
from citewell.ingest.frontmatter import text_at
from citewell.ingest.routes import path_of

SUMMARY = "SUMMARY.md"
_CHAPTER = re.compile(
    r"^(?P<indent>[ \t]*)(?:[-*+][ \t]+)?\[(?P<title>(?:[^\[\]\\]|\\.|\[[^\]]*\])*)\]\((?P<to>[^)]*)\)"
)
_PART = re.compile(r"^#[ \t]+(.+?)[ \t#]*$")
_LINK = re.compile(r"(?P<lead>^[ \t]+)?(?P<escape>\\)?\{\{[ \t]*#(?P<kind>\w+)(?P<rest>[^}\n]*)\}\}", re.MULTILINE)
_MARK = re.compile(r"\bANCHOR:[ \t]*(?P<start>[\w-]+)|\bANCHOR_END:[ \t]*(?P<end>[\w-]+)")
_FENCE = re.compile(r"^(?P<lead>[ \t]*(?:>[ \t]?)*)(?P<fence>`{3,}|~{3,})(?P<info>.*)$", re.MULTILINE)
_LISTING = re.compile(r"^[ \t]*<Listing\b(?P<attributes>(?:\"[^\"]*\"|'[^']*'|[^'\">])*)>[ \t]*$", re.MULTILINE)
_LISTING_END = re.compile(r"^[ \t]*</Listing>[ \t]*$", re.MULTILINE)
_ATTRIBUTE = re.compile(r"([\w-]+)[ \t]*=[ \t]*(?:\"([^\"]*)\"|'([^']*)')")
_CAPTION = re.compile(r"^[ \t]*<span class=\"caption\">(.*?)</span>[ \t]*$", re.MULTILINE | re.DOTALL)
_ENDLESS_KEY = re.compile(r"^[^=\n\"'#]{2000,}", re.MULTILINE)
"""A key of thousands of parts costs tomllib their square. What stands for it is no TOML."""
_HIDDEN = re.compile(r"^[ \t]*#(?:[ \t]|$)")


@dataclass(frozen=True, slots=True)
class MdBookSettings:
    """What book.toml says, as far as it concerns the pages."""

    source: str = "src"
    language: str = ""
    site_url: str = ""


def read_book(toml: str) -> MdBookSettings:
    try:
        data = tomllib.loads(_ENDLESS_KEY.sub("?", toml))
    except (tomllib.TOMLDecodeError, RecursionError):
        return MdBookSettings()
    return MdBookSettings(
        source=text_at(data, "book", "src") or "src",
        language=text_at(data, "book", "language"),
        site_url=path_of(text_at(data, "output", "html", "site-url")),
    )


def read_summary(source: str) -> Contents:
    """The chapters in order. Drafts, which have no file, are none."""
    found: list[tuple[int, Entry]] = []
    indents: list[int] = []
    part = ""
    for line in source.replace("\r", "").split("\n"):
        if heading := _PART.match(line):
            part = heading[1] if found else ""  # the first heading is the title of the summary
            continue
        chapter = _CHAPTER.match(line)
        if not chapter:
            continue
        target = chapter["to"].strip().strip("<>").split("#")[0]
        indent = len(chapter["indent"].expandtabs(4))
        while indents and indents[-1] >= indent:
            indents.pop()
        depth = len(indents)
        indents.append(indent)
        if target and "://" not in target:
            path = PurePosixPath(unquote(target).removeprefix("./"))
            title = re.sub(r"\\(.)", r"\1", chapter["title"]).replace("`", "").strip()
            is_numbered = line.lstrip()[:1] != "["  # what stands before and after the parts is in none of them
            found.append((depth, Entry(path, title, part if is_numbered else "")))
    return Contents(modules(found), SUMMARY, is_whole=True)


def mdbook_route(path: PurePosixPath) -> str:
    folder = "/" + "".join(part + "/" for part in path.parts[:-1])
    return folder + ("index" if path.stem.lower() == "readme" else path.stem) + ".html"


def expanded(body: str, page: Path, book: Path) -> Expanded:
    """The page with its includes put in and its listings as code with captions."""
    includes = Includes(book)
    expansion = _PreprocessorExpansion(includes)
    text = expansion.put_in(body.replace("\r\n", "\n"), page.parent)
    text = _CAPTION.sub(lambda m: _figcaption(m[1]), _listings(text))
    text = "\n".join(_shown_code(part) if is_code else part for is_code, part in segments(text, unwrap=False))
    return Expanded(text, includes.problem, expansion.title)


@dataclass(slots=True)
class _PreprocessorExpansion:
    includes: Includes
    title: str = ""

    def put_in(self, text: str, folder: Path, deep: int = 0) -> str:
        if "{{" not in text:
            return text
        return _LINK.sub(lambda link: self._put_in(link, folder, deep), text)

    def _put_in(self, link: re.Match[str], folder: Path, deep: int) -> str:
        lead = link["lead"] or ""
        if link["escape"]:
            return link.group().replace("\\", "", 1)
        # What stands in a list item stays in it.
        return lead + self._instead(link, folder, deep).replace("\n", "\n" + lead)

    def _instead(self, link: re.Match[str], folder: Path, deep: int) -> str:
        words = link["rest"].split()
        match link["kind"]:
            case "title":
                self.title = link["rest"].strip()
                return ""
            case "include" | "rustdoc_include" if words:
                return self._file(words[0], folder, deep)
            case "playground" | "playpen" if words:
                code = self._file(words[0], folder, deep)
                return f"```rust\n{code}\n```" if code else ""
            case "template" if words:
                text = self._file(words[0], folder, deep)
                for name, _, value in (word.partition("=") for word in words[1:]):
                    text = text.replace(f"[[#{name}]]", value)
                return text
            case _:
                # Another preprocessor's: what it would make is not known.
                self.includes.missing.append(f"{{{{#{link['kind']}}}}}")
                return ""

    def _file(self, target: str, folder: Path, deep: int) -> str:
        path = folder / target.partition(":")[0]
        return self.put_in(self.includes.excerpt(path, target, _MARK, deep), path.parent, deep + 1)


def _listings(text: str) -> str:
    """`<Listing>`: the file's name is the title of its code, number and caption stand under it."""
    if "<Listing" not in text:
        return text
    out: list[str] = []
    at = 0
    while listing := _LISTING.search(text, at):
        end = _LISTING_END.search(text, listing.end())
        if not end:
            break
        given = {m[1]: m[2] or m[3] or "" for m in _ATTRIBUTE.finditer(listing["attributes"])}
        number = f"Listing {given['number']}" if given.get("number") else ""
        caption = ": ".join(part for part in (number, given.get("caption", "")) if part)
        inner = text[listing.end() : end.start()]
        if (title := given.get("file-name")) and (fence := _FENCE.search(inner)):
            inner = f'{inner[: fence.end()].rstrip()} title="{title}"{inner[fence.end() :]}'
        out += [text[at : listing.start()], inner, _figcaption(caption) if caption else ""]
        at = end.end()
    return "".join([*out, text[at:]])


def _figcaption(text: str) -> str:
    return f"\n\n<figcaption>{' '.join(text.split())}</figcaption>\n\n"


def _shown_code(fenced: str) -> str:
    """The code as the site shows it: Rust without its hidden lines; nothing when all of it was left out."""
    opening, *lines = fenced.split("\n")
    fence = _FENCE.match(opening)
    if not fence or not lines:
        return fenced
    language = re.split(r"[\s,{]", fence["info"].strip())[0]
    if language == "rust":
        lines = [_unescaped(line) for line in lines if not _HIDDEN.match(line)]
    has_code = any(line.strip(" \t>") for line in lines if not _FENCE.match(line))
    return "\n".join([opening, *lines]) if has_code else ""


def _unescaped(line: str) -> str:
    """A line of Rust that really begins with `#` and a blank is written with two."""
    stripped = line.lstrip()
    return line.replace("##", "#", 1) if stripped.startswith("##") else line
