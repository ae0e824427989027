"""Stemming: words and their stems. Pure. The only module that imports Stemmer."""

import re
import threading
from collections.abc import Sequence
from functools import lru_cache

import Stemmer

from citewell.document import STOPWORDS

__all__ = ["STOPWORDS", "content_stems", "is_signpost", "stem", "words"]

_WORD = re.compile(r"[^\W_]+(?:[-_.'’:/][^\W_]+)*", re.UNICODE)
_LOCAL = threading.local()
_BETWEEN_LINKS = re.compile(r"\s+[·›»→|]\s+")
_SHORTEST_TRAIL = 2
_LONGEST_STEP = 100
_SENTENCE_END = re.compile(r"[.!?…:;。！？][\"'”’)\]*_`]*$")


def words(text: str) -> list[str]:
    """Words as they stand; identifiers such as `nav2_bringup` or `rclpy.init` stay whole."""
    return [m.group() for m in _WORD.finditer(text)]


@lru_cache(maxsize=65536)
def stem(word: str) -> str:
    """The English stem of a word, in lower case. Identifiers and numbers are only lowered."""
    word = word.lower().replace("’", "'")
    if not word.isalpha():
        return word.removesuffix("'s")
    stemmer = getattr(_LOCAL, "stemmer", None)
    if stemmer is None:  # a Stemmer is not safe to share between threads
        stemmer = _LOCAL.stemmer = Stemmer.Stemmer("english")
    stemmed: str = stemmer.stemWord(word)
    return stemmed


def content_stems(text: str) -> list[str]:
    """Stems of the words that carry meaning, in order, with repetitions."""
    return [stem(w) for w in words(text) if w.lower() not in STOPWORDS]


def is_signpost(paragraph: str, titles: Sequence[str]) -> bool:
    """Whether a paragraph only says where it stands: a trail of links, or nothing beyond the titles above it.

    Trails are "Book · Part 2 · Chapter 3"; the others are mostly the alternative text of a picture.
    """
    flat = paragraph.strip().strip("*_")
    steps = _BETWEEN_LINKS.split(flat)
    if len(steps) > _SHORTEST_TRAIL:
        starts = (step.lstrip("*_[")[:1] for step in steps)
        return all(start.isupper() or start.isdigit() for start in starts) and max(map(len, steps)) <= _LONGEST_STEP
    if _SENTENCE_END.search(flat) or len(flat) > _LONGEST_STEP:
        return False
    said = set(content_stems(flat))
    return said <= set(content_stems(" ".join(titles)))
