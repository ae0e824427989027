"""The nodes that docutils makes, written as blocks. With `rst`, the only modules that import docutils."""

import re
from collections.abc import Callable, Iterable

from docutils import nodes

from citewell.ingest.pagetext import PageText, code_span

_MAX_DEPTH = 100


class Described(nodes.General, nodes.Element):
    """Terms with an id and what they mean: an object, an option, a glossary's entry."""


class Tabbed(nodes.General, nodes.Element):
    """A tab with its label."""


class Box(nodes.General, nodes.Element):
    """An admonition of Sphinx or of an extension; a title, if any, is its first child."""


_REFERENCE = re.compile(r"^`([^`]+)`_{1,2}$")
"""To something that is not there: its words are what stays."""
_SKIPPED = (
    nodes.comment,
    nodes.system_message,
    nodes.substitution_definition,
    nodes.pending,
    nodes.raw,
    nodes.meta,
    nodes.decoration,
    nodes.transition,
    nodes.problematic,
)


def write(document: nodes.document, page: PageText) -> None:
    _Walk(page).blocks(document.children, "")


class _Walk:
    def __init__(self, page: PageText) -> None:
        self._page = page
        self._deep = 0
        self._level = 0
        """Of the section that is being written."""

    def blocks(self, children: Iterable[nodes.Node], indent: str) -> None:
        if self._deep > _MAX_DEPTH:
            return
        self._deep += 1
        for child in children:
            if isinstance(child, nodes.Element) and not isinstance(child, _SKIPPED):
                self._block(child, indent)
        self._deep -= 1

    def _block(self, node: nodes.Element, indent: str) -> None:
        """By the nearest of its classes that has a way of its own; a node without one is but what it holds."""
        writer = next((_WRITERS[kind] for kind in type(node).__mro__ if kind in _WRITERS), None)
        if writer is None:
            self.blocks(node.children, indent)
        else:
            writer(self, node, indent)

    def section(self, node: nodes.Element, indent: str) -> None:
        title = node.children[0] if node.children else None
        if isinstance(title, nodes.title):
            self._page.heading(min(self._level + 1, 6), inline(title), _id(node))
        self._level += 1
        self.blocks(node.children[1:], indent)
        self._level -= 1

    def prose(self, node: nodes.Element, indent: str) -> None:
        self._page.prose(inline(node), indent)

    def caption(self, node: nodes.Element, indent: str) -> None:
        self._page.caption(inline(node), indent)

    def formula(self, node: nodes.Element, _: str) -> None:
        self._page.math(node.astext())

    def lines(self, node: nodes.Element, indent: str) -> None:
        self._page.prose("\n".join(_lines(node)), indent)

    def picture(self, node: nodes.Element, indent: str) -> None:
        self._page.prose(node.get("alt", ""), indent)

    def note(self, node: nodes.Element, indent: str) -> None:
        """A footnote or citation, without its number."""
        self.blocks([child for child in node.children if not isinstance(child, nodes.label)], indent)

    def tab(self, node: nodes.Element, indent: str) -> None:
        with self._page.inside():
            self._page.tab(node["label"], indent)
            self.blocks(node.children, indent)

    def box(self, node: nodes.Element, indent: str) -> None:
        if "contents" in node["classes"]:
            return
        titles = [inline(child) for child in node.children[:1] if isinstance(child, nodes.title)]
        kind = str(node.get("kind") or (node.tagname if isinstance(node, nodes.Admonition) else ""))
        with self._page.inside():
            self._page.box("note" if kind == "admonition" else kind, "".join(titles), indent)
            self.blocks(node.children[len(titles) :], indent)

    def described(self, node: nodes.Element, indent: str) -> None:
        terms = [term if node.get("is_term") else code_span(term) for term in node["terms"]]
        self._entry(terms, node.children, _id(node), indent)

    def _entry(self, terms: list[str], children: Iterable[nodes.Node], anchor: str, indent: str) -> None:
        """A term with the first paragraph of what it means; the rest are blocks inside it."""
        lead, rest = _led(children)
        with self._page.inside():
            self._page.define(terms, lead, anchor)
            self.blocks(rest, indent)

    def definitions(self, node: nodes.Element, indent: str) -> None:
        for entry in node.children:
            if isinstance(entry, nodes.field):
                self._field(entry, indent)
            elif isinstance(entry, nodes.Element):
                named = [child for child in entry.children if isinstance(child, nodes.term | nodes.option_group)]
                terms = [inline(n) if isinstance(n, nodes.term) else code_span(n.astext()) for n in named]
                bodies = [c for c in entry.children if isinstance(c, nodes.definition | nodes.description)]
                anchor = _id(named[0]) if named and isinstance(named[0], nodes.term) else ""
                self._entry(terms, [child for body in bodies for child in body.children], anchor, indent)

    def _field(self, entry: nodes.field, indent: str) -> None:
        """`:param name: text` is an item; its kind stands before the name only where it is no parameter."""
        words = entry.children[0].astext().split()
        if words and words[0] in ("type", "rtype", "orphan", "tocdepth", "nocomments", "nosearch"):
            return
        is_parameter = len(words) > 1 and words[0] in _FIELDS
        label = f"{code_span(words[-1])}: " if is_parameter else f"{' '.join(words).capitalize()}: "
        self._item("-", label, entry.children[1].children if len(entry.children) > 1 else [], indent)

    def items(self, node: nodes.Element, indent: str) -> None:
        entries = [entry for entry in node.children if isinstance(entry, nodes.list_item)]
        for number, entry in enumerate(entries, int(node.get("start", 1))):
            self._item("-" if isinstance(node, nodes.bullet_list) else f"{number}.", "", entry.children, indent)

    def _item(self, marker: str, label: str, children: Iterable[nodes.Node], indent: str) -> None:
        lead, rest = _led(children)
        with self._page.inside():
            self._page.item(marker, (label + lead).strip(), indent)
            self.blocks(rest, indent + " " * (len(marker) + 1))

    def code(self, node: nodes.Element, _: str) -> None:
        language = str(node.get("language", ""))
        language = language or next((name for name in node["classes"] if name not in ("code", "literal-block")), "")
        self._page.code(node.astext(), language if language not in ("none", "text", "default") else "")

    def table(self, node: nodes.Element, indent: str) -> None:
        if title := next(iter(node.findall(nodes.title)), None):
            self._page.caption(inline(title), indent)
        rows = [[_cell(cell) for cell in row.findall(nodes.entry)] for row in node.findall(nodes.row)]
        if rows and next(iter(node.findall(nodes.thead)), None) is None:
            rows.insert(0, [""] * len(rows[0]))
        self._page.table(rows)


_WRITERS: dict[type, Callable[[_Walk, nodes.Element, str], None]] = {
    nodes.section: _Walk.section,
    nodes.caption: _Walk.caption,
    nodes.literal_block: _Walk.code,
    nodes.doctest_block: _Walk.code,
    nodes.math_block: _Walk.formula,
    nodes.bullet_list: _Walk.items,
    nodes.enumerated_list: _Walk.items,
    nodes.definition_list: _Walk.definitions,
    nodes.field_list: _Walk.definitions,
    nodes.option_list: _Walk.definitions,
    nodes.docinfo: _Walk.definitions,
    nodes.table: _Walk.table,
    nodes.line_block: _Walk.lines,
    nodes.image: _Walk.picture,
    nodes.footnote: _Walk.note,
    nodes.citation: _Walk.note,
    Described: _Walk.described,
    Tabbed: _Walk.tab,
    Box: _Walk.box,
    nodes.Admonition: _Walk.box,
    nodes.topic: _Walk.box,
    nodes.sidebar: _Walk.box,
    nodes.TextElement: _Walk.prose,
    nodes.Inline: _Walk.prose,
}
_FIELDS = frozenset(
    "param parameter arg argument key keyword kwarg kwparam raise raises except exception var ivar cvar".split()
)


def _id(node: nodes.Element) -> str:
    return str(node["ids"][0]) if node["ids"] else ""


def _led(children: Iterable[nodes.Node]) -> tuple[str, list[nodes.Node]]:
    """The words of the first paragraph, if it is that which comes first, and the rest."""
    kept = [child for child in children if not isinstance(child, nodes.target | nodes.comment)]
    has_lead = bool(kept) and isinstance(kept[0], nodes.paragraph)
    return (inline(kept[0]), kept[1:]) if has_lead else ("", kept)


def _cell(cell: nodes.Element) -> str:
    shown = [c for c in cell.children if isinstance(c, nodes.Element) and not isinstance(c, _SKIPPED)]
    return " ".join(inline(c) if isinstance(c, nodes.TextElement) else _cell(c) for c in shown)


def _lines(node: nodes.Element) -> Iterable[str]:
    for child in node.children:
        if isinstance(child, nodes.line_block):
            yield from _lines(child)
        else:
            yield inline(child)


def inline(node: nodes.Node) -> str:
    """The words in a node, with code marked and formulas kept."""
    parts: list[str] = []
    for child in node.children:
        match child:
            case nodes.Text():
                parts.append(child.astext().replace("\n", " "))
            case nodes.literal():
                parts.append(code_span(child.astext().replace("\n", " ")))
            case nodes.math():
                parts.append(f"${child.astext()}$")
            case nodes.image():
                parts.append(child.get("alt", ""))
            case nodes.footnote_reference() | nodes.system_message() | nodes.target() | nodes.raw():
                pass
            case nodes.problematic():
                parts.append(_REFERENCE.sub(r"\1", child.astext()).strip("`"))
            case _:
                parts.append(inline(child))
    return "".join(parts)
