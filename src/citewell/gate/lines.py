"""What a line of streamed Markdown is, told as soon as its beginning allows."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

LineKind = Literal["blank", "rule", "definition", "fence", "heading", "item", "row", "prose"]

_QUOTE: Final = re.compile(r"(?: {0,3}> ?)+")
_HEADING: Final = re.compile(r"(#{1,6})(?: +(.*?))? *#* *$")
_ORDERED: Final = re.compile(r"(\d{1,9})[.)] +(?=\S)")
_BULLET: Final = re.compile(r"(?:[-*+] +|[•‣◦▪·] *)(?=\S)")
_DEFINITION: Final = re.compile(r"\[\^?[^\]\n]{1,60}\]:")
_BRACKET_OPEN: Final = re.compile(r"\[[^\]\n]{0,61}\]?$")


@dataclass(frozen=True, slots=True)
class MarkdownLine:
    """`prefix` is where the content begins."""

    kind: LineKind
    prefix: int = 0
    indent: int = 0
    level: int = 0
    """Of a heading."""
    number: int = 0
    """Of an ordered item, as the model counts; -1 for a bullet."""
    text: str = ""
    """Of a heading; the opening of a fence."""


def classified(line: str, *, whole: bool) -> MarkdownLine | None:
    """The kind of a line; None when more of it must be seen. More text never changes an answer."""
    quote = _QUOTE.match(line)
    start = quote.end() if quote else 0
    if not whole and not line[start:].strip(" >"):
        return None
    body = line[start:].lstrip(" ")
    prefix = len(line) - len(body)
    indent = prefix - start
    if not body:
        return MarkdownLine("blank")
    read = _READERS.get("0" if body[0].isascii() and body[0].isdigit() else body[0])
    return read(body, prefix, indent, whole) if read else MarkdownLine("prose", prefix, indent)


def _row(body: str, prefix: int, indent: int, whole: bool) -> MarkdownLine | None:
    if not whole:
        return None
    closed = len(body.rstrip()) > 1 and body.rstrip()[-1] == "|"
    return MarkdownLine("row" if closed else "prose", prefix, indent)


def _bracket(body: str, prefix: int, indent: int, whole: bool) -> MarkdownLine | None:
    if _DEFINITION.match(body):
        return MarkdownLine("definition", prefix)
    return None if not whole and _BRACKET_OPEN.match(body) else MarkdownLine("prose", prefix, indent)


def _colon(body: str, prefix: int, indent: int, whole: bool) -> MarkdownLine | None:
    if body.startswith(":::"):
        return MarkdownLine("definition", prefix)
    return None if not whole and not body.strip(":") else MarkdownLine("prose", prefix, indent)


def _fence(body: str, prefix: int, indent: int, whole: bool) -> MarkdownLine | None:
    run = len(body) - len(body.lstrip(body[0]))
    if run < 3 and (whole or len(body) > run):
        return MarkdownLine("prose", prefix, indent)
    if not whole:
        return None
    if body[0] == "`" and "`" in body[run:]:
        return MarkdownLine("prose", prefix, indent)
    return MarkdownLine("fence", prefix, indent, text=body.rstrip())


def _heading(body: str, prefix: int, indent: int, whole: bool) -> MarkdownLine | None:
    if re.match(r"#{1,6}[^# ]|#{7}", body):
        return MarkdownLine("prose", prefix, indent)
    if not whole:
        return None
    match = _HEADING.match(body)
    return (
        MarkdownLine("heading", prefix, indent, len(match[1]), text=match[2] or "")
        if match
        else MarkdownLine("prose", prefix, indent)
    )


def _bullet(body: str, prefix: int, indent: int, whole: bool) -> MarkdownLine | None:
    sign = body[0]
    if not body.strip(f"{sign} |:-" if sign == "-" else f"{sign} "):
        # A rule, an underline, an empty item; or more is to come.
        return MarkdownLine("rule", prefix) if whole else None
    if item := _BULLET.match(body):
        return MarkdownLine("item", prefix + item.end(), indent, number=-1)
    return MarkdownLine("prose", prefix, indent)


def _ordered(body: str, prefix: int, indent: int, whole: bool) -> MarkdownLine | None:
    if item := _ORDERED.match(body):
        return MarkdownLine("item", prefix + item.end(), indent, number=int(item[1]))
    if re.fullmatch(r"\d{1,9}(?:[.)] *)?", body):
        if not whole:
            return None
        return MarkdownLine("rule", prefix) if body.rstrip()[-1] in ".)" else MarkdownLine("prose", prefix, indent)
    return MarkdownLine("prose", prefix, indent)


_READERS: Final[Mapping[str, Callable[[str, int, int, bool], MarkdownLine | None]]] = {
    **dict.fromkeys("`~", _fence),
    "#": _heading,
    "|": _row,
    **dict.fromkeys("-*+_=•‣◦▪·", _bullet),
    "0": _ordered,
    "[": _bracket,
    ":": _colon,
}
"""By the first sign of a line; any digit stands under "0"."""
