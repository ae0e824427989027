"""Docstrings of Python files, found by dotted name and written as Markdown. Parsed with ast, never imported. Sync."""

import ast
import inspect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path

from citewell.ingest.fences import indented_end
from citewell.ingest.files import UnreadableFile, read_text

_MAX_HOPS = 8
"""Imports followed from where a name is offered to where it is made."""
_MAX_SIGNATURE = 600
_SECTION = re.compile(
    r"^(Args|Arguments|Parameters|Params|Returns?|Yields?|Raises|Attributes|Keyword Args|Keyword Arguments"
    r"|Other Parameters|Warns|Examples?|Notes?|See Also)[ \t]*:?[ \t]*$"
)
_FIELD = re.compile(
    r"^:(?:param|parameter|arg|raises?|var|ivar|cvar)[ \t]+(?:[\w\[\], .]+[ \t]+)??(?P<name>\*{0,2}\w+):[ \t]*"
)
_RESULT = re.compile(r"^:(?P<name>returns?|yields?):[ \t]*")
_TYPE = re.compile(r"^:r?type\b[^:]*:.*$")
_ENTRY = re.compile(r"^(?P<name>\*{0,2}[\w.\[\], *]+?)[ \t]*(?P<type>\([^)]*\))?[ \t]*:[ \t]+(?P<text>\S.*)$")
_Node = ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True, slots=True)
class Documented:
    """A module, class, function or attribute with what is written about it."""

    name: str
    signature: str
    """As it is called; the bare name of what is not called."""
    docstring: str
    members: tuple["Documented", ...] = ()
    """Public ones that have a docstring, in their order."""


@dataclass(slots=True)
class PythonFiles:
    """The Python files under `paths`, none outside `book`."""

    book: Path
    paths: Sequence[Path]
    _modules: dict[str, ast.Module | None] = field(default_factory=dict)

    def find(self, dotted: str) -> Documented | None:
        return self._find(dotted, _MAX_HOPS)

    def _find(self, dotted: str, hops: int) -> Documented | None:
        names = dotted.split(".")
        for length in range(len(names), 0, -1):
            module = ".".join(names[:length])
            if hops and (tree := self._module(module)) is not None:
                return self._in(tree, module, names[length:], hops - 1)
        return None

    def _module(self, dotted: str) -> ast.Module | None:
        if dotted not in self._modules:
            self._modules[dotted] = self._parsed(dotted)
        return self._modules[dotted]

    def _parsed(self, dotted: str) -> ast.Module | None:
        below = Path(*dotted.split("."))
        for path in self.paths:
            for file in (path / below / "__init__.py", path / below.with_suffix(".py")):
                if not file.is_file():
                    continue
                try:
                    return ast.parse(read_text(file, self.book))
                except (UnreadableFile, SyntaxError, ValueError, RecursionError, MemoryError):
                    return None
        return None

    def _in(self, node: _Node, at: str, names: list[str], hops: int) -> Documented | None:
        """What `names` lead to from a module or class."""
        if not names:
            return _documented(node, at)
        for child in _statements(node):
            if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and child.name == names[0]:
                return self._in(child, f"{at}.{names[0]}", names[1:], hops)
        if len(names) == 1 and (found := next((d for d in _attributes(node) if d.name == names[0]), None)):
            return found
        if isinstance(node, ast.ClassDef):
            return self._inherited(node, at, names, hops)
        return self._imported(node, at, names, hops) if isinstance(node, ast.Module) else None

    def _inherited(self, node: ast.ClassDef, at: str, names: list[str], hops: int) -> Documented | None:
        module = at.rpartition(".")[0]
        bases = (ast.unparse(base) for base in node.bases if isinstance(base, ast.Name | ast.Attribute))
        return next((found for base in bases if (found := self._find(".".join([module, base, *names]), hops))), None)

    def _imported(self, module: ast.Module, at: str, names: list[str], hops: int) -> Documented | None:
        for child in _statements(module):
            if not isinstance(child, ast.ImportFrom):
                continue
            origin = self._origin(child, at)
            for alias in child.names:
                if alias.name == "*" or (alias.asname or alias.name) == names[0]:
                    first = names[0] if alias.name == "*" else alias.name
                    found = self._find(".".join([origin, first, *names[1:]]), hops)
                    if found is not None:
                        return found
        return None

    def _origin(self, statement: ast.ImportFrom, at: str) -> str:
        if not statement.level:
            return statement.module or ""
        package = at.split(".")
        is_package = any((path / Path(*package) / "__init__.py").is_file() for path in self.paths)
        package = package[: len(package) - statement.level + is_package]
        return ".".join([*package, *([statement.module] if statement.module else [])])


def _statements(node: ast.AST) -> Iterator[ast.stmt]:
    """Of a body, and of the conditions and attempts in it."""
    for child in getattr(node, "body", []):
        if isinstance(child, ast.If | ast.Try):
            yield from _statements(child)
        elif isinstance(child, ast.stmt):
            yield child


def _documented(node: _Node, dotted: str) -> Documented:
    docstring = ast.get_docstring(node) or ""
    name = dotted.rpartition(".")[2]
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef():
            return Documented(name, _signature(node, name), docstring)
        case ast.ClassDef():
            made = next((c for c in _statements(node) if isinstance(c, ast.FunctionDef) and c.name == "__init__"), None)
            docstring = docstring or (ast.get_docstring(made) or "" if made else "")
            return Documented(name, _signature(made, name) if made else name, docstring, tuple(_members(node)))
        case ast.Module():
            return Documented(name, dotted, docstring, tuple(_members(node)))


def _members(node: _Node) -> Iterator[Documented]:
    for child in _statements(node):
        if isinstance(child, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and not child.name.startswith("_"):
            member = _documented(child, child.name)
            if member.docstring or member.members:
                yield member
    yield from (attribute for attribute in _attributes(node) if not attribute.name.startswith("_"))


def _attributes(node: _Node) -> Iterator[Documented]:
    """Names that are set and have a string right behind them."""
    for statement, after in pairwise(_statements(node)):
        match statement, after:
            case (
                ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)),
                ast.Expr(value=ast.Constant(value=str(text))),
            ):
                yield Documented(name, name, inspect.cleandoc(text))
            case _:
                pass


def _signature(node: ast.FunctionDef | ast.AsyncFunctionDef, name: str) -> str:
    decorators = {ast.unparse(decorator).rpartition(".")[2] for decorator in node.decorator_list}
    if decorators & {"property", "cached_property"}:
        return name
    arguments = node.args
    places = [*arguments.posonlyargs, *arguments.args]
    if places and places[0].arg in ("self", "cls"):
        (arguments.posonlyargs or arguments.args).pop(0)
    returns = f" -> {ast.unparse(node.returns)}" if node.returns and node.name != "__init__" else ""
    signature = f"{name}({ast.unparse(arguments)}){returns}"
    return signature if len(signature) <= _MAX_SIGNATURE else f"{name}(…)"


def as_markdown(docstring: str) -> str:
    """Google's, NumPy's and Sphinx's ways to list parameters become lists; the rest is taken for Markdown."""
    lines = docstring.expandtabs(4).split("\n")
    out: list[str] = []
    i = 0
    while i < len(lines):
        line = lines[i]
        section = _SECTION.match(line)
        is_numpy = i + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[i + 1].strip()) is not None
        if section and is_numpy:
            end = _numpy_end(lines, i + 2)
            out += [f"{section[1]}:", "", *_numpy_items(lines[i + 2 : end]), ""]
            i = end
        elif section and i + 1 < len(lines) and lines[i + 1].startswith("  ") and not section[1].startswith("Example"):
            end = indented_end(lines, i + 1, 1)
            out += ["", f"{section[1]}:", "", *_google_items(lines[i + 1 : end]), ""]
            i = end
        else:
            out.append(_sphinx_field(line))
            i += 1
    return "\n".join(out).strip("\n")


def _sphinx_field(line: str) -> str:
    if found := _FIELD.match(line) or _RESULT.match(line):
        return f"- `{found['name']}`: {line[found.end() :]}"
    return "" if _TYPE.match(line) else line


def _google_items(lines: list[str]) -> list[str]:
    body = inspect.cleandoc("\n".join(lines)).split("\n")
    items: list[str] = []
    for line in body:
        entry = _ENTRY.match(line)
        if entry:
            kind = f" {entry['type']}" if entry["type"] else ""
            items.append(f"- `{entry['name']}`{kind}: {entry['text']}")
        else:
            items.append(f"  {line.strip()}" if items and line.strip() else line.strip())
    return items


def _numpy_end(lines: list[str], first: int) -> int:
    for i in range(first, len(lines) - 1):
        if lines[i].strip() and re.fullmatch(r"-{3,}", lines[i + 1].strip()):
            return i
    return len(lines)


def _numpy_items(lines: list[str]) -> list[str]:
    items: list[str] = []
    for line in lines:
        if line.strip() and not line.startswith(" "):
            name, _, kind = line.partition(":")
            items.append(f"- `{name.strip()}`" + (f" ({kind.strip()}):" if kind.strip() else ":"))
        elif line.strip():
            items.append(f"  {line.strip()}")
    return items
