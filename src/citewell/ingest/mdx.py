"""MDX and HTML inside Markdown, taken out before parsing: imports, exports, tags and {expressions} go, text stays.

Parsed, never run. Code, in fences and between backticks, is never touched. Pure.
"""

import html as entities
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from textwrap import indent as indent_text

from citewell.document import container_part, fenced
from citewell.ingest.fences import segments
from citewell.ingest.html import UNCLOSED_TAGS, fragment_markdown, is_unseen
from citewell.ingest.javascript import MAX_CHARACTERS, balanced, statements
from citewell.ingest.marks import CODE_CLOSE, CODE_OPEN, END, NO_ANCHOR, Mark, without_marks

MAX_PARTIALS_DEEP = 5
_MAX_FAILED = 100
"""Braces and tags without an end, before the rest of the page is taken for text: each costs a search to the end."""
_LINE = 4000

_DIRECTIVE = re.compile(r"^(?P<indent>[ \t]*):{3,}[ \t]*(?:(?P<name>[A-Za-z][\w-]*)(?P<rest>.*))?$", re.MULTILINE)
_PARTIAL = re.compile(r"import[ \t]+(\w+)[ \t]+from[ \t]+[\"']([^\"'\n]+\.mdx?)[\"']")
_STOP = re.compile(r"\\.|`+|\$|<|\{", re.DOTALL)
_STOP_MARKDOWN = re.compile(r"\\.|`+|\$|<|\{(?=:?[ \t]*[#.]|:?[ \t]*[\w-]+=)", re.DOTALL)
_MATH = re.compile(
    r"\$\$(?:[^$\\]|\\.|\$(?!\$)){1,5000}?\$\$|\$(?![\s$])(?:[^$\\\n]|\\.|\n(?!\s*\n)){0,500}?(?<![\s\\])\$(?!\d)",
    re.DOTALL,
)
_BLANK = re.compile(r"\n[ \t]*\n")
_AUTOLINK = re.compile(r"<(?:[a-zA-Z][a-zA-Z0-9+.-]+:[^\s<>]*|[^\s<>@/]+@[^\s<>]+)>")
_TAG = re.compile(r"<(?P<close>/)?(?P<name>[A-Za-z][\w.:-]*)?(?=[\s/>])")
_TAG_STOP = re.compile(r"[\"'{>]")
_ATTRIBUTE = re.compile(
    r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)'|\{\s*"([^"]*)"\s*\}|\{\s*'([^']*)'\s*\}|\{\s*`([^`$]*)`\s*\})"""
)
_TAB_VALUE = re.compile(r"\{[^{}]*\}")
_LITERAL = re.compile(
    r"""^\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|`((?:[^`\\$]|\\.|\$(?!\{))*)`)\s*$""", re.DOTALL
)
_TEMPLATE = re.compile(r"\{\s*`((?:[^`\\]|\\.)*)`\s*\}", re.DOTALL)
_JSX_TEXT = re.compile(r"(?<!=)>([^<>{}]*[^<>{}\s][^<>{}]*)</")
_PROP = re.compile(
    r"(?:(?P<key>[\w-]+)\s*[=:]\s*\{?\s*)?"
    r"""(?:(?P<quote>["'])(?P<text>(?:(?!(?P=quote))[^\\\n]|\\.)*)(?P=quote)|`(?P<template>(?:[^`\\$]|\\.|\$(?!\{))*)`)"""
)
_UNSEEN_PROPS = frozenset("className class style id key src srcSet href to url icon type name value d viewBox".split())
_SHORTEST_PROP = 3
"""Words. What is shorter may be a setting; in a quiz or exercise it is an answer."""
_SUMMARY = re.compile(r"\s*<summary(?:\s[^<>]*)?>(.{0,2000}?)</summary>", re.DOTALL | re.IGNORECASE)
_ATTRIBUTE_LIST = re.compile(r"\{:?[ \t]*(?:[#.][^\s{}]+|[\w-]+=(?:\"[^\"]*\"|'[^']*'|[^\s{}]+))(?:[ \t]+[^{}\n]*)?\}")

_DROPPED = frozenset("script style svg iframe head video audio object noscript template canvas form math".split())
_BLOCKS = frozenset(
    "p div section article main header footer aside details summary figure figcaption ul ol dl dt dd blockquote center "
    "nav hr tabs tabitem admonition table thead tbody tr address".split()
)
_HEADINGS = frozenset(("h1", "h2", "h3", "h4", "h5", "h6", "heading"))
_REGIONS = _DROPPED | _HEADINGS | {"pre", "codeblock", "table", "figcaption", "dt"}

Partial = Callable[[str], str | None]
"""The text of a Markdown file that a page imports; None when it cannot be had."""


@dataclass(frozen=True, slots=True)
class Stripped:
    text: str
    unclosed: tuple[str, ...]
    """Names of tags that never end."""


def strip_mdx(source: str, *, mdx: bool, partial: Partial) -> Stripped:
    """Markdown alone. `mdx`: imports and {expressions} count too; without it they are text."""
    scan = _Scan(mdx, partial)
    text = scan.document(source)
    return Stripped(text, tuple(dict.fromkeys(scan.open_tags)))


@dataclass(slots=True)
class _Scan:
    mdx: bool
    partial: Partial
    open_tags: list[str] = field(default_factory=list)
    _imports: dict[str, str] = field(default_factory=dict)
    _tab_labels: list[dict[str, str]] = field(default_factory=list)
    _meanings: list[bool] = field(default_factory=list)
    """For each open `<dl>`: whether a `<dd>` is open in it."""
    _deep: int = 0
    _failed: int = 0

    def document(self, source: str) -> str:
        out: list[str] = []
        for is_code, text in segments(source, unwrap=self.mdx):
            out.append(text if is_code else self._prose(text))
        return "\n".join(out)

    def _prose(self, text: str) -> str:
        if self.mdx and ("import" in text or "export" in text):
            text = self._without_esm(text)
        if ":::" in text:
            text = _DIRECTIVE.sub(_directive, text)
        if not ("<" in text or "{" in text):
            return text
        out: list[str] = []
        at = 0
        stop = _STOP if self.mdx else _STOP_MARKDOWN
        while match := stop.search(text, at):
            out.append(text[at : match.start()])
            replaced, at = self._special(text, match)
            out.append(replaced)
        out.append(text[at:])
        return "".join(out)

    def _special(self, text: str, match: re.Match[str]) -> tuple[str, int]:
        """What stands for the thing that begins here, and where it ends."""
        start, mark = match.start(), match.group()
        if mark[0] == "\\":
            return mark, match.end()
        if mark[0] == "`":
            end = _code_span_end(text, match.end(), len(mark))
            return text[start:end], end
        if mark == "$":
            math = _MATH.match(text, start)
            return (math.group(), math.end()) if math and not _BLANK.search(math.group()) else ("$", match.end())
        if mark == "{":
            return self._braces(text, start)
        return self._angle(text, start)

    def _braces(self, text: str, start: int) -> tuple[str, int]:
        if not self.mdx:
            attributes = _ATTRIBUTE_LIST.match(text, start)
            if not attributes:
                return "{", start + 1
            # An id stays: the renderer takes it off the heading.
            return (attributes.group() if "#" in attributes.group() else ""), attributes.end()
        line = text[text.rfind("\n", max(0, start - _LINE), start) + 1 : start]
        if line.lstrip().startswith("#") and (
            explicit := re.compile(r"\{(?:/\*[ \t]*)?#[^\s{}*]+(?:[ \t]*\*/)?\}").match(text, start)
        ):
            return explicit.group(), explicit.end()
        end = balanced(text, start) if self._failed < _MAX_FAILED else None
        if end is None:
            self._failed += 1
            return "{", start + 1
        return self._expression(text[start + 1 : end - 1]), end

    def _expression(self, source: str) -> str:
        if literal := _LITERAL.match(source):
            return next(group for group in literal.groups() if group is not None)
        return " ".join(part.strip() for part in _JSX_TEXT.findall(source))

    def _angle(self, text: str, start: int) -> tuple[str, int]:
        if text.startswith("<!--", start):
            closed = text.find("-->", start) + 3 if self._failed < _MAX_FAILED else 0
            if closed < 3:
                self._failed += 1
                self.open_tags.append("!--")
                return "", start + 4
            return "", closed
        if autolink := _AUTOLINK.match(text, start):
            return autolink.group(), autolink.end()
        tag = _TAG.match(text, start)
        if not tag or (tag["name"] is None and not (self.mdx and text.startswith(">", tag.end()))):
            return "<", start + 1
        end = self._tag_end(text, tag.end()) if self._failed < _MAX_FAILED else None
        if end is None:
            self._failed += 1
            self.open_tags.append(tag["name"] or "")
            return "<", start + 1
        source, name, is_close = text[start:end], tag["name"] or "", tag["close"] is not None
        attributes = {} if is_close else _attributes(source)
        return self._tag(text, _Tag(name, source, attributes, _place(text, start), is_close=is_close), end)

    def _tag_end(self, text: str, at: int) -> int | None:
        limit = at + MAX_CHARACTERS
        while stop := _TAG_STOP.search(text, at, limit):
            mark = stop.group()
            if mark == ">":
                return stop.end()
            after: int | None = stop.end()
            if mark != "{":
                after = text.find(mark, stop.end()) + 1 or None
            elif self.mdx:
                after = balanced(text, stop.start())
            if after is None:
                return None
            at = after
        return None

    def _tag(self, text: str, tag: "_Tag", end: int) -> tuple[str, int]:
        """What stands for a tag, and where what it stands for ends."""
        if whole := self._whole(text, tag, end):
            return whole
        if tag.is_close:
            self._closed(tag.name)
        elif not tag.is_single and tag.low not in UNCLOSED_TAGS:
            self.open_tags.append(tag.name)
        if tag.low == "details" and not tag.is_close and not tag.place.is_row:
            summary = _SUMMARY.match(text, end)
            title = self._line(summary[1]) if summary else ""
            return Mark("box", title, "details").alone(tag.place.indent), summary.end() if summary else end
        if tag.low == "br" and tag.place.is_alone(text, end):
            return "", end
        if tag.low == "img" and tag.place.is_alone(text, end):
            # Marked, so that it is not taken for code where it stood indented in other tags.
            return CODE_OPEN + CODE_CLOSE + self._single(tag), end
        return self._single(tag), end

    def _whole(self, text: str, tag: "_Tag", end: int) -> tuple[str, int] | None:
        """For a tag that is read as one with its content."""
        if tag.is_close or tag.is_single or not (tag.low in _REGIONS or is_unseen(tag.source)):
            return None
        region = _region_end(text, end, tag.name) if self._failed < _MAX_FAILED else None
        self._failed += region is None
        return (self._region(tag, text[end : region[0]]), region[1]) if region else None

    def _single(self, tag: "_Tag") -> str:
        """What stands for a tag alone."""
        place = tag.place
        match tag.low:
            case "code":
                return CODE_CLOSE if tag.is_close else "" if tag.is_single else CODE_OPEN
            case "img" | "image":
                return tag.attributes.get("alt", "")
            case "br":
                return " " if place.is_row else "\\\n" + place.indent
            case "li" if not tag.is_close:
                return " " if place.is_row else f"\n{place.indent}- "
        if tag.name in self._imports and not tag.is_close:
            return self._included(tag)
        if place.is_row:
            return " " if tag.low in _BLOCKS else ""
        if tag.low in _BLOCKS:
            return self._block(tag)
        return _component(tag) if self.mdx and tag.name[:1].isupper() else ""

    def _block(self, tag: "_Tag") -> str:
        opened: list[Mark] = []
        match tag.low, tag.is_close:
            case "tabs", True:
                self._tab_labels[-1:] = []
            case "tabs", False:
                self._tab_labels.append(_labels(tag.source))
            case (("tabitem" | "admonition" | "details"), True):
                opened = [END]
            case "tabitem", False:
                value = tag.attributes.get("value", "")
                known = self._tab_labels[-1] if self._tab_labels else {}
                opened = [Mark("tab", known.get(value) or tag.attributes.get("label") or value)]
            case "admonition", False:
                opened = [Mark("box", tag.attributes.get("title", ""), tag.attributes.get("type", "note"))]
            case (("dl" | "dd" | "dt"), _):
                opened = self._definitions(tag)
        return "".join(mark.alone(tag.place.indent) for mark in opened) or f"\n\n{tag.place.indent}"

    def _definitions(self, tag: "_Tag") -> list[Mark]:
        """What `<dd>` opens ends with it, with the next term or meaning, or with the list."""
        if tag.low == "dl" and not tag.is_close:
            self._meanings.append(False)
            return []
        if not self._meanings or (tag.low == "dt" and tag.is_close):
            return []
        found = [END] if self._meanings.pop() else []
        if tag.low == "dl":
            return found
        self._meanings.append(tag.low == "dd" and not tag.is_close)
        return [*found, Mark("meaning")] if self._meanings[-1] else found

    def _region(self, tag: "_Tag", inner: str) -> str:
        """A tag with its content, read as one."""
        if tag.low in _DROPPED or is_unseen(tag.source):
            return ""
        match tag.low:
            case "dt":
                term = Mark("term", self._line(inner), tag.attributes.get("id", ""))
                return "".join(mark.alone(tag.place.indent) for mark in (*self._definitions(tag), term))
            case "table":
                inner = re.sub(r"\{[^{}]*\}", "", inner) if self.mdx else inner
                return f"\n\n{fragment_markdown(f'<table>{inner}</table>')}\n\n"
            case "figcaption":
                return Mark("caption", self._line(inner)).alone(tag.place.indent)
            case "pre" | "codeblock":
                computed = self.mdx and tag.low == "codeblock" and inner.strip().startswith("{")
                return "" if computed and not _TEMPLATE.search(inner) else _code(tag, inner)
            case _:
                return self._heading(tag, inner)

    def _heading(self, tag: "_Tag", inner: str) -> str:
        level = tag.attributes.get("as", "h2") if tag.low == "heading" else tag.low
        signs = "#" * int(level[1:]) if level[1:].isdigit() else "##"
        return f"\n\n{signs} {self._line(inner)} {{#{tag.attributes.get('id') or NO_ANCHOR}}}\n\n"

    def _line(self, inner: str) -> str:
        return " ".join(self._prose(inner).split())

    def _included(self, tag: "_Tag") -> str:
        """The partial that this tag stands for."""
        body = self.partial(self._imports[tag.name]) if self._deep < MAX_PARTIALS_DEEP else None
        if body is None:
            return ""
        for key, value in tag.attributes.items():
            body = body.replace(f"{{props.{key}}}", value)
        imports, self._imports = self._imports, {}
        self._deep += 1
        text = self.document(without_marks(body))
        self._deep -= 1
        self._imports = imports
        return "\n\n" + indent_text(text, tag.place.indent) + "\n\n"

    def _closed(self, name: str) -> None:
        for i in range(len(self.open_tags) - 1, -1, -1):
            if self.open_tags[i] == name:
                del self.open_tags[i]
                return

    def _without_esm(self, text: str) -> str:
        out: list[str] = []
        at = 0
        for start, end in statements(text):
            out.append(text[at:start])
            self._imports.update(_PARTIAL.findall(text[start:end]))
            at = end
        out.append(text[at:])
        return "".join(out)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where in its line a tag stands."""

    indent: str
    is_row: bool
    """In a table row or a heading, where no line may break."""
    is_first: bool

    def is_alone(self, text: str, end: int) -> bool:
        line_end = text.find("\n", end, end + _LINE)
        return self.is_first and not text[end : line_end if line_end >= 0 else end + _LINE].strip()


@dataclass(frozen=True, slots=True)
class _Tag:
    name: str
    source: str
    attributes: dict[str, str]
    place: _Place
    is_close: bool

    @property
    def low(self) -> str:
        return self.name.lower()

    @property
    def is_single(self) -> bool:
        return self.source.endswith("/>")


def _component(tag: _Tag) -> str:
    """A tag of the site's own. What it does is not known, but what it is called and is given to show is."""
    indent = tag.place.indent
    part = container_part(tag.name)
    closing = END.alone(indent) if part else ""
    if tag.is_close:
        return closing
    literals = [(m["key"] or "", (m["text"] or m["template"])) for m in _PROP.finditer(tag.source)]
    if tag.name == "Mermaid":
        drawing = max((text for _, text in literals), key=len, default="")
        return _fenced(drawing, "mermaid", indent) if drawing else ""
    lines = "\n".join(f"{indent}- {text}" for text in _told(literals, short=part is not None))
    if part is None:
        return f"\n\n{lines}\n\n{indent}" if lines else ""
    opening = Mark("part", name=tag.name).alone(indent)
    return f"{opening}\n{lines}\n" + (closing if tag.is_single else f"\n{indent}")


def _told(literals: Iterable[tuple[str, str]], *, short: bool) -> Iterator[str]:
    """The props for readers: sentences, or where `short` ones count, any words."""
    for key, text in literals:
        is_said = len(text.split()) > _SHORTEST_PROP or (short and any(map(str.isalpha, text)))
        if is_said and key not in _UNSEEN_PROPS:
            yield " ".join(entities.unescape(text).replace("\\n", " ").split())


def _code(tag: _Tag, inner: str) -> str:
    """`<pre>` or `<CodeBlock>`: its template string, or what stands in it without the tags that colour it."""
    if template := _TEMPLATE.search(inner):
        code = template[1].replace("\\`", "`").replace("\\$", "$").replace("\\\\", "\\")
    else:
        code = entities.unescape(re.sub(r"</?(?:code|span|b|i|em|strong|a)\b[^>]*>", "", inner))
    language = tag.attributes.get("language") or tag.attributes.get("className", "").removeprefix("language-")
    found = re.search(r"language-([\w+-]+)", tag.source + inner[:200])
    return _fenced(code, language or (found[1] if found else ""), tag.place.indent)


def _fenced(code: str, info: str, indent: str) -> str:
    """Code as a block of its own."""
    return "\n\n" + indent_text(fenced(code.strip("\n"), info), indent, lambda _: True) + f"\n\n{indent}"


def _place(text: str, start: int) -> _Place:
    first = text.rfind("\n", max(0, start - _LINE), start) + 1 or max(0, start - _LINE)
    line = text[first:start]
    body = line.lstrip(" \t")
    line_end = text.find("\n", start, start + _LINE)
    is_row = body.startswith("#") or "|" in text[first : line_end if line_end >= 0 else start + _LINE]
    marker = re.match(r"(?:[-*+]|\d{1,9}[.)])[ \t]+", body)
    indent = line[: len(line) - len(body)] + " " * (len(marker.group()) if marker else 0)
    return _Place(indent, is_row, not body)


def _code_span_end(text: str, at: int, length: int) -> int:
    close = re.compile(r"(?<!`)`{" + str(length) + r"}(?!`)").search(text, at)
    if not close or _BLANK.search(text, at, close.start()):
        return at
    return close.end()


def _region_end(text: str, at: int, name: str) -> tuple[int, int] | None:
    """Where the content of a tag ends and where its closing tag does."""
    pattern = re.compile(rf"<(/?){re.escape(name)}(?=[\s/>])[^>]*>", re.IGNORECASE)
    depth = 1
    for match in pattern.finditer(text, at):
        if match[1]:
            depth -= 1
        elif not match.group().endswith("/>"):
            depth += 1
        if depth == 0:
            return match.start(), match.end()
    return None


def _attributes(tag: str) -> dict[str, str]:
    return {
        m[1]: entities.unescape(next((g for g in m.groups()[1:] if g is not None), ""))
        for m in _ATTRIBUTE.finditer(tag)
    }


def _labels(tabs: str) -> dict[str, str]:
    """The `values` of a Tabs tag: value to label."""
    labels: dict[str, str] = {}
    for entry in _TAB_VALUE.findall(tabs):
        value, label = (re.search(rf"{key}\s*:\s*([\"'`])(.*?)\1", entry) for key in ("value", "label"))
        if value and label:
            labels[value[2]] = label[2]
    return labels


def _directive(match: re.Match[str]) -> str:
    """A line `:::note[Title]` or `:::`."""
    if not match["name"]:
        return f"\n{match['indent']}{END}\n"
    rest = match["rest"].strip()
    label = ""
    if rest.startswith("["):
        close = rest.rfind("]")
        label, rest = (rest[1:close], rest[close + 1 :]) if close > 0 else ("", rest)
    rest = re.sub(r"\{[^{}]*\}\s*$", "", rest).strip()
    return f"\n{match['indent']}{Mark('box', label or rest, match['name'])}\n"
