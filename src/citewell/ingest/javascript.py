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


_BRACE_STOP = re.compile(r"[{}\"'`]|/\*|//")  # what begins with two slashes is rather an address than a comment
_STATEMENT_STOP = re.compile(r"[()\[\]{}\"'`]|\n[ \t]*\n|/\*|//[^\n]*")
_DEEPER = dict(zip("([{)]}", (1, 1, 1, -1, -1, -1), strict=True))


def balanced(text: str, start: int) -> int | None:
    """Behind the brace that closes the one at `start`; None when there is none. Strings and comments are skipped."""
    depth = 0
    at: int | None = start
    while at is not None and (stop := _BRACE_STOP.search(text, at, start + MAX_CHARACTERS)):
        depth += _DEEPER.get(stop.group(), 0)
        at = _behind(text, stop)
        if depth == 0 and stop.group() == "}":
            return at
    return None


def _statement_end(text: str, start: int) -> int:
    """Where an import or export ends: at the first blank line outside its brackets."""
    depth = 0
    at = start
    while stop := _STATEMENT_STOP.search(text, at):
        depth += _DEEPER.get(stop.group(), 0)
        if stop.group()[0] == "\n" and depth <= 0:
            return stop.start()
        at = _behind(text, stop) or stop.end()
    return len(text)


def _behind(text: str, stop: re.Match[str]) -> int | None:
    """Where the string or comment that begins here ends; None for a comment without an end."""
    mark, at = stop.group(), stop.end()
    if mark == "/*":
        return text.find("*/", at) + 2 if text.find("*/", at) >= 0 else None
    end = text.find(mark, at) if mark in ("'", '"', "`") else -1
    # An apostrophe in text between tags is no string: a string ends on its own line.
    return end + 1 if end >= 0 and (mark == "`" or text.find("\n", at, end) < 0) else at
