"""Where the first sentence of streamed prose ends. `citewell.text` cuts; here it is decided if the cut can stand."""

import re
from typing import Final

from citewell.grounding.markers import CODE_SPAN, FORMS
from citewell.text import sentences

_SUPERSCRIPTS: Final = re.compile(r"[⁰¹²³⁴⁵⁶⁷⁸⁹]")
_OPEN_GROUP: Final = re.compile(r"\\?[\[【［〔(][^\]】］〕)\n]{0,60}$")
_LINK_TARGET: Final = re.compile(r"\([^()\n]{0,300}\)")
_LINK_BEGUN: Final = re.compile(r"\([^()\n]{0,300}$")
_WHOLE_WORD: Final = re.compile(r"\S+\s")


def first_end(text: str, *, closed: bool) -> int | None:
    """The end of the first sentence with its markers; None while more text could move it."""
    masked, groups = _masked(text)
    found = sentences(masked)
    if not found:
        return len(text) if closed else None
    end = found[0].end
    end = next((b for a, b in groups if a < end < b), end)
    if text[end - 1 : end] in ("]", "】") and (target := _LINK_TARGET.match(text, end)):
        end = target.end()
    if closed:
        return end if len(found) > 1 else len(text)
    return end if _settled(text, masked, end) else None


def _masked(text: str) -> tuple[str, list[tuple[int, int]]]:
    """Markers of every form as `[1]` and spaces, at the same length, so that the cutter knows them."""
    groups = [m.span() for m in FORMS.finditer(text)]
    masked = FORMS.sub(lambda m: "[1]" + " " * (len(m.group()) - 3), text)
    return _SUPERSCRIPTS.sub(" ", masked), groups


def _settled(text: str, masked: str, end: int) -> bool:
    if "`" in CODE_SPAN.sub("", masked[:end]):
        return False  # a code span may still close behind the full stop
    if text[end - 1] in "]】" and _LINK_BEGUN.match(text, end):
        return False
    following = text[end:].lstrip()
    if _OPEN_GROUP.match(following):
        return False  # a marker may be on its way
    return bool(_WHOLE_WORD.match(following))
