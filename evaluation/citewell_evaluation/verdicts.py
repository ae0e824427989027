"""Whether an answer to a golden question is complete, partial or wrong: phrases that it must have or must not. Pure."""

import re
import unicodedata
from collections.abc import Sequence
from typing import Literal
from urllib.parse import urlsplit

from citewell_evaluation.datasets import GoldenQuestion

Verdict = Literal["complete", "partial", "wrong", "refused", "answered"]
"""`answered` is the fault of answering what the book does not say; `refused` is right there, and a fault elsewhere."""

_PLAIN = str.maketrans(
    {
        **dict.fromkeys("‘’‚", "'"),
        **dict.fromkeys("“”„", '"'),
        **dict.fromkeys("–—‑−", "-"),
        "\u00a0": " ",
        "\u200b": "",
        "…": "...",
    }
)
_CITATIONS = re.compile(r"(?<![\w\])\"'&])\[\d+(?:\s*,\s*\d+)*\]")
_LINK = re.compile(r"!?\[([^\]\[]*)\]\([^)\s]*\)")
_EMPHASIS = re.compile(r"(?<!\w)_([^_\s](?:[^_\n]*[^_\s])?)_(?!\w)")
_DRESS = re.compile(r"[`*|]")


def folded(text: str) -> str:
    """Text without citations, emphasis, table bars and typographic signs, in lower case, on one line."""
    text = unicodedata.normalize("NFC", text).translate(_PLAIN)
    text = _EMPHASIS.sub(r"\1", _LINK.sub(r"\1", _CITATIONS.sub(" ", text)))
    text = _DRESS.sub(lambda found: " " if found.group() == "|" else "", text)
    return re.sub(r"\s+", " ", text).lower()


def verdict_of(golden: GoldenQuestion, answer: str, *, cites: bool) -> Verdict:
    """Of an answer that was given. `cites`: it rests on an expected page, which decides where no words are expected."""
    if not golden.in_book:
        return "answered"
    if not golden.must:
        return "complete" if cites else "wrong"
    text = f" {folded(answer).strip()} "
    held = [any(folded(phrase) in text for phrase in group) for group in golden.must]
    spoilt = any(folded(phrase) in text for phrase in golden.must_not)
    long = golden.max_words is not None and len(text.split()) > golden.max_words
    if all(held) and not spoilt and not long:
        return "complete"
    return "partial" if any(held) else "wrong"


def is_expected(url: str, expected: Sequence[str]) -> bool:
    """The same address, or one that ends in the expected path, with `.html` or a slash behind it or not.

    A slash alone is the front page.
    """
    return url in expected or any(_ends(_page(url), _page(path)) for path in expected if path.startswith("/"))


def _page(url: str) -> str:
    return urlsplit(url).path.removesuffix(".html").removesuffix("/index").rstrip("/")


def _ends(page: str, expected: str) -> bool:
    return page.endswith(expected) if expected else not page
