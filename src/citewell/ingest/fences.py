"""Blocks of lines: fenced code told from the prose around it, and what is indented under a line. Pure."""

import re

_FENCE = re.compile(
    r"^(?P<lead>[ \t]*(?:>[ \t]?|(?:[-*+]|\d{1,9}[.)])[ \t]+)*)(?P<fence>`{3,}(?=[^`]*$)|~{3,})(?P<info>.*)$"
)
_LONGEST_COMMENT = 500


def segments(source: str, *, unwrap: bool) -> list[tuple[bool, str]]:
    """Fenced code and the prose between; `mdx-code-block` fences are prose when unwrapped, as Docusaurus takes them."""
    found: list[tuple[bool, str]] = []
    prose: list[str] = []
    lines = source.split("\n")
    i = 0
    while i < len(lines):
        line = lines[i]
        if ("<!--" in line or "{/*" in line) and (comment := _comment_end(lines, i)):
            prose.extend(lines[i:comment])
            i = comment
            continue
        fence = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if not fence:
            prose.append(line)
            i += 1
            continue
        end = _closing(lines, i + 1, fence["fence"])
        if prose:
            found.append((False, "\n".join(prose)))
            prose = []
        if unwrap and fence["info"].strip().startswith("mdx-code-block"):
            inner = "\n".join(["", *lines[i + 1 : end], ""])
            found.extend(segments(inner, unwrap=False))  # what it shows may hold fences of its own
        else:
            found.append((True, "\n".join(lines[i : end + 1])))
        i = end + 1
    if prose:
        found.append((False, "\n".join(prose)))
    return found


def _comment_end(lines: list[str], first: int) -> int:
    """Behind the last line of a comment of several lines that begins here; 0 when none does. Its fences are no code."""
    line = lines[first].lstrip()
    close = "-->" if line.startswith("<!--") else "*/}" if line.startswith("{/*") else ""
    if not close or close in line:
        return 0
    last = min(len(lines), first + _LONGEST_COMMENT)
    return next((i + 1 for i in range(first + 1, last) if close in lines[i]), 0)


def _closing(lines: list[str], first: int, fence: str) -> int:
    close = re.compile(r"[ \t]*(?:>[ \t]?)*" + re.escape(fence[0]) + "{" + str(len(fence)) + r",}[ \t]*$")
    return next((i for i in range(first, len(lines)) if close.match(lines[i])), len(lines) - 1)


def columns(line: str, tab: int = 4) -> int:
    """How far a line is indented."""
    return len(line[: len(line) - len(line.lstrip(" \t"))].expandtabs(tab))


def indented_end(lines: list[str], first: int, width: int) -> int:
    """Behind the last line that says something and is indented so far, from `first` on."""
    end = first
    for i in range(first, len(lines)):
        if lines[i].strip():
            if columns(lines[i]) < width:
                break
            end = i + 1
    return end
