"""HTML pages into clean Markdown: the article without navigation and buttons. The only importer of selectolax."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.ingest.pagetext import ADMONITIONS, PageText, code_span, plain

MAX_DEPTH = 200
"""Real pages are less than 60 deep; the parser's time grows with the square of the depth."""

_ROOTS = (
    "div.theme-doc-markdown",
    "article div.markdown",
    "article.md-content__inner",
    "article.bd-article",
    "div[role=main]",
    "main article",
    "article",
    "div.body",
    "main",
    "#content",
    "body",
)
_JUNK = (
    "script, style, noscript, template, iframe, svg, button, form, nav, footer, object, canvas, video, audio, "
    "a.headerlink, a.hash-link, a.anchorjs-link, a.anchor[aria-hidden], .md-content__button, .md-source-file, "
    ".md-feedback, .theme-edit-this-page, .theme-doc-footer, .pagination-nav, .theme-doc-breadcrumbs, .breadcrumbs, "
    ".theme-doc-toc-mobile, .theme-doc-toc-desktop, .table-of-contents, .toc, .sphinxsidebar, .related, .linenos, "
    ".lineno, .linenodiv, .copybtn, .prev-next-area, .sr-only, .visually-hidden, .md-clipboard, [role=navigation], "
    "a.footnote-ref, a.footnote-backref, a[data-footnote-ref], a[data-footnote-backref], .theme-doc-version-badge, "
    ".edit-this-page, .viewcode-link, .wy-breadcrumbs, .rst-footer-buttons, .skip-link, .navbar, .sidebar, "
    "body > header, aside:not(.admonition):not(.footnote):not(.footnote-list):not(.topic)"
)
_DROPPED = frozenset(("script", "style", "svg", "iframe", "button", "template", "head", "math"))
_INLINE = frozenset(
    "-text a abbr b bdi bdo big br cite code data del dfn em font i img input ins kbd label mark q s samp small span "
    "strike strong sub sup time tt u var wbr".split()
)
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]*?(/?)>")
_UNCOUNTED = frozenset(
    "p li td th tr dt dd thead tbody tfoot option br hr img input meta link source wbr area col embed base".split()
)
_SPACE = re.compile(r"[ \t\r\n\f]+")
_LANGUAGE = re.compile(r"\b(?:language|lang|highlight|brush:)-([\w+#.-]+)")
_TITLE_END = re.compile(r"\s+[|—–-]\s+[^|—–]*$")


class UnreadableHtml(ValueError):
    """The message says why."""


@dataclass(frozen=True, slots=True)
class HtmlPage:
    text: PageText
    title: str
    language: str
    version: str
    crumbs: tuple[str, ...]
    """The categories above the page, outermost first."""
    links: tuple[str, ...]
    """Every `href` of the whole page, as it stands."""
    is_hidden: bool
    """Asks not to be indexed."""


def read_html(source: str) -> HtmlPage:
    """Raises UnreadableHtml when the tags are nested deeper than any real page."""
    _check_depth(source)
    tree = LexborHTMLParser(source)
    links = tuple(href for a in tree.css("a[href]") if (href := a.attributes.get("href")))
    crumbs = _crumbs(tree)
    page = PageText()
    root = next((node for css in _ROOTS if (node := tree.css_first(css)) and node.text().strip()), tree.body)
    title = ""
    if root is not None:
        for junk in root.css(_JUNK):
            if junk.parent is not None:
                junk.decompose()
        _Walk(page).blocks(root)
        heading = root.css_first("h1")
        title = plain(heading.text()) if heading else ""
    if not title and (named := tree.css_first("head > title")):
        title = plain(_TITLE_END.sub("", named.text()))
    return HtmlPage(
        text=page,
        title=title,
        language=_attribute(tree.css_first("html"), "lang").split("-")[0].lower(),
        version=_attribute(tree.css_first("meta[name='docsearch:version'], meta[name=docusaurus_version]"), "content"),
        crumbs=crumbs,
        links=links,
        is_hidden="noindex" in _attribute(tree.css_first("meta[name=robots]"), "content").lower(),
    )


def fragment_markdown(source: str) -> str:
    """A piece of HTML as Markdown; empty when it is nested too deeply."""
    try:
        _check_depth(source)
    except UnreadableHtml:
        return ""
    page = PageText()
    body = LexborHTMLParser(source).body
    if body is not None:
        _Walk(page).blocks(body)
    return page.text


def _check_depth(source: str) -> None:
    depth = 0
    for close, name, single in _TAG.findall(source):
        if single or name.lower() in _UNCOUNTED:
            continue
        depth += -1 if close else 1
        if depth > MAX_DEPTH:
            raise UnreadableHtml(f"The tags are nested more than {MAX_DEPTH} deep.")


def _crumbs(tree: LexborHTMLParser) -> tuple[str, ...]:
    items = tree.css(".breadcrumbs__item, .wy-breadcrumbs li, ol.breadcrumb li, .bd-breadcrumbs li")
    labels = [plain(item.text()) for item in items]
    return tuple(label for label in labels[:-1] if label and label.lower() not in ("home", "docs", "»"))


def _attribute(node: LexborNode | None, name: str) -> str:
    return (node.attributes.get(name) or "").strip() if node is not None else ""


def _children(node: LexborNode) -> Iterator[LexborNode]:
    child = node.child
    while child is not None:
        yield child
        child = child.next


def _classes(node: LexborNode) -> set[str]:
    return set((node.attributes.get("class") or "").split())


class _Walk:
    """Writes the blocks under a node."""

    def __init__(self, page: PageText) -> None:
        self._page = page

    def blocks(self, node: LexborNode, indent: str = "") -> None:
        run: list[str] = []
        for child in _children(node):
            tag = child.tag or ""
            if tag in _INLINE and not self._is_block(child):
                run.append(_inline(child))
            elif tag not in _DROPPED and not tag.startswith("-"):
                self._flush(run, indent)
                self._block(child, tag, indent)
        self._flush(run, indent)

    def _flush(self, run: list[str], indent: str) -> None:
        text = _tidy("".join(run))
        run.clear()
        self._page.prose(text, indent)

    def _is_block(self, node: LexborNode) -> bool:
        if node.tag == "-text" or node.child is None:
            return False
        classes = _classes(node)
        if "katex-display" in classes:
            return True
        return (
            node.tag in ("a", "span", "label", "ins", "del")
            and node.css_first("p, div, pre, ul, ol, table, h2, h3") is not None
        )

    def _block(self, node: LexborNode, tag: str, indent: str) -> None:
        if tag in ("h1", "h2", "h3", "h4", "h5", "h6"):
            self._page.heading(int(tag[1]), _tidy(_inline_children(node)), _anchor(node))
        elif tag == "pre":
            self._page.code(_code_text(node).strip("\n"), _language(node))
        elif tag in ("ul", "ol"):
            self._list(node, tag, indent)
        elif tag == "table":
            self._table(node, indent)
        elif tag == "dl":
            for child in _children(node):
                if child.tag in ("dt", "dd", "div"):
                    self.blocks(child, indent)
        elif "katex-display" in _classes(node) or (tag == "div" and {"arithmatex", "math"} & _classes(node)):
            self._page.math(_tex(node))
        elif tag == "hr":
            return
        else:
            self._box(node, indent)

    def _box(self, node: LexborNode, indent: str) -> None:
        """A container: an admonition, tabs, or nothing but its content."""
        classes = _classes(node)
        if "admonition" in classes or "theme-admonition" in classes:
            title = node.css_first(".admonition-title, [class*=admonitionHeading], [class*=admonition-heading]")
            depth = self._page.enter()
            if title is not None:
                self._page.box(_kind(classes), _tidy(title.text()), indent)
                title.decompose()
            self.blocks(node, indent)
            self._page.leave(depth)
            return
        labels = self._tab_labels(node, classes)
        if not labels:
            self.blocks(node, indent)
            return
        panels = node.css("[role=tabpanel], .tabbed-block")
        for i, panel in enumerate(panels):
            depth = self._page.enter()
            self._page.tab(labels[i] if i < len(labels) else "", indent)
            self.blocks(panel, indent)
            self._page.leave(depth)

    def _tab_labels(self, node: LexborNode, classes: set[str]) -> list[str]:
        if "tabbed-set" in classes:
            return [_tidy(label.text()) for label in node.css(".tabbed-labels > label")]
        if any(child.attributes.get("role") == "tablist" for child in _children(node) if child.is_element_node):
            return [_tidy(tab.text()) for tab in node.css("[role=tab]")]
        return []

    def _list(self, node: LexborNode, tag: str, indent: str) -> None:
        start = _attribute(node, "start")
        number = int(start) if start.isdigit() and len(start) < 9 else 1
        for item in _children(node):
            if item.tag != "li":
                continue
            marker = "-" if tag == "ul" else f"{number}."
            number += 1
            depth = self._page.enter()
            self._item(item, marker, indent)
            self._page.leave(depth)

    def _item(self, item: LexborNode, marker: str, indent: str) -> None:
        """The first line of an item follows its marker; the rest of it is indented under it."""
        hang = indent + " " * (len(marker) + 1)
        run: list[str] = []
        is_first = True
        for child in _children(item):
            tag = child.tag or ""
            if tag in _INLINE and not self._is_block(child):
                run.append(_inline(child))
                continue
            if tag in _DROPPED or tag.startswith("-"):
                continue
            if is_first:
                if not "".join(run).strip() and tag in ("p", "div"):
                    run.append(_inline_children(child))
                    tag = ""
                self._page.item(marker, _tidy("".join(run)), indent)
                run.clear()
                is_first = False
            else:
                self._flush(run, hang)
            if tag:
                self._block(child, tag, hang)
        if is_first:
            self._page.item(marker, _tidy("".join(run)), indent)
        else:
            self._flush(run, hang)

    def _table(self, node: LexborNode, indent: str) -> None:
        if code := node.css_first("td.code pre"):
            self._page.code(_code_text(code).strip("\n"), _language(code))
            return
        if node.css_first("pre, table table"):
            for cell in node.css("td, th"):
                self.blocks(cell, indent)
            return
        if caption := node.css_first("caption"):
            self._page.caption(_tidy(_inline_children(caption)), indent)
        rows = [[_tidy(_inline_children(c)) for c in _children(row) if c.tag in ("td", "th")] for row in node.css("tr")]
        rows = [row for row in rows if any(row)]
        if rows and not node.css_first("th"):
            rows.insert(0, [""] * len(rows[0]))
        self._page.table(rows)


def _kind(classes: set[str]) -> str:
    named = (name.removeprefix("theme-admonition-").removeprefix("alert--") for name in classes)
    return next((name for name in sorted(named) if name in ADMONITIONS), "note")


def _tidy(text: str) -> str:
    """Runs of blanks become one; a line break that was a `<br>` stays."""
    return "\n".join(_SPACE.sub(" ", line).strip() for line in text.split("\x0b")).strip()


def _inline(node: LexborNode) -> str:
    tag = node.tag or ""
    if tag == "-text":
        return node.text_content or ""
    if tag == "br":
        return "\x0b"
    if tag == "img":
        return _attribute(node, "alt")
    if tag in _DROPPED or tag.startswith("-"):
        return ""
    if tag in ("code", "tt", "kbd", "samp"):
        text = _SPACE.sub(" ", node.text()).strip()
        return code_span(text) if text else ""
    classes = _classes(node)
    if {"katex", "arithmatex", "math"} & classes and (tex := _tex(node)):
        return f"${tex}$"
    inner = _inline_children(node)
    return f" {inner} " if tag not in _INLINE else inner


def _inline_children(node: LexborNode) -> str:
    return "".join(_inline(child) for child in _children(node))


def _tex(node: LexborNode) -> str:
    annotation = node.css_first("annotation")
    tex = (annotation.text() if annotation else node.text()).strip()
    for opening, closing in (("\\(", "\\)"), ("\\[", "\\]"), ("$$", "$$"), ("$", "$")):
        if tex.startswith(opening) and tex.endswith(closing):
            tex = tex[len(opening) : len(tex) - len(closing)].strip()
    return _SPACE.sub(" ", tex)


def _code_text(node: LexborNode) -> str:
    """Code with its line breaks, whether they are characters, `<br>` or one element a line."""
    if node.css_first("br") is None:
        return node.text()
    parts: list[str] = []
    for child in _children(node):
        if child.tag == "br":
            parts.append("\n")
        elif child.tag == "-text":
            parts.append(child.text_content or "")
        else:
            parts.append(_code_text(child))
    return "".join(parts)


def _language(node: LexborNode) -> str:
    code = node.css_first("code")
    parent = node.parent
    grandparent = parent.parent if parent is not None else None
    for candidate in (node, code, parent, grandparent):
        if candidate is not None and (found := _LANGUAGE.search(_attribute(candidate, "class"))):
            name = found[1]
            return "" if name in ("text", "none", "default", "notranslate") else name
    return ""


def _anchor(heading: LexborNode) -> str:
    if own := _attribute(heading, "id"):
        return own
    inner = heading.css_first("a[id], a[name], span[id]")
    if inner is not None:
        return _attribute(inner, "id") or _attribute(inner, "name")
    parent = heading.parent
    if parent is not None and (parent.tag == "section" or "section" in _classes(parent)):
        return _attribute(parent, "id")
    return ""
