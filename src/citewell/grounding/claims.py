"""A sentence read for what it claims: weighted words, names, amounts, what is negated and what stands together."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from citewell.grounding.lexicon import lexicon
from citewell.grounding.quantities import Quantity, quantities
from citewell.text import STOPWORDS, stem

_TOKEN: Final = re.compile(
    r"(?P<word>(?:--?(?=[A-Za-z]))?[^\W_](?:[^\W_]|[-_.'’:/](?=[^\W_])|(?<=\w)_+(?=\w))*(?:\+\+|#(?!\w))?)"
    r"|(?P<stop>[,;:()—–\[\]|]|\.(?=\s|$))",
    re.UNICODE,
)
_STEP: Final = re.compile(r"\s*\d{1,2}[.)]\s+")
_COMPOUND: Final = re.compile(r"([^\W\d_]{2,})[-/]([^\W\d_]{2,})")
_IDENTIFIER: Final = re.compile(r"[_/]|\w\.\w|::|[a-z][A-Z]|[A-Za-z]\d|\d[A-Za-z]{2}|^--?[a-z]")
NEGATIONS: Final = frozenset(
    "not no never none neither nor cannot without nothing nobody nowhere hardly unable lacks lack lacking fails fail "
    "failed refuses except dropped ceased discontinued cant dont doesnt isnt".split()
)
_BREAKS: Final = frozenset("but while whereas although though because if unless when which who that whereby so".split())
# "It is not true that", "it is false that": the denial reaches into the clause.
_CARRIERS: Final = frozenset("true case evidence clear mean means imply guarantee guaranteed fact say possible".split())
_DENIALS: Final = frozenset("false untrue incorrect wrong myth".split())
_JOINS: Final = frozenset("and or nor plus".split())
_UNASSERTED: Final = re.compile(
    r"\b(?:whether|objectives?|aim(?:s|ed)? (?:of|was|to)|we (?:asked|hypothesi[sz]ed)|hypothesis|unknown|unclear|"
    r"not (?:known|clear)|(?:to|we) (?:determine|examine|investigate|assess|evaluate|explore|test|study|compare)d?)\b",
    re.IGNORECASE,
)
# A verb that closes the reach of a negation: "robots without lidar CAN use cameras".
_AUXILIARIES: Final = frozenset("can could will would is are was were has have had must should may might".split())
_PLAIN_STARTS: Final = frozenset("using ensure note see firstly secondly additionally whereas whenever".split())

# Endings of words that the lexicon may not know and that open a sentence with a capital: no names.
_DERIVED: Final = re.compile(
    r"(?:tions?|sions?|it(?:y|ies)|ness|ments?|isms?|olog(?:y|ical)|ically|i[sz]ed|i[sz]ing|ously|vely|bly)$"
)


@dataclass(frozen=True, slots=True)
class Word:
    text: str
    """Lower case."""
    stem: str
    start: int
    end: int
    weight: float
    """0 for function words and for words of amounts."""
    row: int
    """In the lexicon, -1 when it does not know the word."""
    clause: int
    segment: int
    """Like a clause, but "and" opens a new one too."""
    negated: bool
    name: bool
    """A proper name or an identifier."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A text taken apart. `words` holds function words too; `content` are those that carry weight."""

    text: str
    words: tuple[Word, ...]
    content: tuple[Word, ...]
    amounts: tuple[Quantity, ...]

    @property
    def names(self) -> tuple[Word, ...]:
        return tuple(w for w in self.content if w.name)

    @property
    def negated(self) -> bool:
        return any(w.text in NEGATIONS or w.text.endswith("n't") for w in self.words)

    @property
    def asserts(self) -> bool:
        """A question, an aim or an open matter says nothing of how things are."""
        return not (self.text.rstrip().endswith("?") or _UNASSERTED.search(self.text))


@lru_cache(maxsize=8192)
def read(text: str) -> Reading:
    number = _STEP.match(text)
    amounts = tuple(q for q in quantities(text) if not number or q.start >= number.end())
    inside = [(q.start, q.end) for q in amounts if q.dimension != "version"]
    words: list[Word] = []
    clause = segment = reach = 0
    negated = False
    first = True
    for start, raw, stop in _tokens(text):
        if stop:
            if any(a <= start < b for a, b in inside):
                continue  # the comma of a date
            clause, segment, negated = clause + 1, segment + 1, False
            first = first or stop in ".|:"
            continue
        lowered, stemmed, weight, row, identifier, known = _facts(raw)
        if lowered in _BREAKS and words:
            carried = lowered == "that" and (words[-1].text in _DENIALS or (negated and words[-1].text in _CARRIERS))
            clause, segment, negated = clause + 1, segment + 1, carried
        elif lowered in _JOINS:
            segment += 1
        elif negated and reach and (lowered in _AUXILIARIES or lowered == "since"):
            negated = False
        name = identifier or (raw[0].isupper() and len(raw) > 1 and _named(raw, lowered, known, first=first))
        if any(a <= start < b for a, b in inside):
            weight, name = 0.0, False
        elif name:
            weight = 1.0
        words.append(Word(lowered, stemmed, start, start + len(raw), weight, row, clause, segment, negated, name))
        reach += weight > 0
        if lowered in NEGATIONS or lowered.endswith("n't"):
            negated, reach = not negated, 0
        first = False
    return Reading(text, tuple(words), tuple(w for w in words if w.weight > 0), amounts)


def _tokens(text: str) -> Iterator[tuple[int, str, str]]:
    """Start, word and stop mark, one of the two empty. "real-time" is two words, `ros-humble-nav2` is one."""
    for match in _TOKEN.finditer(text):
        word, stop = match.groups()
        if word and ("-" in word or "/" in word) and (compound := _COMPOUND.fullmatch(word)):
            yield match.start(), compound[1], ""
            yield match.start() + compound.start(2), compound[2], ""
        else:
            yield match.start(), word or "", stop or ""


@lru_cache(maxsize=65536)
def _facts(raw: str) -> tuple[str, str, float, int, bool, bool]:
    """Lower case, stem, weight, row, whether it is an identifier, whether the lexicon knows it."""
    known = lexicon()
    lowered = raw.lower().replace("’", "'")
    stemmed = stem(lowered)
    weight = 0.0 if lowered in NEGATIONS or lowered.endswith("n't") else known.weight(lowered, stemmed)
    identifier = bool(_IDENTIFIER.search(raw)) and not re.fullmatch(r"[\d.,]+", raw) and "'" not in lowered
    row = known.row(stemmed)
    return lowered, stemmed, weight, row, identifier, row >= 0


def _named(raw: str, lowered: str, known: bool, *, first: bool) -> bool:
    if lowered.removesuffix("'s") in STOPWORDS:
        return False
    if first and not raw.isupper():
        # "Install it." is no name, "Gazebo starts." is.
        return not known and lowered not in _PLAIN_STARTS and not _DERIVED.search(lowered)
    return True
