"""reStructuredText into blocks, with the directives and roles of Sphinx. The only module that imports docutils."""

import re
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from docutils import nodes
from docutils.core import publish_doctree
from docutils.parsers.rst import Directive, directives, roles
from docutils.parsers.rst.languages import en
from docutils.statemachine import StringList
from docutils.utils import SystemMessage

from citewell.ingest.bounds import UnreadablePage
from citewell.ingest.formats.docstrings import PythonFiles
from citewell.ingest.formats.includes import MAX_DEEP, Includes, chosen_lines
from citewell.ingest.formats.rst_blocks import Box, Described, Tabbed, write
from citewell.ingest.formats.sphinx import Names
from citewell.ingest.pagetext import PageContent, PageText
from citewell.ingest.share import rst_letters

_DIRECTIVE = re.compile(r"^[ \t]*\.\.[ \t]+(?:\|[^|]+\|[ \t]+)?([\w:+.-]+)::", re.MULTILINE)
_ROLE = re.compile(r":([a-zA-Z][\w:+.-]*):`|`:([a-zA-Z][\w:+.-]*):")
_TARGETED = re.compile(r"^(?P<text>.*?)\s*<(?P<to>[^<>]+)>$", re.DOTALL)
_SIGNATURE_NAME = re.compile(r"^(?:(?:async|class|exception|static|abstract|final|property|classmethod)\s+)*([\w.$]+)")
_CLASS = re.compile(r"^\w+[.(]|^[A-Z]\w*$")
_ESCAPED = re.compile(r"\\(.)")
_NOT_ID = re.compile(r"[^a-zA-Z0-9._]+")

_MAX_NESTED = 40
_SETTINGS = {
    "file_insertion_enabled": False,  # includes are ours: inside the book only
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 5,
    "_disable_config": True,
    "syntax_highlight": "none",
    "smart_quotes": False,
    "doctitle_xform": False,
    "sectsubtitle_xform": False,
    "warning_stream": False,
    "input_encoding": "unicode",
    "id_prefix": "",
    "line_length_limit": 1_000_000,
}
_IGNORED = frozenset(
    "toctree contents sectnum highlight index meta raw tabularcolumns default-role "
    "codeauthor sectionauthor moduleauthor image-sg todolist ifconfig bibliography "
    "plot graphviz digraph graph inheritance-diagram mermaid uml".split()
)
"""What shows no text of its own, or a picture."""
_BOXES = frozenset("seealso todo versionadded versionchanged deprecated versionremoved dropdown details".split())
_SINCE = {
    "versionadded": "Added in version",
    "versionchanged": "Changed in version",
    "deprecated": "Deprecated since version",
    "versionremoved": "Removed in version",
}
_TABS = frozenset("tab tab-item group-tab code-tab".split())
_CODES = frozenset("code-block sourcecode code prompt ipython jupyter-execute testcode doctest-code console".split())
_OBJECTS = frozenset(
    "function class method attribute data exception module decorator property classmethod staticmethod "
    "decoratormethod type macro member var enum struct option confval envvar describe object setting django-admin "
    "django-admin-option templatetag templatefilter fieldlookup cmdoption opcode directive role event signal "
    "program-option config http:get http:post http:put http:delete http:patch".split()
)
_AUTODOC = frozenset(
    "autoclass autofunction automethod automodule autoattribute autodata autoexception autoproperty".split()
)
_PREFIXED = frozenset(("confval", "envvar", "setting"))
_CODE_ROLES = frozenset(
    "class func meth mod attr exc data const obj type option envvar confval file samp kbd command program keyword "
    "macro member enum struct token setting djadmin lookup ttag tfilter opcode var regexp makevar".split()
)


class UnreadableRst(UnreadablePage):
    """The message says why."""

    code = "unreadable_document"


@dataclass(slots=True)
class _PageContext:
    """What the directives of one page need to know; docutils hands it along with the document's settings."""

    page: Path
    root: Path
    book: Path
    names: Names
    includes: Includes
    python: PythonFiles
    unknown: dict[str, None] = field(default_factory=dict)
    """Directives and references that could not be given their text."""
    module: str = ""
    program: str = ""
    nested: int = 0
    """Directives that are open around what is being read."""
    included: int = 0


def read_rst(source: str, page: Path, root: Path, book: Path, names: Names) -> PageContent:
    """`root` is the folder of the pages; no file outside `book` is read. Raises UnreadableRst."""
    python = PythonFiles(book, [book, book / "src", root.parent, root.parent / "src"])
    reading = _PageContext(page, root, book, names, Includes(book), python)
    _make_known(source)
    try:
        document = publish_doctree(source, settings_overrides={**_SETTINGS, "reading": reading})
    except (SystemMessage, RecursionError, ValueError, AssertionError, AttributeError, TypeError, IndexError) as error:
        raise UnreadableRst(f"docutils cannot read it: {error!s:.100}") from error
    text = PageText()
    write(document, text)
    title = next((heading.title for heading in text.headings), "")
    unknown = ", ".join(list(reading.unknown)[:5])
    poorer = f"Poorer than the site: not known here: {unknown}." if unknown else ""
    problem = " ".join(filter(None, (reading.includes.problem, poorer)))
    return PageContent(text, title, letters=rst_letters(source), problems=(("incomplete_page", problem),))


def _make_known(source: str) -> None:
    """docutils drops what it does not know. Whatever else the page names is a box whose content is kept."""
    for name in {name.lower() for name in _DIRECTIVE.findall(source)}:
        if name not in en.directives or name in _REPLACED:
            directives.register_directive(name, _class_for(name))
    for name in {"", *((before or after).lower() for before, after in _ROLE.findall(source))} - _DOCUTILS_ROLES:
        roles.register_local_role(name, _role)  # type: ignore[arg-type]  # the stubs know only references


_REPLACED = frozenset("include code code-block sourcecode contents sectnum raw meta class rst-class".split())
_DOCUTILS_ROLES = frozenset("emphasis strong literal math sub sup subscript superscript title title-reference".split())


def _class_for(name: str) -> type[Directive]:
    bare = name.rpartition(":")[2] if not name.startswith("http:") else name
    known = next((made for names, made in _DIRECTIVES.items() if bare in names), _Unknown)
    return _Object if known is _Unknown and ":" in name else known


class _Known(Directive):
    """Takes any options and any arguments."""

    optional_arguments = 1
    final_argument_whitespace = True
    has_content = True

    class _AnyOption(dict[str, Callable[[str], object]]):
        def __getitem__(self, key: str) -> Callable[[str], object]:
            return lambda value: value or ""

        def __bool__(self) -> bool:
            return True

    option_spec = _AnyOption()

    @property
    def reading(self) -> _PageContext:
        found = self.state.document.settings.reading
        assert isinstance(found, _PageContext)  # noqa: S101 - put there by read_rst
        return found

    @property
    def argument(self) -> str:
        return self.arguments[0].strip() if self.arguments else ""

    def option(self, name: str) -> str:
        value = self.options.get(name, "")
        return value.strip() if isinstance(value, str) else ""

    def parsed(self, content: Sequence[str] | StringList | None = None) -> list[nodes.Node]:
        holder = nodes.container()
        lines = self.content if content is None else StringList(list(content), source="")
        reading = self.reading
        if reading.nested > _MAX_NESTED:
            return []
        reading.nested += 1
        with suppress(AttributeError):
            self.state.nested_parse(lines, self.content_offset, holder, match_titles=True)
        reading.nested -= 1
        return list(holder.children)

    def inline(self, text: str) -> list[nodes.Node]:
        found, _ = self.state.inline_text(text, self.lineno)
        return list(found)


class _Ignored(_Known):
    def run(self) -> list[nodes.Node]:
        return []


class _Unknown(_Known):
    """A directive of some extension: its argument is taken for a title, its content for text."""

    def run(self) -> list[nodes.Node]:
        if not self.content:
            self.reading.unknown[f"{self.name} directive"] = None
            return []
        box = Box("", *self.parsed())
        if self.argument and "\n" not in self.argument and " " in self.argument:
            box.insert(0, nodes.title("", "", *self.inline(self.argument)))
        return [box]


class _SphinxBox(_Known):
    def run(self) -> list[nodes.Node]:
        bare = self.name.rpartition(":")[2]
        if bare in _SINCE:
            version, said = (*self.argument.split(None, 1), "", "")[:2]
            lead = f"{_SINCE[bare]} {version}" + (": " if said or self.content else ".")
            paragraph = nodes.paragraph("", "", nodes.Text(lead), *self.inline(said))
            first = self.parsed()
            if not said and first and isinstance(first[0], nodes.paragraph):
                paragraph += first.pop(0).children
            return [paragraph, *first]
        words = self.inline(self.argument) if self.argument else []
        if bare == "seealso":
            beginning = [nodes.paragraph("", "", *words)] if words else []
            return [Box("", nodes.title("", "See also"), *beginning, *self.parsed(), kind=bare)]
        return [Box("", *([nodes.title("", "", *words)] if words else []), *self.parsed(), kind=bare)]


class _TabItem(_Known):
    def run(self) -> list[nodes.Node]:
        label = self.argument
        if self.name.endswith("code-tab"):
            language, _, shown = label.partition(" ")
            code = nodes.literal_block("\n".join(self.content), "\n".join(self.content), language=language)
            return [Tabbed("", code, label=shown.strip() or language)]
        return [Tabbed("", *self.parsed(), label=label)]


class _CodeBlock(_Known):
    def run(self) -> list[nodes.Node]:
        text = "\n".join(self.content)
        language = self.argument.split()[0] if self.argument else ""
        return [*_captioned(self, text, language)]


def _captioned(directive: _Known, text: str, language: str) -> Iterator[nodes.Node]:
    block = nodes.literal_block(text, text, language=language)
    if caption := directive.option("caption"):
        yield nodes.caption("", "", *directive.inline(caption))
    if text.strip():
        yield block


class _Include(_Known):
    def run(self) -> list[nodes.Node]:
        text = _included(self)
        if text is None:
            return []
        if "literal" in self.options or "code" in self.options:
            return [nodes.literal_block(text, text, language=self.option("code"))]
        _make_known(text)
        reading = self.reading
        if reading.included >= MAX_DEEP:
            reading.includes.missing.append(self.argument)
            return []
        reading.included += 1
        found = self.parsed(text.split("\n"))
        reading.included -= 1
        return found


class _LiteralInclude(_Known):
    def run(self) -> list[nodes.Node]:
        text = _included(self)
        if text is None:
            return []
        suffix = PurePosixPath(self.argument).suffix[1:]
        return [*_captioned(self, text, self.option("language") or {"py": "python"}.get(suffix, suffix))]


def _included(directive: _Known) -> str | None:
    """The part of a file that the options ask for; a path from the root begins with a slash."""
    reading, target = directive.reading, directive.argument
    path = reading.root / target[1:] if target.startswith("/") else reading.page.parent / target
    text = reading.includes.read(path, target)
    if text is None:
        return None
    lines = text.rstrip("\n").split("\n")
    if chosen := directive.option("lines"):
        lines = chosen_lines(lines, chosen, "-")
    elif name := directive.option("pyobject"):
        lines = _python_object(text, name) or lines
    else:
        first = directive.option("start-line")
        last = directive.option("end-line")
        lines = lines[int(first) if first.isdigit() else 0 : int(last) if last.isdigit() else None]
    lines = _between(lines, directive)
    if width := directive.option("dedent"):
        lines = [line[int(width) :] for line in lines] if width.isdigit() else lines
    return "\n".join(lines)


def _between(lines: list[str], directive: _Known) -> list[str]:
    for name, offset in (("start-after", 1), ("start-at", 0), ("end-before", 0), ("end-at", 1)):
        mark = directive.option(name)
        at = next((i + offset for i, line in enumerate(lines) if mark in line), None) if mark else None
        if at is not None:
            lines = lines[at:] if name.startswith("start") else lines[:at]
    return lines


def _python_object(text: str, name: str) -> list[str]:
    import ast

    with suppress(SyntaxError, ValueError, RecursionError):
        body: list[ast.stmt] = ast.parse(text).body
        node: ast.stmt | None = None
        for part in name.split("."):
            node = next((n for n in body if getattr(n, "name", "") == part), None)
            body = getattr(node, "body", [])
        if node is not None and node.end_lineno is not None:
            return text.split("\n")[node.lineno - 1 : node.end_lineno]
    return []


class _Scope(_Known):
    """`py:module` and `program`: what the names after it belong to."""

    def run(self) -> list[nodes.Node]:
        if self.name.endswith("program"):
            self.reading.program = self.argument
            return []
        self.reading.module = "" if self.argument == "None" else self.argument
        if self.name.endswith("currentmodule"):
            return []
        return [nodes.target("", "", ids=[f"module-{self.argument}"]), *self.parsed()]


class _Object(_Known):
    """Something that is described: a function, an option, a setting. A place of its own."""

    def run(self) -> list[nodes.Node]:
        lines = (_ESCAPED.sub(r"\1", line.strip().removesuffix("\\")) for line in self.argument.split("\n"))
        signatures = [line for line in lines if line]
        domain, _, kind = self.name.rpartition(":")
        return [_described(self, domain, kind, signatures, self.content)]


class _Class(_Object):
    """Sphinx describes a class with it, `Pool(size)`; else its content is given a style, `small`."""

    def run(self) -> list[nodes.Node]:
        is_described = self.name.endswith(":class") or _CLASS.search(self.argument) is not None
        return super().run() if is_described else self.parsed()


def _described(
    directive: _Known, domain: str, kind: str, signatures: list[str], content: Sequence[str] | StringList
) -> Described:
    reading = directive.reading
    outer = reading.module
    anchor = _anchor(reading, domain, kind, signatures[0]) if signatures else ""
    if kind in ("class", "exception"):
        reading.module = anchor
    children = directive.parsed(content)
    given = [(name, directive.option(name)) for name in ("type", "default", "value")]
    items = [
        nodes.list_item("", nodes.paragraph("", "", nodes.Text(f"{name.capitalize()}: "), *directive.inline(value)))
        for name, value in given
        if value
    ]
    if items:
        lead = 1 if children and isinstance(children[0], nodes.paragraph) else 0
        children.insert(lead, nodes.bullet_list("", *items))
    reading.module = outer
    return Described("", *children, terms=signatures, ids=[anchor] if anchor else [])


def _anchor(reading: _PageContext, domain: str, kind: str, signature: str) -> str:
    if kind in ("option", "cmdoption"):
        name = re.split(r"[ =,\[]", signature)[0]
        parts = ("cmdoption", *([reading.program] if reading.program else []), name)
        return _NOT_ID.sub("-", "-".join(parts)).strip("-")
    if kind in _PREFIXED:
        return _NOT_ID.sub("-", f"{kind}-{signature}").strip("-")
    if domain in ("c", "js", "rst"):
        bare = re.search(r"([\w.$]+)\s*(?:\(|$)", signature)
        return f"{domain}.{bare[1]}" if bare and domain == "c" else bare[1] if bare else ""
    found = _SIGNATURE_NAME.match(signature)
    if not found or domain not in ("py", ""):
        return ""
    name = found[1]
    is_inside = reading.module and not name.startswith(reading.module + ".")
    return f"{reading.module}.{name}" if is_inside else name


class _Glossary(_Known):
    def run(self) -> list[nodes.Node]:
        found: list[nodes.Node] = []
        terms: list[str] = []
        body: list[str] = []
        for line in [*self.content, ""]:
            if line.strip() and not line[:1].isspace():
                if body:
                    found.append(self._entry(terms, body))
                    terms, body = [], []
                terms.append(line.split(" : ")[0].strip())
            elif terms and (line.strip() or body):
                body.append(line)
        if terms:
            found.append(self._entry(terms, body))
        return found

    def _entry(self, terms: list[str], body: list[str]) -> nodes.Node:
        width = min((len(line) - len(line.lstrip()) for line in body if line.strip()), default=0)
        children = self.parsed([line[width:] for line in body])
        anchor = _NOT_ID.sub("-", f"term-{terms[0]}").strip("-")
        return Described("", *children, terms=terms, ids=[anchor], is_term=True)


class _Autodoc(_Known):
    """The docstrings of the Python files in the project, which are parsed and never imported."""

    def run(self) -> list[nodes.Node]:
        dotted = self.argument.split("(")[0].strip()
        reading = self.reading
        candidates = (dotted, f"{reading.module}.{dotted}") if reading.module else (dotted,)
        found = next((f for name in candidates if (f := reading.python.find(name))), None)
        if found is None:
            reading.unknown[f"{self.name}:: {dotted}"] = None
            return self.parsed()
        _make_known(found.docstring)
        kind = self.name.removeprefix("auto")
        entry = _described(self, "py", kind, [found.signature], found.docstring.split("\n"))
        entry["ids"] = [dotted]
        wanted = self.option("members")
        for member in found.members if "members" in self.options else ():
            if not wanted or member.name in wanted.replace(",", " ").split():
                _make_known(member.docstring)
                child = Described("", *self.parsed(member.docstring.split("\n")), terms=[member.signature])
                child["ids"] = [f"{dotted}.{member.name}"]
                entry += child
        return [entry, *self.parsed()]


def _role(
    name: str, rawtext: str, text: str, lineno: int, inliner: object, options: object = None, content: object = None
) -> tuple[list[nodes.Node], list[nodes.system_message]]:
    del rawtext, lineno, options, content
    reading = inliner.document.settings.reading  # type: ignore[attr-defined] # set by us; docutils passes any object
    return [_shown(reading, name.lower(), text.replace("\x00", ""))], []


def _shown(reading: _PageContext, name: str, text: str) -> nodes.Node:
    """The words or the code that a reference shows."""
    bare = name.rpartition(":")[2]
    titled = _TARGETED.match(text)
    target = (titled["to"] if titled else text).strip()
    if titled and titled["text"]:
        return nodes.literal(text, titled["text"]) if bare in _CODE_ROLES else nodes.Text(titled["text"])
    match bare:
        case "ref" | "numref" | "doc" | "any":
            return nodes.Text(_reference(reading, bare, target))
        case "pep" | "rfc":
            return nodes.Text(f"{bare.upper()} {target.split('#')[0]}")
        case "index":
            return nodes.Text(target)
        case "eq" | "cite" | "footcite" | "bdg" | "octicon" | "fab" | "fas":
            return nodes.Text("")
    if bare in _CODE_ROLES or ":" in name or bare.startswith("code"):
        return nodes.literal(target, _shown_code(bare, target.lstrip("!")))
    if not name and target[:1] in ("~", "!"):  # the default role of a project that refers to objects
        return nodes.literal(target, _shown_code("obj", target.lstrip("!")))
    return nodes.Text(target.replace("-->", "→"))


def _shown_code(kind: str, code: str) -> str:
    """Of a dotted name behind a tilde the last part; `~/.config` is a path."""
    if code.startswith("~") and not code.startswith(("~/", "~\\")):
        code = code[1:].rpartition(".")[2]
    if kind in ("func", "meth") and not code.endswith(")"):
        code += "()"
    return re.sub(r"[{}]", "", code) if kind in ("samp", "file") else code


def _reference(reading: _PageContext, kind: str, target: str) -> str:
    if kind != "doc" and (label := reading.names.labels.get(target.lower())):
        return label
    if kind in ("doc", "any"):
        here = PurePosixPath(reading.page.relative_to(reading.root).as_posix()).parent
        path = target[1:] if target.startswith("/") else (here / target).as_posix()
        if title := reading.names.pages.get(path):
            return title
    return target.rpartition("/")[2].replace("-", " ").replace("_", " ")


_DIRECTIVES: dict[frozenset[str], type[_Known]] = {
    _IGNORED: _Ignored,
    frozenset(("include",)): _Include,
    frozenset(("literalinclude",)): _LiteralInclude,
    _CODES: _CodeBlock,
    _AUTODOC: _Autodoc,
    _TABS: _TabItem,
    _BOXES: _SphinxBox,
    frozenset(("glossary",)): _Glossary,
    frozenset(("program", "module", "currentmodule")): _Scope,
    frozenset(("class", "rst-class", "cssclass")): _Class,
    _OBJECTS: _Object,
}
"""By their names without the domain; the first counts."""
