"""Heading anchors as sites make them: github-slugger (Docusaurus) and the toc of Python-Markdown (MkDocs). Pure."""

import re
import unicodedata
from functools import lru_cache
from typing import Literal

AnchorStyle = Literal["github", "toc"]

_EXPLICIT = re.compile(r"(?:\s+#+)?\s*(?:\{:?\s*#(?P<id>[^\s{}]+)[^{}]*\}|\{/\*\s*#(?P<comment>[^\s*]+)\s*\*/\})\s*$")
_COUNTED = re.compile(r"^(.*)_([0-9]+)$")


def explicit_id(text: str) -> tuple[str, str | None]:
    """Take `{#id}` or `{/* #id */}` off a heading, with the signs that close it before."""
    match = _EXPLICIT.search(text)
    if not match:
        return text, None
    return text[: match.start()], match["id"] or match["comment"]


class Anchors:
    """The anchors of one page, in order; what occurs twice is numbered."""

    def __init__(self, style: AnchorStyle) -> None:
        self._style = style
        self._seen: dict[str, int] = {}
        self._taken: set[str] = set()

    def explicit(self, anchor: str) -> str:
        self._taken.add(anchor)
        return anchor

    def of(self, text: str) -> str:
        return self._github(text) if self._style == "github" else self._toc(text)

    def _github(self, text: str) -> str:
        # Explicit ids do not count here: Docusaurus does not tell its slugger about them.
        base = slug = github_slug(text)
        while slug in self._seen:
            self._seen[base] += 1
            slug = f"{base}-{self._seen[base]}"
        self._seen[slug] = 0
        return slug

    def _toc(self, text: str) -> str:
        slug = toc_slug(text)
        if slug in self._taken or not slug:
            match = _COUNTED.match(slug)
            base, number = (match[1], int(match[2])) if match else (slug, 0)
            passed = [slug]
            number = self._seen.get(slug, number + 1)
            while (slug := f"{base}_{number}") in self._taken:
                passed.append(slug)
                number = self._seen.get(slug, number + 1)
            # Who comes this way again need not ask at each number: a page of equal headings stays linear.
            self._seen.update(dict.fromkeys(passed, number))
        self._taken.add(slug)
        return slug


def github_slug(text: str) -> str:
    return "".join(filter(None, map(_github_character, text.lower())))


@lru_cache(maxsize=4096)
def _github_character(character: str) -> str:
    if character == " ":
        return "-"
    if character in "-_" or (character.isalnum() and character.isascii()):
        return character
    category = unicodedata.category(character)
    return character if category[0] in "LM" or category in ("Nd", "Nl", "Pc") else ""


def toc_slug(text: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode("ascii")
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", ascii_only).strip().lower())
