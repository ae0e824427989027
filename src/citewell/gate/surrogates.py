"""Surrogates of a model's text: a character that came in two halves is put together, a lone half is replaced. Pure."""

import re
from typing import Final

_HALF: Final = re.compile("[\ud800-\udfff]")
_FIRST: Final = ("\ud800", "\udbff")


class Surrogates:
    """Text may be cut anywhere, also between two halves."""

    def __init__(self) -> None:
        self._held = ""

    def feed(self, text: str) -> str:
        text = self._held + text
        self._held = text[-1] if text and _FIRST[0] <= text[-1] <= _FIRST[1] else ""
        return mended(text[:-1] if self._held else text)

    def finish(self) -> str:
        held, self._held = self._held, ""
        return mended(held)


def mended(text: str) -> str:
    if not _HALF.search(text):
        return text
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")
