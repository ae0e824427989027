"""Marks in private-use characters that carry structure through the Markdown parser, each in its own paragraph. Pure.

What a tag or directive opens is written as a mark before parsing, and read off the parsed paragraph by the renderer.
"""

import re
from typing import Literal, NamedTuple

CODE_OPEN, CODE_CLOSE = "\ue001", "\ue002"
"""Stand for `<code>` and `</code>`, whose content is Markdown."""
_BOX, _BETWEEN, _TAB, _CAPTION, _END, _PART = "\ue000", "\ue003", "\ue004", "\ue005", "\ue006", "\ue007"
_TERM, _MEANING = "\ue009", "\ue00a"
NO_ANCHOR = "\ue008"
"""The id of a heading that is written as a tag without one: a site gives it none."""
_RESERVED = re.compile("[\ue000-\ue00a\x00]")


class Mark(NamedTuple):
    kind: Literal["box", "tab", "caption", "part", "term", "meaning", "end"]
    name: str = ""
    """The kind of a box, the part of the book, or the anchor of a term."""
    text: str = ""


def without_marks(source: str) -> str:
    """The text less the characters that stand for something here."""
    return _RESERVED.sub("", source)


def box(kind: str, title: str = "") -> str:
    """Opens an admonition; `end` closes it."""
    return f"{_BOX}{kind}{_BETWEEN}{title.strip()}"


def tab(label: str) -> str:
    """Opens a tab; `end` closes it."""
    return f"{_TAB}{label.strip()}"


def caption(text: str) -> str:
    return f"{_CAPTION}{text.strip()}"


def part(name: str) -> str:
    """What comes until `end` is this part of the book."""
    return f"{_PART}{name}"


def term(text: str, anchor: str = "") -> str:
    """A term whose `meaning` comes next."""
    return f"{_TERM}{anchor}{_BETWEEN}{text.strip()}"


def meaning() -> str:
    """Opens what the terms before it mean; `end` closes it."""
    return _MEANING


def end() -> str:
    return _END


def alone(mark: str, indent: str = "") -> str:
    """The mark as a paragraph."""
    return f"\n\n{indent}{mark}\n\n{indent}"


def mark_of(paragraph: str) -> Mark | None:
    match paragraph[:1]:
        case "\ue000":
            kind, _, title = paragraph[1:].partition(_BETWEEN)
            return Mark("box", kind, title)
        case "\ue004":
            return Mark("tab", text=paragraph[1:])
        case "\ue005":
            return Mark("caption", text=paragraph[1:])
        case "\ue006":
            return Mark("end")
        case "\ue007":
            return Mark("part", paragraph[1:])
        case "\ue009":
            anchor, _, text = paragraph[1:].partition(_BETWEEN)
            return Mark("term", anchor, text)
        case "\ue00a":
            return Mark("meaning")
    return None
