"""Markdown and MDX into clean Markdown with headings. The only module that imports markdown_it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from textwrap import dedent
from typing import Literal

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token
from mdit_py_plugins.deflist import deflist_plugin
from mdit_py_plugins.dollarmath import dollarmath_plugin
from mdit_py_plugins.footnote import footnote_plugin

from citewell.document import container_part
from citewell.ingest.anchors import Anchors, explicit_id
from citewell.ingest.containers import at_margin
from citewell.ingest.marks import CODE_CLOSE, CODE_OPEN, NO_ANCHOR, Mark, has_marks, mark_of, without_marks
from citewell.ingest.mdx import Partial, strip_mdx
from citewell.ingest.pagetext import PageText, code_span

Flavour = Literal["docusaurus", "mkdocs", "mdbook", "sphinx"]

_SPECIAL = re.compile(r"[\\`~*_\[<&$]|  \n")
"""What may be more than its own letters; an image and a note in the text have a bracket too."""
_LINE_BREAK = re.compile(r" ?\n[ \t]*")
_TASK = re.compile(r"^\[[ xX]\]\s+")
_CODE = re.compile(f"{CODE_OPEN}([^{CODE_OPEN}{CODE_CLOSE}]*){CODE_CLOSE}")
_ALERT = re.compile(r"\[!([A-Za-z][\w-]*)\][+-]?\s*")
"""GitHub has five kinds; others have their own, and a title behind them."""


@dataclass(frozen=True, slots=True)
class MarkdownPage:
    text: PageText
    title: str
    """Of the first heading of level 1; empty when there is none."""
    unclosed: tuple[str, ...]


def read_markdown(source: str, flavour: Flavour, partial: Partial) -> MarkdownPage:
    """`source` is the body, without front matter."""
    source = without_marks(source.replace("\r\n", "\n").replace("\r", "\n"))
    if flavour == "mkdocs":
        source = at_margin(source)
    stripped = strip_mdx(source, mdx=flavour == "docusaurus", partial=partial)
    page = _Render(flavour).page(_parser(flavour).parse(stripped.text))
    title = next((h.title for h in page.headings if h.level == 1), "")
    return MarkdownPage(page, title, stripped.unclosed)


@lru_cache(maxsize=4)
def _parser(flavour: Flavour) -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"maxNesting": 50}).enable(["table", "strikethrough"])
    # What is left of HTML after the tags were taken out is text.
    parser.disable(["html_block", "html_inline"])
    parser.use(footnote_plugin).use(dollarmath_plugin, allow_digits=False, allow_space=False, double_inline=True)
    if flavour != "docusaurus":
        parser.use(deflist_plugin)
    else:
        parser.disable("code")  # MDX has no code by indentation
    parser.core.ruler.at("inline", _parse_inline)
    return parser


def _parse_inline(state: StateCore) -> None:
    """As the parser's own rule; text without any sign, which is most of it, needs no parsing."""
    for token in state.tokens:
        if token.type != "inline":
            continue
        token.children = []
        if _SPECIAL.search(token.content):
            state.md.inline.parse(token.content, state.md, state.env, token.children)
        elif token.content:
            token.children.append(Token("text", "", 0, content=_LINE_BREAK.sub(" ", token.content)))


class _Render:
    def __init__(self, flavour: Flavour) -> None:
        self._flavour = flavour
        self._anchors = Anchors("toc" if flavour == "mkdocs" else "github")
        self._page = PageText()
        self._lists: list[tuple[str, int]] = []
        """For each open list: the marker ("-" or "1.") and the number that comes next."""
        self._marker: str | None = None
        """Of an item that has no text yet."""
        self._terms: list[str] = []
        """Of a definition that has no text yet."""
        self._term_anchor = ""
        self._depths: list[int] = []
        """Where to go back to when an item, a definition or a quotation ends: marks in it may never be closed."""
        self._boxes: list[int] = []
        """The same for the boxes and tabs that marks opened."""
        self._notes: dict[int, list[Token]] = {}
        self._wanted: list[int] = []

    def page(self, tokens: Sequence[Token]) -> PageText:
        body, self._notes = _take_footnotes(tokens)
        self._blocks(body)
        return self._page

    def _blocks(self, tokens: Sequence[Token]) -> None:
        i = 0
        while i < len(tokens):
            token = tokens[i]
            if token.type == "table_open":
                end = next(j for j in range(i, len(tokens)) if tokens[j].type == "table_close")
                self._begin_content()
                self._page.table(self._rows(tokens[i:end]))
                i = end
            elif token.type == "inline":
                self._inline_block(tokens[i - 1], token)
            else:
                self._block(token)
            i += 1
            if token.level == 0 and token.nesting <= 0 and self._wanted:
                self._append_footnotes()

    def _block(self, token: Token) -> None:
        match token.type:
            case "bullet_list_open":
                self._begin_content()
                self._lists.append(("-", 0))
            case "ordered_list_open":
                self._begin_content()
                start = token.attrGet("start")
                self._lists.append(("1.", int(start) if start is not None else 1))
            case "bullet_list_close" | "ordered_list_close":
                self._lists.pop()
            case "list_item_open":
                marker, number = self._lists[-1]
                self._marker = "-" if marker == "-" else f"{number}."
                self._lists[-1] = (marker, number + 1)
                self._depths.append(self._page.enter())
            case "dl_open":
                self._begin_content()
            case "dd_open" | "blockquote_open":
                self._depths.append(self._page.enter())
            case "list_item_close" | "dd_close" | "blockquote_close":
                self._marker = None if token.type == "list_item_close" else self._marker
                self._begin_content()
                self._leave()
            case "fence":
                self._begin_content()
                self._page.code(token.content, token.info)
            case "code_block" if has_marks(token.content):
                # Tags that stood indented in other tags: no code, as their indentation means nothing in HTML.
                self._blocks(_parser(self._flavour).parse(dedent(token.content)))
            case "code_block":
                self._begin_content()
                self._page.code(token.content)
            case "math_block" | "math_block_label":
                self._begin_content()
                self._page.math(token.content)
            case _:
                pass

    def _leave(self) -> None:
        depth = self._depths.pop()
        self._page.leave(depth)
        while self._boxes and self._boxes[-1] >= depth:
            self._boxes.pop()

    def _inline_block(self, opening: Token, token: Token) -> None:
        children = token.children or []
        if opening.type == "heading_open":
            self._heading(int(opening.tag[1]), children)
            return
        text = self._inline(children)
        indent = self._indent(len(self._lists))
        if opening.type == "dt_open":
            self._terms.append(text)
        elif mark := mark_of(text):
            self._begin_content(keep_terms=mark.kind in ("term", "meaning"))
            self._mark(mark, indent)
        elif self._marker is not None:
            if text.strip():
                self._page.item(self._marker, _TASK.sub("", text), self._indent(len(self._lists) - 1))
                self._marker = None
        elif self._terms:
            self._define(text)
        elif len(children) == 1 and children[0].type == "math_inline_double":
            self._page.math(children[0].content)
        else:
            if alert := _ALERT.match(text):
                self._page.box(alert[1], "", indent)
                text = text[alert.end() :]
            self._page.prose(text, indent)

    def _mark(self, mark: Mark, indent: str) -> None:
        match mark.kind:
            case "box":
                self._boxes.append(self._page.enter())
                self._page.box(mark.name, mark.text, indent)
            case "tab":
                self._boxes.append(self._page.enter())
                self._page.tab(mark.text, indent)
            case "caption":
                self._page.caption(mark.text, indent)
            case "part":
                self._boxes.append(self._page.enter(container_part(mark.name)))
            case "term":
                self._terms.append(mark.text)
                self._term_anchor = self._term_anchor or mark.name
            case "meaning":
                self._boxes.append(self._page.enter())
            case "end":
                if self._boxes and (not self._depths or self._boxes[-1] > self._depths[-1]):
                    self._page.leave(self._boxes.pop())

    def _heading(self, level: int, children: Sequence[Token]) -> None:
        text, given = explicit_id(self._inline(children))
        anchor = self._anchors.of(_label(children)) if given is None else self._anchors.explicit(given)
        anchor = "" if given == NO_ANCHOR else anchor
        if self._flavour == "docusaurus" and level == 1:
            anchor = ""  # Docusaurus gives the page's own title no anchor
        self._begin_content()
        self._page.heading(level, text, anchor)

    def _begin_content(self, *, keep_terms: bool = False) -> None:
        """An item or definition that begins with a block other than a paragraph has a line of its own."""
        if self._marker is not None:
            self._page.item(self._marker, "", self._indent(len(self._lists) - 1))
            self._marker = None
        if self._terms and not keep_terms:
            self._define("")

    def _define(self, meaning: str) -> None:
        self._page.define(self._terms, meaning, self._term_anchor)
        self._terms, self._term_anchor = [], ""

    def _indent(self, deep: int) -> str:
        return "".join(" " * (2 if marker == "-" else 3) for marker, _ in self._lists[:deep])

    def _rows(self, tokens: Sequence[Token]) -> list[list[str]]:
        rows: list[list[str]] = []
        for token in tokens:
            if token.type == "tr_open":
                rows.append([])
            elif token.type == "inline":
                rows[-1].append(self._inline(token.children or []))
        return rows

    def _inline(self, children: Sequence[Token]) -> str:
        parts: list[str] = []
        for token in children:
            match token.type:
                case "text" | "text_special":
                    parts.append(token.content)
                case "code_inline":
                    parts.append(code_span(token.content))
                case "softbreak":
                    parts.append(" ")
                case "hardbreak":
                    parts.append("\n")
                case "image":
                    parts.append(_label(token.children or []))
                case "math_inline" | "math_single":
                    parts.append(f"${' '.join(token.content.split())}$")
                case "math_inline_double":
                    parts.append(f"$${' '.join(token.content.split())}$$")
                case "footnote_ref":
                    self._wanted.append(int(token.meta["id"]))
                case _:
                    pass
        return _marked_code("".join(parts))

    def _append_footnotes(self) -> None:
        """A note stands right after the block that refers to it, so that it is found under the same heading."""
        wanted, self._wanted = self._wanted, []
        for number in dict.fromkeys(wanted):
            self._blocks(self._notes.pop(number, []))


def _take_footnotes(tokens: Sequence[Token]) -> tuple[list[Token], dict[int, list[Token]]]:
    """The plugin gathers the notes at the end; take them from there, each by its number."""
    body: list[Token] = []
    notes: dict[int, list[Token]] = {}
    current: list[Token] | None = None
    for token in tokens:
        if token.type == "footnote_open":
            current = notes.setdefault(int(token.meta["id"]), [])
        elif token.type == "footnote_close":
            current = None
        elif token.type not in ("footnote_block_open", "footnote_block_close", "footnote_anchor"):
            (body if current is None else current).append(token)
    return body, notes


def _label(children: Sequence[Token]) -> str:
    """The bare words, as a site's slugger sees them."""
    parts = []
    for token in children:
        if token.type == "image":
            parts.append(_label(token.children or []))
        elif token.type in ("softbreak", "hardbreak"):
            parts.append(" ")
        elif token.type in ("text", "text_special", "code_inline") or token.type.startswith("math_"):
            parts.append(token.content)
    return without_marks("".join(parts)).strip()


def _marked_code(text: str) -> str:
    if CODE_OPEN in text:
        text = _CODE.sub(lambda m: code_span(m[1].replace("`", "")) if m[1].strip() else "", text)
    return text.replace(CODE_OPEN, "").replace(CODE_CLOSE, "")
