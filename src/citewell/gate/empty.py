"""Sentences and titles that claim nothing: greetings, offers, "Here are the steps". Strict: the rest is a claim. Pure.

The lists hold the small talk of assistants, not words of any book.
"""

import re
from collections.abc import Callable
from typing import Final

from citewell.document import STOPWORDS
from citewell.judge.quantities import quantities
from citewell.text import stem, words

_OPENINGS: Final = re.compile(
    r"(?:hello|hi|hey|welcome|sure|certainly|of course|absolutely|ok(?:ay)?|great|good|thanks|thank you|i hope|"
    r"i(?:'m| am|'d| would be) (?:happy|glad)|happy to|glad to|let me|let's|feel free|please (?:let me|feel free)|"
    r"if you (?:have|need|would|want)|would you like|do you (?:want|need|have)|here|below|the following|follow|"
    r"in summary|to summarize|in short|for example|for instance|based on|according to|as follows|the steps|"
    r"these (?:steps|are)|you can follow|step by step|is there|to sum up|in conclusion|anything else|how (?:can|may) i|"
    r"the sources (?:disagree|differ|conflict|contradict))\b",
    re.IGNORECASE,
)
_UNABLE: Final = re.compile(
    r"(?:(?:however|unfortunately|sorry|but|also|additionally)\W+)*i\W?(?: ?(?:a?m|do|have|could|can|did))?"
    r"(?: ?n[o']t(?: able to| been able to)?| unable to| no)"
    r" (?:aware|sure|certain|information|knowledge|have|know|find|found|see|address|answer|provide|give|tell|say)\b"
    r"(?!.*\b(?:so|therefore|thus|hence|because|since|but|which|although|though)\b)[^:;]*",
    re.IGNORECASE,
)
"""What the writer does not know or cannot tell, in the first person, and nothing besides."""
_SMALL_TALK: Final = frozenset(
    stem(w)
    for w in "say following follow run source sources page section book text information provided context note "
    "hello hi hey welcome sure certainly course absolutely ok okay great good question questions thanks thank please "
    "happy glad help helps helpful assist answer answers summary summarize overview explain explanation guide "
    "step steps procedure process instructions way ways list example examples code command commands hope know "
    "feel free ask anything something else further detail details look find point points key main conclusion "
    "finally next first see quick brief short simple detailed like want need clarification today disagree "
    "differ conflict contradict use sum item items thing things available relevant related option options "
    "reason reasons topic topics search full documentation here's that's i'm i'd i'll let's you're you'd".split()
)
_TITLES: Final = frozenset(
    stem(w)
    for w in "introduction background prerequisites requirements installation setup configuration usage "
    "troubleshooting notes tips warning comparison difference differences benefits advantages disadvantages "
    "features description value name type default parameter parameters components purpose definition result "
    "results common important additional other references property properties category role aspect meaning".split()
)
_SAYS_MORE: Final = frozenset(
    "not no never none neither nor cannot without must should always shall only yes can't don't doesn't isn't".split()
)


def claims_nothing(text: str, *, passages: int) -> bool:
    """A greeting, a closing, "I don't know" or "Here are the steps". `passages` is how many were shown."""
    if _UNABLE.fullmatch(text.replace("’", "'")):
        return True
    opening = _OPENINGS.match(text.lstrip("*_ "))
    if not opening or (opening.group().lower().startswith("the sources") and passages < 2):
        return False
    return _names_only(text, lambda word: False)


def is_title(text: str, known: Callable[[str], bool]) -> bool:
    """Whether a heading or label only names: each word is a title's word or stands in the evidence."""
    return _names_only(text, lambda word: stem(word) in _TITLES or known(stem(word)))


def _names_only(text: str, known: Callable[[str], bool]) -> bool:
    said = [w.lower().replace("’", "'") for w in words(text)]
    if _SAYS_MORE & set(said) or any(q.telling for q in quantities(text)):
        return False
    return all(w in STOPWORDS or w in _SMALL_TALK or stem(w) in _SMALL_TALK or known(w) for w in said)
