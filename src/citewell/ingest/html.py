"""HTML pages: the content of a page without navigation, buttons and what generators add; its title and language."""

import re

from selectolax.lexbor import LexborHTMLParser, LexborNode

from citewell.ingest.bounds import UnreadablePage
from citewell.ingest.html_blocks import Walk, attribute
from citewell.ingest.mathml import children
from citewell.ingest.pagetext import PageContent, PageText, plain
from citewell.ingest.share import letters

MAX_DEPTH = 200
"""Real pages are less than 60 deep; the parser's time grows with the square of the depth."""
_MOST = 0.6
"""A content root holds at least this share of the body's text that is not in links: a card or a teaser does not."""

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
)
_CHROME = (
    "script:not([type^='math/tex']), style, noscript, template, iframe, svg, button:not([role=tab]), form, nav, "
    "footer, [role=navigation], body > header, .toctree-wrapper, div.contents.topic, div.contents.local"
)
"""What is no text of the page: menus, those in it too, and the like. The rest counts as missing in the report."""
_JUNK = (
    "object, canvas, video, audio, "
    "a.headerlink, a.hash-link, a.anchorjs-link, a.anchor[aria-hidden], a.anchor-link, .md-content__button, "
    ".md-source-file, .md-feedback, .theme-edit-this-page, .theme-doc-footer, .pagination-nav, .theme-doc-breadcrumbs, "
    ".breadcrumbs, .theme-doc-toc-mobile, .theme-doc-toc-desktop, .table-of-contents, .toc, .sphinxsidebar, .related, "
    ".linenos, .lineno, .linenodiv, .copybtn, .prev-next-area, .sr-only, .visually-hidden, .md-clipboard, "
    "a.footnote-ref, a.footnote-backref, a[data-footnote-ref], a[data-footnote-backref], a.footnote-reference, "
    "a[role=doc-noteref], a[role=doc-backlink], "
    ".theme-doc-version-badge, .edit-this-page, .viewcode-link, .wy-breadcrumbs, .rst-footer-buttons, .skip-link, "
    ".footnote > .label, .footnote > .backrefs, "
    ".navbar, .MathJax_Preview, .MathJax, "
    ".nav-chapters, #menu-bar, #sidebar, .nav-wrapper"
)
_LISTINGS = "table.indextable, #search-results"
"""What only pages of Sphinx have that lead to others: the index, the list of modules, the search."""
_BESIDE = "aside, .sidebar"
"""A menu when most of it is links or when it stands beside the article, else a box that belongs to the text."""
_NAMESPACE = re.compile(r"""xmlns:([\w.-]+)\s*=\s*["']http://www\.w3\.org/(?:1998/Math/MathML|1999/xhtml)["']""")
_TAG = re.compile(r"<(/?)([a-zA-Z][a-zA-Z0-9]*)[^<>]*?(/?)>")
UNCLOSED_TAGS = frozenset(
    "p li td th tr dt dd thead tbody tfoot option br hr img input meta link source wbr area col embed base".split()
)
"""What HTML lets a page begin and never close."""
_UNSEEN_STYLE = re.compile(
    r"""display\s*:\s*['"]?none|visibility\s*:\s*['"]?hidden|font-?size\s*:\s*['"]?0(?!\.?\d*[1-9])|"""
    r"""opacity\s*:\s*['"]?0(?!\.?\d*[1-9])|(?:left|top|text-?indent)\s*:\s*['"]?-\d{3,}""",
    re.IGNORECASE,
)
_UNSEEN_TAG = re.compile(r"""\shidden(?:[\s/>]|\s*=\s*["'{]*(?:hidden|true|["'])|=$)""", re.IGNORECASE)
_PANEL = re.compile(r"tab-?panel|tabbed|tab-content", re.IGNORECASE)
"""What is hidden until its tab is chosen is there to be read."""
_TITLE_END = re.compile(r"\s+[|—–-]\s+[^|—–]*$")


class UnreadableHtml(UnreadablePage):
    """The message says why."""

    code = "unreadable_html"


def read_html(source: str) -> PageContent:
    """Raises UnreadableHtml when the tags are nested deeper than any real page."""
    _check_depth(source)
    tree = LexborHTMLParser(_without_prefixes(source))
    links = tuple(href for a in tree.css("a[href]") if (href := a.attributes.get("href")))
    module = _module(tree)
    rule = _rule_against(tree)
    page = PageText()
    title = ""
    count = 0
    if tree.body is not None:
        _remove(tree.body, _CHROME)
        _remove_unseen(tree.body)
        for beside in tree.body.css(_BESIDE):
            if beside.parent is not None and _is_menu(beside, beside.parent):
                beside.decompose()
        count = letters(tree.body.text())
        _remove(tree.body, _JUNK)
        root = _root(tree.body)
        Walk(page).blocks(root)
        heading = root.css_first("h1") or tree.body.css_first("h1")
        title = plain(heading.text()) if heading else ""
    if not title and (named := tree.css_first("head > title")):
        title = plain(_TITLE_END.sub("", named.text())).replace("<no title>", "")  # which Sphinx writes
    return PageContent(
        text=page,
        title=title,
        language=attribute(tree.css_first("html"), "lang").split("-")[0].lower(),
        version=attribute(tree.css_first("meta[name='docsearch:version'], meta[name=docusaurus_version]"), "content"),
        module=module,
        links=links,
        rule_against=rule,
        letters=count,
    )


def _rule_against(tree: LexborHTMLParser) -> str:
    if "noindex" in attribute(tree.css_first("meta[name=robots]"), "content").lower():
        return "It asks not to be indexed."
    return "It only leads to other pages: an index or a search." if tree.css_first(_LISTINGS) else ""


def _without_prefixes(source: str) -> str:
    """XHTML may write `<m:mfrac>` for `<mfrac>`."""
    prefixes = "|".join(re.escape(prefix) for prefix in set(_NAMESPACE.findall(source)))
    return re.sub(rf"(</?)(?:{prefixes}):(?=[a-zA-Z])", r"\1", source) if prefixes else source


def _is_menu(node: LexborNode, parent: LexborNode) -> bool:
    beside_article = any(child.tag in ("article", "main") for child in children(parent))
    return beside_article or 2 * _said(node) <= letters(node.text())


def _remove(node: LexborNode, css: str) -> None:
    for junk in node.css(css):
        if junk.parent is not None:
            junk.decompose()


def is_unseen(tag: str) -> bool:
    """Whether a start tag hides what it holds from readers: a style of its own, or the attribute."""
    if _PANEL.search(tag):
        return False
    style = tag.lower().find("style")
    return _UNSEEN_TAG.search(tag) is not None or (style >= 0 and _UNSEEN_STYLE.search(tag, style) is not None)


def _remove_unseen(body: LexborNode) -> None:
    for node in body.css("[hidden], [style]"):
        shown = " ".join(f'{name}="{value or ""}"' for name, value in node.attributes.items() if name != "hidden")
        hidden = "hidden" in node.attributes and attribute(node, "hidden").lower() not in ("false", "until-found")
        if node.parent is not None and is_unseen(f"<{node.tag} {'hidden ' * hidden}{shown}>"):
            node.decompose()


def fragment_markdown(source: str) -> str:
    """A piece of HTML as Markdown; empty when it is nested too deeply."""
    try:
        _check_depth(source)
    except UnreadableHtml:
        return ""
    page = PageText()
    body = LexborHTMLParser(source).body
    if body is not None:
        _remove_unseen(body)
        Walk(page).blocks(body)
    return page.text


def _root(body: LexborNode) -> LexborNode:
    """The first known content root that holds most of what the body says; else the body."""
    whole = _said(body)
    candidates = (node for css in _ROOTS if (node := body.css_first(css)) is not None)
    return next((node for node in candidates if _said(node) >= _MOST * whole), body)


def _said(node: LexborNode) -> int:
    """The letters of the text that are not in links: a menu says little, however long it is."""
    return letters(node.text()) - sum(letters(link.text()) for link in node.css("a"))


def _check_depth(source: str) -> None:
    depth = 0
    for close, name, single in _TAG.findall(source):
        if single or name.lower() in UNCLOSED_TAGS:
            continue
        depth += -1 if close else 1
        if depth > MAX_DEPTH:
            raise UnreadableHtml(f"The tags are nested more than {MAX_DEPTH} deep.")


def _module(tree: LexborHTMLParser) -> str:
    items = tree.css(".breadcrumbs__item, .wy-breadcrumbs li, ol.breadcrumb li, .bd-breadcrumbs li")
    labels = (plain(item.text()) for item in items[:-1])
    return next((label for label in labels if label and label.lower() not in ("home", "docs", "»")), "")
