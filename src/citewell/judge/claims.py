"""A sentence of an answer as the judge reads it: without marks, under the lead-in of its list. Pure."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from citewell.judge.quantities import quantities
from citewell.text import content_stems

_LABELLED: Final = re.compile(r"(\*\*|__)(?P<label>[^\s*_][^*]{0,98}?)(?::\1|\1\s?[:–—-])\s+(?=\S)")
_YES_NO: Final = re.compile(r"(?:yes|no)\s?[,:;—–-]\s?", re.IGNORECASE)
_EMPHASIS: Final = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_REFERS_BACK: Final = re.compile(
    r"(?:it|its|this|that|these|those|they|their|he|she|such|the (?:former|latter)|otherwise)\b", re.IGNORECASE
)
_WORDS_FOR_A_CLAIM: Final = 2
_WORDS_THAT_STAND_ALONE: Final = 6
"""An item with fewer words of meaning is read as the end of its list's lead-in."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A sentence to find support for. `cited` are the passages that it names itself."""

    text: str
    """As the judge reads it: with the lead-in of its list, without the label before it."""
    cited: tuple[int, ...] = ()
    said: str = ""
    """As it is written, when that is not the same."""
    fragment: bool = False
    """Too little to be judged: only a quote may stand."""


def claim_of(
    said: str, *, lead: str = "", before: str = "", cited: tuple[int, ...] = (), known: Callable[[str], bool]
) -> Claim:
    """`said` has no markers. `known`: whether the evidence has a stem; a label that it has not is the model's own.

    `before` is the sentence before it in its block: "it" and "these" are judged together with what they stand for.
    """
    text = _YES_NO.sub("", said, count=1) if _YES_NO.match(said) else said
    labelled = _LABELLED.match(text)
    if labelled and not all(known(s) for s in content_stems(labelled["label"])):
        text = text[labelled.end() :]
    text = without_emphasis(text)
    size = len(content_stems(text)) + len(quantities(text))
    if before and refers_back(text):
        return Claim(f"{without_emphasis(before)} {text}", cited, said)
    if lead and size < _WORDS_THAT_STAND_ALONE:
        return Claim(f"{without_emphasis(lead).rstrip(': ')}: {text}", cited, said)
    return Claim(text, cited, said, fragment=size < _WORDS_FOR_A_CLAIM)


def labelled(said: str) -> tuple[str, str] | None:
    """The label before a sentence, and the sentence."""
    found = _LABELLED.match(said)
    return (found["label"], said[found.end() :]) if found else None


def refers_back(text: str) -> bool:
    return bool(_REFERS_BACK.match(text.lstrip("*_ ")))


def without_emphasis(text: str) -> str:
    return _EMPHASIS.sub("", text).strip()
