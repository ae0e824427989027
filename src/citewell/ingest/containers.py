"""MkDocs blocks made by indentation, `!!! note`, `??? tip` and `=== "Tab"`, brought to the margin. Pure."""

import re

from citewell.ingest.fences import columns, indented_end
from citewell.ingest.marks import END, Mark

_FENCE = re.compile(r"^[ \t]*(`{3,}(?=[^`]*$)|~{3,})")
_ADMONITION = re.compile(
    r'^(?P<indent>[ \t]*)(?:!!!|\?\?\?\+?)[ \t]+(?P<kind>[\w-]+)[\w \t-]*(?:"(?P<title>.*)")?[ \t]*$'
)
_TAB = re.compile(r'^(?P<indent>[ \t]*)===[!+]{0,2}[ \t]+"(?P<title>.*)"[ \t]*$')
_CODE_IN_ROW = re.compile(r"(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_STEP = 4
_MAX_DEEP = 20


def at_margin(source: str, deep: int = 0) -> str:
    if deep > _MAX_DEEP or not any(mark in source for mark in ("!!!", "???", "===", "|")):
        return source
    lines = source.split("\n")
    out: list[str] = []
    fence = ""
    i = 0
    while i < len(lines):
        line = lines[i]
        if mark := _FENCE.match(line):
            fence = mark[1] if not fence else "" if _closes(line, fence) else fence
        opened = None if fence else _ADMONITION.match(line) or _TAB.match(line)
        if not opened:
            out.append(_with_bars(line) if not fence and line.lstrip().startswith("|") else line)
            i += 1
            continue
        indent = opened["indent"]
        width = columns(indent) + _STEP
        end = indented_end(lines, i + 1, width)
        body = [indent + _without(text, width) for text in lines[i + 1 : end]]
        opening = Mark("tab", opened["title"]) if opened.re is _TAB else _box(opened)
        out.extend(["", f"{indent}{opening}", "", at_margin("\n".join(body), deep + 1), "", f"{indent}{END}", ""])
        i = end
    return "\n".join(out)


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
