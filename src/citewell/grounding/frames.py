"""Sentences that claim nothing: greetings, lead-ins, headings. Strict: what is not known to be empty is a claim."""

import re
from collections.abc import Sequence
from typing import Final

from citewell.grounding.claims import NEGATIONS, Reading, Word, read
from citewell.grounding.evidence import Evidence, prepared
from citewell.grounding.lexicon import FRAMING, lexicon
from citewell.grounding.quantities import unmatched
from citewell.text import STOPWORDS, stem

_OPENINGS: Final = re.compile(
    r"(?:hello|hi|hey|greetings|welcome|sure|certainly|of course|absolutely|gladly|ok(?:ay)?|great|good|thanks|"
    r"thank you|i hope|i(?:'m| am|'d| would be) (?:happy|glad)|happy to|glad to|let me|let's|feel free|"
    r"please (?:let me|feel free)|if you (?:have|need|would|want)|would you like|do you (?:want|need|have)|"
    r"here|below|the following|follow|in summary|to summarize|in short|for example|for instance|based on|"
    r"according to|as follows|the steps|these (?:steps|are)|you can follow|step by step|is there|"
    r"the sources (?:disagree|differ|conflict|contradict)|to sum up|in conclusion|anything else|how can i|"
    r"how may i)\b",
    re.IGNORECASE,
)
_META: Final = frozenset(
    stem(w)
    for w in "following follow follows run execute type enter source sources page section book text information "
    "provided provide context note given describe state hello hi hey greetings welcome sure certainly course "
    "absolutely gladly ok okay great good question questions thanks thank please happy glad help helps "
    "helpful assist answer answers reply summary summarize overview explain explanation guide step steps "
    "procedure process instruction instructions way ways list example examples code command commands snippet "
    "hope know feel free ask anything something else further detail details look find found break breakdown "
    "point points key main conclusion finally next first let see walk through quick brief short simple "
    "detailed like want need clarification clarify today today's disagree differ conflict contradict each "
    "other use try sum aspects things item items thing available relevant related option options reason "
    "reasons topic topics more search full documentation documentation's here's that's i'm i'd i'll let's "
    "you're you'd".split()
)
_TITLES: Final = frozenset(
    stem(w)
    for w in "introduction background prerequisites requirements requirement installation install setup configuration "
    "usage troubleshooting notes tips warning warnings comparison difference differences benefits advantages "
    "disadvantages features feature description value values name type default parameter parameters "
    "components component purpose definition how why what when where result results method methods common "
    "important additional other references property properties category function functions role roles aspect "
    "criteria term meaning metric".split()
)
_FORCEFUL: Final = frozenset("must should never always cannot shall only yes no".split())


def claims_nothing(text: str, *, passages: int) -> bool:
    """A greeting, a closing or "Here are the steps". `passages` is how many were shown."""
    opening = _OPENINGS.match(text.lstrip("*_ "))
    if not opening:
        return False
    if opening.group().lower().startswith("the sources") and passages < 2:
        return False
    reading = read(text)
    return not _says_something(reading) and all(_empty(w) for w in reading.words)


def _says_something(reading: Reading) -> bool:
    words = {w.text for w in reading.words}
    return bool(reading.amounts and not all(q.weak for q in reading.amounts)) or bool(words & (NEGATIONS | _FORCEFUL))


def _empty(word: Word) -> bool:
    return word.text in STOPWORDS or word.stem in _META or word.stem in FRAMING or word.text in _META


def frames(text: str, passages: Sequence[str]) -> bool:
    """Whether a heading, label or lead-in says no more than what its words name, all of which the passages have."""
    reading = read(text)
    if {w.text for w in reading.words} & (NEGATIONS | _FORCEFUL):
        return False
    evidence = [prepared(p) for p in passages]
    amounts = [q for e in evidence for q in e.amounts]
    if unmatched(reading.amounts, amounts, text):
        return False
    return all(_empty(w) or w.stem in _TITLES or any(_has(w, e) for e in evidence) for w in reading.content)


def _has(word: Word, evidence: Evidence) -> bool:
    if word.stem in evidence.places:
        return True
    if word.name or word.row < 0:
        return False
    return not set(lexicon().entailing(word.row).tolist()).isdisjoint(evidence.rows.tolist())
