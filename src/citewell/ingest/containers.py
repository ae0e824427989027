"""MkDocs blocks, `!!! note`, `=== "Tab"`, `/// note`, and meanings under a heading, brought to the margin. Pure."""

import re
from typing import NamedTuple

from citewell.ingest.fences import columns, indented_end
from citewell.ingest.marks import END, Mark

_FENCE = re.compile(r"^[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_ADMONITION = re.compile(
    r'^(?P<indent>[ \t]*)(?:!!!|\?\?\?\+?)[ \t]+(?P<kind>[\w-]+)[\w \t-]*(?:"(?P<title>.*)")?[ \t]*$'
)
_TAB = re.compile(r'^(?P<indent>[ \t]*)===[!+]{0,2}[ \t]+"(?P<title>.*)"[ \t]*$')
_SLASHES = re.compile(
    r"^(?P<indent>[ \t]*)(?P<slashes>/{3,})[ \t]+(?P<kind>[\w-]+)[ \t]*(?:\|[ \t]*(?P<title>.*?))?[ \t]*$"
)
_MEANING = re.compile(r"^:[ \t]{1,3}(?=\S)")
_CODE_IN_ROW = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_BARE = frozenset("html define caption figure-caption table-caption".split())
"""What is written with slashes and is no box."""
_STEP = 4
_MAX_DEEP = 20


class _Enclosed(NamedTuple):
    indent: str
    opening: Mark | None
    body: list[str]
    end: int
    """Behind its last line."""


def at_margin(source: str, deep: int = 0) -> str:
    if deep > _MAX_DEEP or not any(mark in source for mark in ("!!!", "???", "===", "///", "\n:", "|")):
        return source
    lines = source.split("\n")
    out: list[str] = []
    unclosed: set[str] = set()
    fence = ""
    i = 0
    while i < len(lines):
        line = lines[i]
        fence = _fence_after(line, fence)
        found = None if fence else _indented(lines, i) or _slashed(lines, i, unclosed) or _meaning(lines, i)
        if found is None:
            out.append(_with_bars(line) if not fence and line.lstrip().startswith("|") else line)
            i += 1
            continue
        inner = at_margin("\n".join(found.body), deep + 1)
        marked = [f"{found.indent}{found.opening}", "", inner, "", f"{found.indent}{END}"]
        out.extend(["", *(marked if found.opening else [inner]), ""])
        i = found.end
    return "\n".join(out)


def _fence_after(line: str, fence: str) -> str:
    """The fence that is open behind this line, "" for none."""
    mark = _FENCE.match(line)
    if mark is None:
        return fence
    return mark[1] if not fence else "" if _closes(line, fence) else fence


def _indented(lines: list[str], at: int) -> _Enclosed | None:
    opened = _ADMONITION.match(lines[at]) or _TAB.match(lines[at])
    if opened is None:
        return None
    indent = opened["indent"]
    width = columns(indent) + _STEP
    end = indented_end(lines, at + 1, width)
    opening = Mark("tab", opened["title"]) if opened.re is _TAB else _box(opened)
    return _Enclosed(indent, opening, [indent + _without(text, width) for text in lines[at + 1 : end]], end)


def _slashed(lines: list[str], at: int, unclosed: set[str]) -> _Enclosed | None:
    """A block of PyMdown, from its slashes to as many; options stand indented below the first line.

    What nothing closes is noted, so that it is not looked for again from every line."""
    opened = _SLASHES.match(lines[at])
    if opened is None or opened["slashes"] in unclosed:
        return None
    fence, close = "", at + 1
    while close < len(lines) and (fence or lines[close].strip() != opened["slashes"]):
        fence = _fence_after(lines[close], fence)
        close += 1
    if close == len(lines):
        unclosed.add(opened["slashes"])
        return None
    body = lines[at + 1 : close]
    while body and body[0].strip() and columns(body[0]) >= columns(opened["indent"]) + _STEP:
        del body[0]
    kind, title = opened["kind"], opened["title"] or ""
    opening = None if kind in _BARE else Mark("tab", title) if kind == "tab" else Mark("box", title, kind)
    return _Enclosed(opened["indent"], opening, body, close + 1)


def _meaning(lines: list[str], at: int) -> _Enclosed | None:
    """What is written like the meaning of a term where the term is a heading."""
    opened = _MEANING.match(lines[at])
    if opened is None:
        return None
    above = next((lines[i] for i in range(at - 1, -1, -1) if lines[i].strip()), "")
    if not above.startswith("#"):
        return None
    end = indented_end(lines, at + 1, _STEP)
    body = [lines[at][opened.end() :], *(_without(text, _STEP) for text in lines[at + 1 : end])]
    return _Enclosed("", None, body, end)


def _with_bars(row: str) -> str:
    """A bar in code divides no cells in Python-Markdown; the parser wants it escaped."""
    return _CODE_IN_ROW.sub(lambda m: re.sub(r"(?<!\\)\|", r"\\|", m.group()), row)


def _box(opened: re.Match[str]) -> Mark:
    return Mark("box", opened["title"] or "", "" if opened["title"] == "" else opened["kind"])


def _closes(line: str, fence: str) -> bool:
    stripped = line.strip()
    return len(stripped) >= len(fence) and set(stripped) == {fence[0]}


def _without(line: str, columns: int) -> str:
    """The line less its first columns of blanks; tabs further in stay as they are."""
    at = seen = 0
    while seen < columns and at < len(line) and line[at] in " \t":
        seen += _STEP - seen % _STEP if line[at] == "\t" else 1
        at += 1
    return " " * (seen - columns) + line[at:] if line[at:] else ""
