"""Where JavaScript ends inside MDX: imports, exports and {expressions}, found by their brackets and never run. Pure."""

import re
from collections.abc import Iterator

MAX_CHARACTERS = 20_000
"""Of one expression or tag."""

_STATEMENT = re.compile(
    r"^(?:import[ \t]+(?:type[ \t]+)?(?:[\w$*{][^\n]*|[\"'][^\n]*)"
    r"|export[ \t]+(?:default|const|let|var|function|async|class|type|interface|enum|\{|\*)[^\n]*)",
    re.MULTILINE,
)
_BLANK = re.compile(r"\n[ \t]*\n")


def statements(text: str) -> Iterator[tuple[int, int]]:
    """Imports and exports that stand where a block begins, as MDX takes them."""
    at = 0
    for match in _STATEMENT.finditer(text):
        if match.start() < at:
            continue
        before = text[at : match.start()]
        gap = before[len(before.rstrip()) :]
        if before.strip() and not _BLANK.search(gap):
            continue  # the middle of a paragraph
        at = _statement_end(text, match.start())
        yield match.start(), at


_BRACE_STOP = re.compile(r"[{}\"'`]|/\*|//")


def balanced(text: str, start: int) -> int | None:
    """Behind the brace that closes the one at `start`; None when there is none. Strings and comments are skipped."""
    depth = 0
    at = start
    limit = start + MAX_CHARACTERS
    while stop := _BRACE_STOP.search(text, at, limit):
        mark = stop.group()
        at = stop.end()
        if mark == "{":
            depth += 1
        elif mark == "}":
            depth -= 1
            if depth == 0:
                return at
        elif mark == "/*":
            end = text.find("*/", at)
            if end < 0:
                return None
            at = end + 2
        elif mark == "//":
            continue  # rather an address than a comment
        elif mark == "`" or text.find("\n", at) == -1 or text.find(mark, at) < text.find("\n", at):
            # An apostrophe in text between tags is no string: a string ends on its own line.
            end = text.find(mark, at)
            at = end + 1 if end >= 0 else at
    return None


_OPENERS, _CLOSERS = "([{", ")]}"
_STATEMENT_STOP = re.compile(r"[()\[\]{}\"'`]|\n[ \t]*\n|/\*|//[^\n]*")


def _statement_end(text: str, start: int) -> int:
    """Where an import or export ends: at the first blank line outside its brackets."""
    depth = 0
    at = start
    while stop := _STATEMENT_STOP.search(text, at):
        mark = stop.group()
        at = stop.end()
        if mark in _OPENERS:
            depth += 1
        elif mark in _CLOSERS:
            depth -= 1
        elif mark in "\"'`":
            end = text.find(mark, at)
            line = text.find("\n", at)
            if end >= 0 and (mark == "`" or line < 0 or end < line):
                at = end + 1
        elif mark == "/*":
            end = text.find("*/", at)
            at = end + 2 if end >= 0 else at
        elif mark[0] == "\n" and depth <= 0:
            return stop.start()
    return len(text)
