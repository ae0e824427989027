"""Whether a passage has a name: as it stands, in another spelling, by its initials or as the word for its people."""

import re
from collections.abc import Iterator, Sequence
from typing import Final

from citewell.grounding.claims import Reading, Word
from citewell.grounding.evidence import Evidence, squeeze

_SAME: Final = (
    "uk britain british",
    "u.s u.s.a usa america american",
    "tv television",
    "france french",
    "spain spanish",
    "netherlands dutch",
    "switzerland swiss",
    "poland polish",
    "denmark danish",
    "sweden swedish",
    "finland finnish",
    "turkey turkish",
    "greece greek",
    "china chinese",
    "japan japanese",
    "ireland irish",
    "wales welsh",
    "scotland scottish",
    "england english",
    "portugal portuguese",
    "vietnam vietnamese",
)
_ALIASES: Final = {word: frozenset(line.split()) - {word} for line in _SAME for word in line.split()}
_ADDED: Final = re.compile(
    r"-(?:like|based|dependent|independent|induced|related|specific|mediated|driven|style|type|only|positive|negative|"
    r"compatible|enabled|powered|aware|inspired)$"
)
_SKIPPED: Final = frozenset("of and for the to in on".split())
_LEAST_INITIALS: Final = 3
"""Fewer letters are the initials of something in any passage."""


def missing_names(claim: Reading, evidence: Evidence) -> list[Word]:
    """The names of a claim that the passage does not have."""
    return [w for w in claim.names if not has_name(w, evidence) and not _spelled_out(w, claim)]


def has_name(word: Word, evidence: Evidence) -> bool:
    if word.stem in evidence.places or word.text in evidence.initials:
        return True
    bare = squeeze(word.text.removesuffix("'s"))
    if bare in evidence.squeezed or any(squeeze(a) in evidence.squeezed for a in _ALIASES.get(word.text, ())):
        return True
    stemless = _ADDED.sub("", word.text)
    if stemless != word.text and squeeze(stemless) in evidence.squeezed:
        return True
    pieces = [squeeze(p) for p in re.split(r"[-/]", word.text)]
    if len(pieces) > 1 and all(len(p) > 2 and p in evidence.squeezed for p in pieces):
        return True
    # "scapular" and "scapula", "VSMCs" and "VSMC".
    return (
        len(bare) > 3
        and any(
            other.startswith(bare[: max(4, len(bare) - 2)]) and abs(len(other) - len(bare)) <= 2
            for other in evidence.squeezed
        )
    ) or (len(bare) >= _LEAST_INITIALS and bare.isalpha() and any(bare in i for i in _initials(evidence)))


def _spelled_out(word: Word, claim: Reading) -> bool:
    """ "Artificial intelligence (AI)": the short form says no more than the words before it."""
    if claim.text[max(0, word.start - 1) : word.start] != "(":
        return False
    before = [w for w in claim.words if w.end < word.start]
    short = word.text.removesuffix("s")
    return any(
        "".join(w.text[0] for w in kept[-len(short) :]) == short
        for kept in (before, [w for w in before if w.text not in _SKIPPED])
    )


def _initials(evidence: Evidence) -> Iterator[str]:
    """The first letters of words that stand side by side, sentence by sentence."""
    for reading in evidence.readings:
        yield "".join(_with_gaps(reading.words))


def _with_gaps(words: Sequence[Word]) -> Iterator[str]:
    end = -1
    for word in words:
        if word.text in _SKIPPED and word.start == end + 1:
            end = word.end
            continue
        if word.start != end + 1:
            yield " "
        yield word.text[0]
        end = word.end
