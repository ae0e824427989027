"""Citation markers, and sanitising of Markdown in model text: brought into one form, kept or removed. Code stays."""

import html
import re
from collections.abc import Callable, Collection
from functools import partial
from typing import Final

from citewell.document import code_spans

# Everything is bounded, so that time is linear in the text whatever it is made of.
_LABEL = r"(?:(?:passages?|sources?|documents?|docs?|refs?\.?|references?|citations?|chunks?|results?)\s?[:#.]?\s?#?)"
_LIST = r"\d{1,4}(?:\s?(?:,|;|&|and|[-–])\s?\^?(?:\d{1,4})){0,20}"
FORMS: Final = re.compile(
    rf"\\?[\[【［〔]{{1,2}}\s?\^?{_LABEL}?\s?({_LIST})(?:\s?[:†|][^\]】］〕\n]{{0,40}})?\s?\\?[\]】］〕]{{1,2}}"
    rf"|\(\s?{_LABEL}\s?({_LIST})\s?\)",
    re.IGNORECASE,
)
_EMPTYFORMS: Final = re.compile(
    r"(?<!\s)\s{0,3}[\[【(]\s?(?:citation needed|citation|sources?|ref|reference|(?:your own|general) knowledge)"
    r"(?:\s?[:=][^\])】\n]{0,80})?\s?[\])】]",
    re.IGNORECASE,
)
MARKER: Final = re.compile(r"\[(\d{1,4})\]")
_RUN: Final = re.compile(r"\s{0,3}\[\d{1,4}\](?:\s{0,3}\[\d{1,4}\])*+")
_SUPERSCRIPTS: Final = re.compile(r"(?<=[.,;:!?)\]\"”])[⁰¹²³⁴⁵⁶⁷⁸⁹]+")
_LINK: Final = re.compile(
    r"(!?)\[((?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){0,400}+)\]"
    r"\(\s?<?([^\s()<>]{0,500}(?:\([^\s()]{0,200}\)[^\s()]{0,200})?)>?[^()\n]{0,200}\)"
)
_COMMENT: Final = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
_AUTOLINK: Final = re.compile(r"<((?:https?://|mailto:)[^<>\s]++)>")
_TAG: Final = re.compile(r"</?([A-Za-z][\w-]{0,60})(?:[\s/][^<>]{0,600})?>")
_SAFE: Final = re.compile(r"https?://|/|\.{0,2}/|#", re.IGNORECASE)
_CONTROLS: Final = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]"
)
_LONGEST_RANGE: Final = 10


def visible(text: str) -> str:
    """Without control characters and marks that hide or reorder text; tabs become spaces."""
    return _CONTROLS.sub("", text).replace("\t", "    ").replace("\u2028", "\n").replace("\u2029", "\n")


def outside_code(text: str, change: Callable[[str], str]) -> str:
    """Apply a change to everything but code spans."""
    parts: list[str] = []
    start = 0
    for first, last in code_spans(text):
        parts += [change(text[start:first]), text[first:last]]
        start = last
    return "".join([*parts, change(text[start:])])


def normalised(text: str) -> str:
    """Every known form of a marker as `[n]`; forms without a number are removed."""
    return outside_code(text, lambda part: _EMPTYFORMS.sub("", FORMS.sub(_as_markers, _SUPERSCRIPTS.sub("", part))))


def _as_markers(match: re.Match[str]) -> str:
    numbers: list[int] = []
    previous: int | None = None
    for part in re.findall(r"\d+|[-–]", match[1] or match[2]):
        if part in ("-", "–"):
            previous = numbers[-1] if numbers else None
            continue
        number = int(part)
        if previous is not None and previous < number <= previous + _LONGEST_RANGE:
            numbers.extend(range(previous + 1, number))
        numbers.append(number)
        previous = None
    return "".join(f"[{n}]" for n in dict.fromkeys(numbers))


def cited_in(text: str) -> tuple[int, ...]:
    found: dict[int, None] = {}

    def note(part: str) -> str:
        found.update((int(n), None) for n in MARKER.findall(part))
        return part

    outside_code(text, note)
    return tuple(found)


def with_markers(text: str, keep: Collection[int]) -> str:
    """Only the markers named are left, each once in a run."""

    def one_run(match: re.Match[str]) -> str:
        kept = dict.fromkeys(n for n in map(int, MARKER.findall(match.group())) if n in keep)
        return " " + "".join(f"[{n}]" for n in kept) if kept else ""

    return outside_code(text, lambda part: _RUN.sub(one_run, part)).strip()


def without_markers(text: str) -> str:
    return with_markers(text, ())


def safe(text: str, stands: Callable[[str], bool]) -> str:
    """Links to what the evidence does not name become their text; images, tags and comments go."""

    def change(part: str) -> str:
        part = html.unescape(part)
        part = _COMMENT.sub("", part)
        part = _AUTOLINK.sub(r"\1", part)
        part = _TAG.sub(lambda m: m.group() if _placeholder(m, stands) else "", part)
        return _LINK.sub(lambda m: _link(m, stands), part)

    return visible(outside_code(text, change))


# Elements that a browser acts on; `<package_name>` in a command is none of them.
_ELEMENTS: Final = frozenset(
    "a abbr applet area article audio b base blockquote body br button canvas center code col dd details div dl dt em "
    "embed font footer form frame frameset h1 h2 h3 h4 h5 h6 head header hr html i iframe img input ins kbd label li "
    "link main map marquee math meta nav object ol option p param picture pre script section select slot small source "
    "span strike strong style sub summary sup svg table tbody td template textarea tfoot th thead title tr track u ul "
    "video".split()
)


def _placeholder(match: re.Match[str], stands: Callable[[str], bool]) -> bool:
    return match[1].lower() not in _ELEMENTS and "=" not in match.group() and stands(match.group())


def _link(match: re.Match[str], stands: Callable[[str], bool]) -> str:
    image, label, target = match.groups()
    if image:
        return ""
    if FORMS.fullmatch(f"[{label.strip('[]')}]"):
        return f"[{label.strip('[]')}]"
    if target and _SAFE.match(target) and stands(target):
        return match.group()
    return label


def balanced(text: str) -> str:
    """Emphasis that opens in one sentence and closes in another is dropped; so is a lone backtick."""
    for mark in ("`", "**", "__", "~~"):
        count = text.count(mark) - sum(text.count(mark, *span) for span in code_spans(text))
        if count and (mark == "`" or count % 2):
            text = outside_code(text, partial(_without, mark))
    return text


def _without(mark: str, part: str) -> str:
    return part.replace(mark, "")
