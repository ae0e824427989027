"""MkDocs: what mkdocs.yml says, the pages of its nav, and what its extensions put into a page. Sync."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from citewell.ingest.fences import segments
from citewell.ingest.formats.contents import NO_CONTENTS, Contents, Entry, matches
from citewell.ingest.formats.docstrings import Documented, PythonFiles, as_markdown
from citewell.ingest.formats.includes import Expanded, Includes, chosen_lines
from citewell.ingest.frontmatter import load_yaml, text_at, value_at
from citewell.ingest.routes import path_of

CONFIGURATIONS = ("mkdocs.yml", "mkdocs.yaml")
_PAGES = (".md", ".markdown", ".html", ".ipynb", ".rst")
_SNIPPET = re.compile(
    r"^(?P<indent>[ \t]*)(?P<escape>;)?-+8<-+[ \t]+(?P<quote>[\"'])(?P<to>.+?)(?P=quote)[ \t]*$", re.MULTILINE
)
_SNIPPETS = re.compile(r"^(?P<indent>[ \t]*)-+8<-+[ \t]*\n(?P<body>(?:.*\n)*?)[ \t]*-+8<-+[ \t]*$", re.MULTILINE)
_SECTION = re.compile(
    r"-+8<-+[ \t]*\[[ \t]*(?:start[ \t]*:[ \t]*(?P<start>[\w-]+)|end[ \t]*:[ \t]*(?P<end>[\w-]+))[ \t]*\]"
)
_BRACED = re.compile(r"^(?P<indent>[ \t]*)\{!>?[ \t]*(?P<to>[^\s!]+)[^!\n]*!\}", re.MULTILINE)
_MACRO = re.compile(
    r"^(?P<indent>[ \t]*)\{%-?[ \t]*include(?:-markdown)?[ \t]+[\"'](?P<to>[^\"'\n]+)[\"'][^%]*%\}", re.MULTILINE
)
_STARRED = re.compile(r"^(?P<indent>[ \t]*)\{\*[ \t]*(?P<to>\S+)(?P<options>[^*\n]*)\*\}[ \t]*$", re.MULTILINE)
_LINES = re.compile(r"\bln\[([\d:,\s]+)\]")
_AUTODOC = re.compile(r"^(?P<indent> {0,3}):::[ \t]+(?P<name>[A-Za-z_][\w.]*)[ \t]*$")
_MEMBERS = re.compile(r"^\s*:?members:[ \t]*(?P<names>.*)$")
_LEVEL = re.compile(r"^\s*heading_level:[ \t]*(\d)")
_LANGUAGES = {"py": "python", "js": "javascript", "ts": "typescript", "sh": "bash", "yml": "yaml", "rs": "rust"}


@dataclass(frozen=True, slots=True)
class MkDocsSettings:
    """What mkdocs.yml says, as far as it concerns the pages."""

    docs_dir: str = "docs"
    path: str = ""
    """Of the site's address."""
    language: str = ""
    directory_urls: bool = True
    contents: Contents = NO_CONTENTS
    theme: str = ""
    """The folder of the theme's own files, which are no pages."""
    excluded: tuple[str, ...] = ()
    snippet_paths: tuple[str, ...] = (".",)
    appended: tuple[str, ...] = ()
    """Files that are put in behind every page."""
    python_paths: tuple[str, ...] = (".", "src")

    def rule_against(self, path: PurePosixPath) -> str:
        """Why a file of the docs folder is no page; empty when it is one."""
        below = PurePosixPath(self.docs_dir) / path
        if self.theme and below.is_relative_to(PurePosixPath(self.theme)):
            return "It belongs to the theme (custom_dir)."
        if any(matches(path, pattern) for pattern in self.excluded):
            return "mkdocs.yml leaves it out (exclude_docs)."
        return ""


def read_site(config: str) -> MkDocsSettings:
    try:
        data = load_yaml(config)
    except ValueError:
        return MkDocsSettings()
    snippets = value_at(data, "markdown_extensions", "pymdownx.snippets")
    python = value_at(data, "plugins", "mkdocstrings", "handlers", "python")
    return MkDocsSettings(
        docs_dir=text_at(data, "docs_dir") or "docs",
        path=path_of(text_at(data, "site_url")),
        language=text_at(data, "theme", "language"),
        directory_urls=text_at(data, "use_directory_urls").lower() != "false",
        contents=Contents(tuple(_nav(data.get("nav"))), CONFIGURATIONS[0]),
        theme=text_at(data, "theme", "custom_dir"),
        excluded=tuple(line.strip() for line in text_at(data, "exclude_docs").split("\n") if line.strip()),
        snippet_paths=_texts(value_at(snippets, "base_path")) or (".",),
        appended=_texts(value_at(snippets, "auto_append")),
        python_paths=(*_texts(value_at(python, "paths")), ".", "src"),
    )


def _nav(entries: object, module: str = "") -> Iterator[Entry]:
    """The pages; the module is the outermost section that a page is in."""
    for entry in entries if isinstance(entries, list) else []:
        pairs = entry.items() if isinstance(entry, dict) else [("", entry)]
        for title, target in pairs:
            if isinstance(target, list):
                yield from _nav(target, module or str(title).strip())
            elif isinstance(target, str) and "://" not in target and PurePosixPath(target).suffix in _PAGES:
                yield Entry(PurePosixPath(target.removeprefix("./")), str(title).strip(), module)


def _texts(value: object) -> tuple[str, ...]:
    values = value if isinstance(value, list) else [value]
    return tuple(each.strip() for each in values if isinstance(each, str) and each.strip())


def expanded(body: str, page: Path, site: MkDocsSettings, book: Path) -> Expanded:
    """The page with its snippets and with the docstrings that autodoc shows."""
    return _SnippetExpansion(site, book, page, Includes(book)).page(body.replace("\r\n", "\n"))


@dataclass(slots=True)
class _SnippetExpansion:
    site: MkDocsSettings
    book: Path
    at: Path
    includes: Includes

    def page(self, body: str) -> Expanded:
        text = self._put_in(body)
        for name in self.site.appended:
            text += "\n\n" + self._file(name, "", 0)
        unknown: list[str] = []
        if ":::" in text:
            parts = segments(text, unwrap=False)
            text = "\n".join(part if is_code else self._with_autodoc(part, unknown) for is_code, part in parts)
        problems = [self.includes.problem]
        if unknown:
            names = ", ".join(unknown[:3]) + (f" and {len(unknown) - 3:,} more" if len(unknown) > 3 else "")
            problems.append(f"Poorer than the site: the Python files that document {names} are not in the folder.")
        return Expanded(text, " ".join(filter(None, problems)))

    def _put_in(self, text: str, deep: int = 0) -> str:
        if "8<" in text:
            text = _SNIPPETS.sub(lambda m: self._several(m, deep), text)
            text = _SNIPPET.sub(lambda m: self._snippet(m, deep), text)
            text = "\n".join(line for line in text.split("\n") if not _SECTION.search(line))
        if "{!" in text:
            text = _BRACED.sub(lambda m: self._file(m["to"], m["indent"], deep), text)
        if "{%" in text:
            text = _MACRO.sub(lambda m: self._file(m["to"], m["indent"], deep), text)
        if "{*" in text:
            text = _STARRED.sub(lambda m: self._code(m, deep), text)
        return text

    def _snippet(self, found: re.Match[str], deep: int) -> str:
        if found["escape"]:
            return found.group().replace(";", "", 1)
        return self._file(found["to"], found["indent"], deep)

    def _several(self, found: re.Match[str], deep: int) -> str:
        names = [name.strip() for name in found["body"].split("\n")]
        return "\n\n".join(self._file(name, found["indent"], deep) for name in names if name and name[0] != ";")

    def _code(self, found: re.Match[str], deep: int) -> str:
        lines = self._file(found["to"], "", deep).split("\n")
        if chosen := _LINES.search(found["options"]):
            lines = chosen_lines(lines, chosen[1])
        if not any(line.strip() for line in lines):
            return ""
        suffix = found["to"].rpartition(".")[2]
        fenced = ["````" + _LANGUAGES.get(suffix, suffix), *lines, "````"]
        return "\n".join(found["indent"] + line for line in fenced)

    def _file(self, target: str, indent: str, deep: int) -> str:
        """`file.md`, `file.md:section` or `file.md:2:5`."""
        name = target.partition(":")[0]
        bases = (self.at.parent, *(self.book / base for base in self.site.snippet_paths))
        path = next((base / name for base in bases if (base / name).is_file()), bases[-1] / name)
        text = self._put_in(self.includes.excerpt(path, target, _SECTION, deep), deep + 1)
        return "\n".join(indent + line for line in text.split("\n")) if text else ""

    def _with_autodoc(self, text: str, unknown: list[str]) -> str:
        python = PythonFiles(self.book, [self.book / path for path in self.site.python_paths])
        lines = text.split("\n")
        out: list[str] = []
        i = 0
        while i < len(lines):
            opened = _AUTODOC.match(lines[i])
            i += 1
            if not opened:
                out.append(lines[i - 1])
                continue
            options: list[str] = []
            while i < len(lines) and (lines[i].startswith("    ") or (not lines[i].strip() and options)):
                options.append(lines[i])
                i += 1
            found = python.find(opened["name"])
            if found is None:
                unknown.append(opened["name"])
            else:
                out += [
                    "",
                    *_shown(found, opened["name"], _members(python, found, opened["name"], options), options),
                    "",
                ]
        return "\n".join(out)


def _shown(found: Documented, dotted: str, members: list[Documented], options: list[str]) -> Iterator[str]:
    """mkdocstrings' headings with the anchors that it makes; mkautodoc has no anchors, so there it is a definition."""
    if any(option.strip().startswith(":") for option in options):
        for each in (found, *members):
            yield f"`{each.signature}`"
            yield from (f":   {line}" if i == 0 else f"    {line}" for i, line in enumerate(_body(each)))
            yield ""
        return
    level = next((int(m[1]) for option in options if (m := _LEVEL.match(option))), 2)
    yield from (f"{'#' * level} `{dotted}` {{#{dotted}}}", "", f"`{found.signature}`", "", *_body(found), "")
    for each in members:
        yield f"{'#' * min(level + 1, 6)} `{each.name}` {{#{dotted}.{each.name}}}"
        yield from ("", f"`{each.signature}`", "", *_body(each), "")


def _body(found: Documented) -> list[str]:
    return as_markdown(found.docstring).split("\n") if found.docstring else []


def _members(python: PythonFiles, found: Documented, dotted: str, options: list[str]) -> list[Documented]:
    """Those that the options name, else all; none where mkautodoc names none."""
    for i, option in enumerate(options):
        if named := _MEMBERS.match(option):
            words = named["names"].strip("[] ").replace(",", " ").split()
            for line in options[i + 1 :]:
                if not line.strip().startswith("- "):
                    break
                words.append(line.strip()[2:].strip())
            if words in (["false"], ["no"]):
                return []
            named_ones = [python.find(f"{dotted}.{word}") for word in words]
            return [member for member in named_ones if member is not None] if words else list(found.members)
    is_mkautodoc = any(option.strip().startswith(":") for option in options)
    return [] if is_mkautodoc else list(found.members)
