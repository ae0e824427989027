"""Marks in private-use characters that carry structure through the Markdown parser, each in its own paragraph. Pure.

What a tag or directive opens is written as a mark before parsing, and read off the parsed paragraph by the renderer.
"""

import re
from typing import Literal, NamedTuple

CODE_OPEN, CODE_CLOSE = "\ue001", "\ue002"
"""Stand for `<code>` and `</code>`, whose content is Markdown."""
NO_ANCHOR = "\ue008"
"""The id of a heading that is written as a tag without one: a site gives it none."""
_BETWEEN = "\ue003"
_RESERVED = re.compile("[\ue000-\ue00a\x00]")

Kind = Literal["box", "tab", "caption", "end", "part", "term", "meaning"]
"""A box, a tab, a part of the book and a meaning are open until `end`; a term's meaning comes next."""
_SIGNS: dict[Kind, str] = {
    "box": "\ue000",
    "tab": "\ue004",
    "caption": "\ue005",
    "end": "\ue006",
    "part": "\ue007",
    "term": "\ue009",
    "meaning": "\ue00a",
}
_KINDS = {sign: kind for kind, sign in _SIGNS.items()}


class Mark(NamedTuple):
    kind: Kind
    text: str = ""
    name: str = ""
    """The kind of a box, the part of the book, or the anchor of a term."""

    def __str__(self) -> str:
        return f"{_SIGNS[self.kind]}{self.name}{_BETWEEN}{self.text.strip()}"

    def alone(self, indent: str = "") -> str:
        """As a paragraph."""
        return f"\n\n{indent}{self}\n\n{indent}"


END = Mark("end")


def mark_of(paragraph: str) -> Mark | None:
    kind = _KINDS.get(paragraph[:1])
    name, _, text = paragraph[1:].partition(_BETWEEN)
    return Mark(kind, text, name) if kind else None


def has_marks(text: str) -> bool:
    return _RESERVED.search(text) is not None


def without_marks(source: str) -> str:
    """The text less the characters that stand for something here."""
    return _RESERVED.sub("", source)
