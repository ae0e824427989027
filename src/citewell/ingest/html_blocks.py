"""HTML elements into blocks: lists, definitions, tables, code, boxes, tabs, captions and formulas."""

import re
from collections.abc import Callable, Iterator
from functools import partial

from selectolax.lexbor import LexborNode

from citewell.document import Part, container_part, part_of
from citewell.ingest.mathml import children, readable_math
from citewell.ingest.pagetext import ADMONITIONS, PageText, code_span

_DROPPED = frozenset(("script", "style", "svg", "iframe", "button", "template", "head"))
_INLINE = frozenset(
    "-text a abbr b bdi bdo big br cite code data del dfn em font i img input ins kbd label mark math mjx-container q "
    "s samp small span strike strong sub sup time tt u var wbr".split()
)
_VARIABLE = re.compile(r"(?<![A-Za-z])[A-Za-z]$")
_SPACE = re.compile(r"[ \t\r\n\f]+")
_LANGUAGE = re.compile(r"\b(?:language|lang|highlight|brush:)-([\w+#.-]+)")
_NO_LANGUAGE = frozenset(("text", "none", "default", "notranslate", "plaintext"))
_FILE_NAME = re.compile(r"^\S+\.(?:png|jpe?g|gif|svg|webp|avif)$", re.IGNORECASE)
"""What Sphinx says of a picture that nobody described."""
_PERMALINK = re.compile(r"\s*[¶§#🔗]\s*$")
_BOXES = frozenset(("admonition", "theme-admonition", "alert", "markdown-alert", "callout", "details"))
_BOX_TITLE = (
    ".admonition-title, [class*=admonitionHeading], [class*=admonition-heading], .markdown-alert-title, "
    ".alert-heading, .callout-title"
)
_WIDEST = 100
_CAPTIONS = ("figcaption", "caption")


def attribute(node: LexborNode | None, name: str) -> str:
    return (node.attributes.get(name) or "").strip() if node is not None else ""


class Walk:
    """Writes the blocks under a node."""

    def __init__(self, page: PageText) -> None:
        self._page = page

    def blocks(self, node: LexborNode, indent: str = "") -> None:
        for part in _parts(node):
            self._part(part, indent)

    def _part(self, part: LexborNode | str, indent: str) -> None:
        if isinstance(part, str):
            self._page.prose(part, indent)
        else:
            self._block(part, part.tag or "", indent)

    def _block(self, node: LexborNode, tag: str, indent: str) -> None:
        classes = _classes(node)
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self._page.heading(int(tag[1]), _PERMALINK.sub("", _tidy(_inline_children(node))), _anchor(node))
        elif "mermaid" in classes and tag in ("pre", "div"):
            self._page.code(_code_text(node).strip("\n"), "mermaid")
        elif tag == "pre":
            self._page.code(_code_text(node).strip("\n"), _language(node))
        elif tag in ("ul", "ol"):
            self._list(node, tag, indent)
        elif tag == "table":
            self._table(node, indent)
        elif tag == "dl":
            self._definitions(node)
        elif _is_display_math(node):
            self._page.math(_tex(node))
        elif tag in _CAPTIONS or {"caption", "code-block-caption"} & classes or "codeBlockTitle" in " ".join(classes):
            self._page.caption(_PERMALINK.sub("", _tidy(_inline_children(node))), indent)
        elif tag == "details":
            self._details(node, indent)
        elif tag == "hr":
            return
        else:
            self._box(node, classes, indent)

    def _box(self, node: LexborNode, classes: set[str], indent: str) -> None:
        """A container: an admonition, tabs, or nothing but its content."""
        title = node.css_first(_BOX_TITLE) if classes & _BOXES else None
        if title is not None:
            named = _tidy(title.text())
            title.decompose()
            with self._page.inside():
                self._page.box(_kind(classes), named, indent)
                self.blocks(node, indent)
            return
        if tabs := _tabs(node, classes):
            for label, panel in tabs:
                with self._page.inside():
                    self._page.tab(label, indent)
                    self.blocks(panel, indent)
            return
        part = container_part(*classes, attribute(node, "role"), attribute(node, "epub:type"))
        if part is None:
            self.blocks(node, indent)
        else:
            with self._page.inside(part):
                self.blocks(node, indent)

    def _details(self, node: LexborNode, indent: str) -> None:
        summary = next((child for child in children(node) if child.tag == "summary"), None)
        title = _tidy(summary.text()) if summary is not None else ""
        if summary is not None:
            summary.decompose()
        part = part_of(title)  # "Changelog" is what the documentation of Python packages folds away
        with self._page.inside(part):
            if part is None:
                self._page.box("details", title, indent)
            self.blocks(node, indent)

    def _list(self, node: LexborNode, tag: str, indent: str) -> None:
        start = attribute(node, "start")
        number = int(start) if start.isdigit() and len(start) < 9 else 1
        for item in children(node):
            if item.tag not in ("li", "ul", "ol"):
                continue
            if item.tag != "li":  # a list that stands beside the items instead of in one
                self._list(item, item.tag, indent + "  ")
                continue
            marker = "-" if tag == "ul" else f"{number}."
            number += 1
            with self._page.inside():
                hang = indent + " " * (len(marker) + 1)
                self._held(item, hang, partial(self._page.item, marker, indent=indent))

    def _definitions(self, node: LexborNode, *, part: Part | None = None) -> None:
        """Terms and what they mean, in turn; a term may have several meanings and a meaning several terms."""
        part = "references" if {"footnote", "citation"} & _classes(node) else part
        terms: list[LexborNode] = []
        meanings: list[LexborNode] = []
        for child in children(node):
            if child.tag == "div":  # groups of dt and dd
                self._definition(terms, meanings, part)
                self._definitions(child, part=part)
            elif child.tag == "dt":
                if meanings:
                    self._definition(terms, meanings, part)
                terms.append(child)
            elif child.tag == "dd":
                meanings.append(child)
        self._definition(terms, meanings, part)

    def _definition(self, terms: list[LexborNode], meanings: list[LexborNode], part: Part | None) -> None:
        """Takes the terms and meanings out of the lists."""
        anchor = next(filter(None, map(_anchor, terms)), "")
        define = partial(self._page.define, [_term(term) for term in terms], anchor=anchor)
        with self._page.inside(part):
            if meanings:
                self._held(meanings[0], "", define)
            elif terms:
                define("")
            for meaning in meanings[1:]:
                self.blocks(meaning)
        terms.clear()
        meanings.clear()

    def _held(self, node: LexborNode, hang: str, write_first: Callable[[str], None]) -> None:
        """The first line of an item follows its marker, that of a definition its term; the rest stands under it."""
        parts = _parts(node)
        first = next(parts, "")
        if isinstance(first, str):
            write_first(first)
        elif first.tag in ("p", "div") and not _holds_blocks(first):
            write_first(_tidy(_inline_children(first)))
        else:
            write_first("")
            self._part(first, hang)
        for part in parts:
            self._part(part, hang)

    def _table(self, node: LexborNode, indent: str) -> None:
        if code := node.css_first("td.code pre"):
            self._page.code(_code_text(code).strip("\n"), _language(code))
            return
        if caption := node.css_first("caption"):
            self._page.caption(_PERMALINK.sub("", _tidy(_inline_children(caption))), indent)
            caption.decompose()
        if node.css_first("pre, table table"):
            for cell in node.css("td, th"):
                self.blocks(cell, indent)
            return
        rows = [row for row in _rows(node) if any(row)]
        if rows and not node.css_first("th"):
            rows.insert(0, [""] * len(rows[0]))
        self._page.table(rows)


def _parts(node: LexborNode) -> Iterator[LexborNode | str]:
    """The blocks under a node, and the text between them."""
    run: list[str] = []
    for child in children(node):
        tag = child.tag or ""
        is_shown = tag not in _DROPPED and not tag.startswith("-")
        if (tag in _INLINE and not _is_block(child)) or (tag == "script" and not _is_display_math(child)):
            run.append(_inline(child, run[-1] if run else ""))
        elif is_shown or _is_display_math(child):
            if text := _tidy("".join(run)):
                yield text
            run.clear()
            yield child
    if text := _tidy("".join(run)):
        yield text


def _term(node: LexborNode) -> str:
    term = _PERMALINK.sub("", _tidy(_inline_children(node)))
    return code_span(term.replace("`", "")) if term and "sig" in _classes(node) else term


def _rows(table: LexborNode) -> Iterator[list[str]]:
    """A cell that spans rows is said in each of them; one that spans columns leaves the others empty."""
    held: dict[int, tuple[str, int]] = {}
    for row in table.css("tr"):
        cells: list[str] = []
        for cell in (child for child in children(row) if child.tag in ("td", "th")):
            _take_held(cells, held)
            text = _tidy(_inline_children(cell))
            rows = _span(cell, "rowspan")
            if rows > 1:
                held[len(cells)] = (text, rows - 1)
            cells += [text, *[""] * (_span(cell, "colspan") - 1)]
        _take_held(cells, held)
        yield cells


def _take_held(cells: list[str], held: dict[int, tuple[str, int]]) -> None:
    while len(cells) in held:
        text, left = held.pop(len(cells))
        if left > 1:
            held[len(cells)] = (text, left - 1)
        cells.append(text)


def _span(cell: LexborNode, name: str) -> int:
    value = attribute(cell, name)
    return min(max(int(value), 1), _WIDEST) if value.isdecimal() and len(value) < 5 else 1


def _classes(node: LexborNode) -> set[str]:
    return set((node.attributes.get("class") or "").split())


def _is_block(node: LexborNode) -> bool:
    """Whether an element that is inline by its name stands by itself."""
    if node.tag == "-text" or node.child is None:
        return False
    if _is_display_math(node):
        return True
    return (
        node.tag in ("a", "span", "label", "ins", "del")
        and node.css_first("p, div, pre, ul, ol, table, h2, h3") is not None
    )


def _holds_blocks(node: LexborNode) -> bool:
    return node.css_first("p, div, pre, ul, ol, dl, table, blockquote") not in (None, node)


def _is_display_math(node: LexborNode) -> bool:
    classes = _classes(node)
    if node.tag == "script":
        return "mode=display" in attribute(node, "type").replace(" ", "")
    if node.tag == "math":
        return attribute(node, "display") == "block" and (node.parent.tag if node.parent else "") != "mjx-assistive-mml"
    if node.tag == "mjx-container":
        return attribute(node, "display") == "true"
    return "katex-display" in classes or (node.tag == "div" and bool({"arithmatex", "math"} & classes))


def _kind(classes: set[str]) -> str:
    prefixes = ("theme-admonition-", "markdown-alert-", "alert--", "alert-", "callout-")
    named = sorted(classes)
    for prefix in prefixes:
        named = [name.removeprefix(prefix) for name in named]
    return next((name for name in named if name in ADMONITIONS), "note")


def _tabs(node: LexborNode, classes: set[str]) -> list[tuple[str, LexborNode]]:
    """The tabs of this node, not those of tabs inside them; what has no label has none."""
    if "tabbed-set" in classes or "sd-tab-set" in classes:
        labels = _outermost(node, lambda n: n.tag == "label")
        panels = _outermost(node, lambda n: bool({"tabbed-block", "tabbed-content", "sd-tab-content"} & _classes(n)))
        if panels and "tabbed-content" in _classes(panels[0]) and "tabbed-labels" in (node.html or ""):
            panels = _outermost(panels[0], lambda n: "tabbed-block" in _classes(n))
    elif any(attribute(child, "role") == "tablist" for child in children(node) if child.is_element_node):
        labels = _outermost(node, lambda n: attribute(n, "role") == "tab")
        panels = _outermost(node, lambda n: attribute(n, "role") == "tabpanel")
    else:
        return []
    said = [_tidy(label.text()) for label in labels] + [""] * len(panels)
    return list(zip(said, panels, strict=False))


def _outermost(node: LexborNode, wanted: Callable[[LexborNode], bool]) -> list[LexborNode]:
    """The elements below that are wanted, without those inside another one, nor inside another set of tabs' panel."""
    found: list[LexborNode] = []
    for child in children(node):
        if not child.is_element_node:
            continue
        if wanted(child):
            found.append(child)
        elif attribute(child, "role") != "tabpanel" and "tabbed-block" not in _classes(child):
            found.extend(_outermost(child, wanted))
    return found


def _tidy(text: str) -> str:
    """Runs of blanks become one; a line break that was a `<br>` stays."""
    return "\n".join(_SPACE.sub(" ", line).strip() for line in text.split("\x0b")).strip()


def _inline(node: LexborNode, before: str = "") -> str:
    tag = node.tag or ""
    match tag:
        case "-text":
            return node.text_content or ""
        case "br":
            return "\x0b"
        case "img":
            return _FILE_NAME.sub("", attribute(node, "alt"))
        case "script" if attribute(node, "type").startswith("math/tex"):
            return f"${_tex(node)}$"
        case "code" | "tt" | "kbd" | "samp":
            text = _SPACE.sub(" ", node.text()).strip()
            return code_span(text) if text else ""
        case "math" | "mjx-container":
            return _inline_math(node)
        case "sup":
            return _power(_tidy(_inline_children(node)), before)
    return "" if tag in _DROPPED or tag.startswith("-") else _inline_box(node, tag)


def _inline_box(node: LexborNode, tag: str) -> str:
    if {"katex", "arithmatex", "math"} & _classes(node) and (tex := _tex(node)):
        return f"${tex}$"
    inner = _inline_children(node)
    return inner if tag in _INLINE else f" {inner} "


def _power(raised: str, before: str) -> str:
    """ "10⁶" without its sign would be 106, and "x²" another name; what is raised after a word is a note."""
    first = raised.lstrip("+-−–")[:1]
    is_power = first.isdigit() if before[-1:].isdigit() else first.isalnum() and _VARIABLE.search(before[-2:])
    return f"^{raised}" if is_power else raised


def _inline_children(node: LexborNode) -> str:
    parts: list[str] = []
    for child in children(node):
        parts.append(_inline(child, parts[-1] if parts else ""))
    return "".join(parts)


def _inline_math(node: LexborNode) -> str:
    """TeX where the page has it, else MathML as it is read."""
    math = node if node.tag == "math" else node.css_first("math")
    if math is None:
        return ""
    if math.css_first("annotation[encoding*=tex]") is not None or attribute(math, "alttext"):
        return f"${_tex(math)}$"
    return readable_math(math)


def _tex(node: LexborNode) -> str:
    """The source of a formula, or what is readable of it."""
    annotation = node.css_first("annotation[encoding*=tex], annotation")
    math = node if node.tag == "math" else node.css_first("math")
    if annotation is not None:
        tex = annotation.text()
    elif math is not None:
        tex = attribute(math, "alttext") or readable_math(math)
    else:
        tex = node.text()
    tex = tex.strip()
    for opening, closing in (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$")):
        if tex.startswith(opening) and tex.endswith(closing):
            tex = tex[len(opening) : len(tex) - len(closing)].strip()
    return _SPACE.sub(" ", tex)


def _code_text(node: LexborNode) -> str:
    """Code with its line breaks, whether they are characters, `<br>` or one element a line."""
    for line_break in node.css("br"):
        line_break.replace_with("\n")
    return node.text()


def _language(node: LexborNode) -> str:
    code = node.css_first("code")
    parent = node.parent
    grandparent = parent.parent if parent is not None else None
    for candidate in (node, code, parent, grandparent):
        if candidate is not None and (found := _LANGUAGE.search(attribute(candidate, "class"))):
            return "" if found[1] in _NO_LANGUAGE else found[1]
    return ""


def _anchor(node: LexborNode) -> str:
    if own := attribute(node, "id"):
        return own
    inner = node.css_first("a[id], a[name], span[id]")
    if inner is not None:
        return attribute(inner, "id") or attribute(inner, "name")
    parent = node.parent
    is_first = parent is not None and parent.css_first("h1, h2, h3, h4, h5, h6") == node
    if parent is not None and is_first and (parent.tag == "section" or "section" in _classes(parent)):
        return attribute(parent, "id")
    return ""
