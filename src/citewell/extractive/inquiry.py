"""What a question asks for: its kind, the words that must be met, its names and numbers, its two sides."""

import re
from dataclasses import dataclass, replace
from typing import Literal

from citewell.extractive.lexicon import weight
from citewell.text import STOPWORDS, stem, words

Kind = Literal[
    "definition",
    "procedure",
    "reason",
    "count",
    "command",
    "comparison",
    "place",
    "person",
    "time",
    "polarity",
    "fact",
]


@dataclass(frozen=True, slots=True)
class Term:
    """A word of the question that an answer should meet."""

    stem: str
    weight: float
    name: bool
    """A name or identifier: written with a capital inside the sentence, or not a plain word at all."""
    number: bool


@dataclass(frozen=True, slots=True)
class Inquiry:
    text: str
    kind: Kind
    terms: tuple[Term, ...]
    """In the question's order, without repetition."""
    sides: tuple[tuple[str, ...], ...] = ()
    """The stems of each side of a comparison."""
    plural: bool = False
    """The question asks for several things."""
    negated: bool = False
    subject: tuple[str, ...] = ()
    """The stems of what a definition or an explanation is asked of."""

    numbered: tuple[tuple[str, str], ...] = ()
    """Nouns with their number: "module 2"."""
    about_text: bool = False
    """Nothing is asked but the text itself: "explain this"."""

    @property
    def total_weight(self) -> float:
        return sum(term.weight for term in self.terms) or 1.0


_FRAME = frozenset(
    stem(w)
    for w in (
        "explain describe define definition tell list please many much mean called happen difference differ compare "
        "versus vs stand exactly actually someone something anyone somebody briefly overview summary summarize"
    ).split()
)
"""Words that say how to answer, not about what."""
_LEADING_FRAME = frozenset(
    stem(w)
    for w in "name give show kind type sort way want need help know example long often step steps thing things".split()
)
"""The same, but only where a question begins."""
_AUX = r"(?:is|are|was|were|do|does|did|has|have|had|can|could|should|would|will|shall|may|might|must|am)"
_START = r"^(?:(?:and|so|but|ok|okay|then|also|please|hi|hello)[, ]+)*"
_NOUNS_OF_COUNT = (
    "percentage|percent|number|amount|proportion|fraction|rate|size|distance|speed|height|length|population|price|cost|"
    "value|frequency|temperature|port|limit|age|share"
)
_NOUNS_OF_PLACE = "city|country|place|town|region|state|area|location|continent|province|river|county|folder|directory"
_NOUNS_OF_PERSON = (
    "person|people|king|queen|leader|president|author|man|woman|emperor|general|commander|scientist|inventor|duke|"
    "group|team|company|organi[sz]ation"
)
_KINDS: tuple[tuple[Kind, tuple[str, ...]], ...] = (
    (
        "comparison",
        (
            r"\bdifferen(?:ce|ces|t)\b.*\b(?:between|from|than)\b",
            r"\bdiffer\b.*\bfrom\b|\bhow (?:do|does|did)\b.*\bdiffer\b",
            r"\bcompared?\b|\bcomparison\b|\bversus\b|\bvs\b|\bpros and cons\b|\bbetter than\b",
        ),
    ),
    ("command", (r"\b(?:which|what)(?: \S+){0,2} commands?\b", r"\bcommand (?:line )?(?:to|for|that)\b")),
    (
        "procedure",
        (
            _START + r"how (?:to|(?:do|can|should|could|would|might|must|may) (?:i|you|we|one|someone|users?)\b)",
            r"\bsteps (?:to|for|of|in|needed|required)\b|\b(?:show|tell|teach) me how (?:to|i)\b",
            r"\bwhat(?: \w+){0,2} way to\b|\binstructions (?:for|to)\b|\bknow how to\b|\bguide (?:to|for)\b",
        ),
    ),
    (
        "reason",
        (
            _START + r"why\b|\bhow come\b|, why\b|\bfor what (?:reason|purpose)\b|\bwhat makes\b",
            r"\b(?:what|which)(?: \w+){0,4} (?:reasons?|causes?|caused|purpose)\b",
        ),
    ),
    (
        "time",
        (
            _START
            + r"(?:since |until |till |from |by )?when (?!should|would|can|could|do i|do you|do we|may|must|might)",
            r", when (?:is|are|was|were|did|does|do|will|has)\b|\bhow (?:old|recently)\b",
            r"\b(?:what|which) (?:\w+ )?(?:year|years|date|day|month|century|decade|era|period)\b",
            r"\b(?:at|by) (?:what|which) time\b|\bwhat time\b",
        ),
    ),
    (
        "count",
        (
            r"\bhow (?:many|much|long|far|often|fast|high|tall|large|big|wide|deep|heavy|few|small|accurate|close)\b",
            rf"\b(?:what|which)(?: \w+)? (?:{_NOUNS_OF_COUNT})\b",
            rf"\bwhat (?:is|was|are|were) the (?:\w+ )?(?:{_NOUNS_OF_COUNT})\b",
        ),
    ),
    (
        "place",
        (
            _START + r"where\b|, where\b|\bwhere (?:is|are|was|were|do|does|did|can)\b",
            rf"\b(?:what|which) (?:\w+ )?(?:{_NOUNS_OF_PLACE})\b",
        ),
    ),
    ("person", (r"\b(?:who|whom|whose)\b", rf"\b(?:what|which) (?:\w+ )?(?:{_NOUNS_OF_PERSON})\b")),
    (
        "definition",
        (
            _START + r"what(?:['’]s| is| are| was| were)\b(?!.*\b(?:for|used|called|named|of)\b)",
            _START + r"(?:can you |could you )?(?:explain|define|describe)\b",
            r"\btell me (?:more )?about\b|\bwhat (?:do|does)\b.*\bmean\b|\bmeaning of\b|\bdefinition of\b",
            r"^[\w -]{2,40}$",
        ),
    ),
    ("polarity", (_START + rf"{_AUX}(?:n['’]t)? ",)),
)
_PATTERNS = tuple((kind, re.compile("|".join(forms), re.IGNORECASE)) for kind, forms in _KINDS)
_EXPLAINS = re.compile(
    _START + r"(?:what (?:is|are|was|were|does|do|did|happens|happened)\b|how (?:does|do|is|are|did)\b|what['’]s\b)",
    re.IGNORECASE,
)
_SIDES = (
    re.compile(r"\bbetween\s+(.+?)\s+and\s+(.+)", re.IGNORECASE),
    re.compile(r"\bcompare\s+(.+?)\s+(?:and|with|to|against)\s+(.+)", re.IGNORECASE),
    re.compile(r"\b(?:do|does|did|is|are)\s+(.+?)\s+(?:differ|different)\s+from\s+(.+)", re.IGNORECASE),
    re.compile(r"\bhow\s+(?:do|does|did)\s+(.+?)\s+and\s+(.+?)\s+differ\b", re.IGNORECASE),
    re.compile(
        r"^(?:.*?\b(?:is|are)\s+)?(.+?)\s+(?:versus|vs\.?|better than|compared (?:to|with))\s+(.+)", re.IGNORECASE
    ),
)
_NEGATION = re.compile(
    r"\b(?:not|never|no|without|neither|nor|cannot|unable|fail(?:ed|s)? to)\b|n['’]t\b", re.IGNORECASE
)
_NUMBER = re.compile(r"^\d[\d.,:%/-]*(?:st|nd|rd|th|s|%)?$")
_PLURAL = re.compile(
    r"\b(?:what|which) (?:are|were)\b|\b(?:states|kinds|types)\b|^(?:list|name)\b"
    r"|\b(?:what|which) (?:\w+ ){0,2}?(?!is\b|was\b|does\b|has\b|this\b|class\b|process\b)"
    r"[a-z]{3,}(?<!s)s (?:are|were|do|did|can|have|make|must|should|exist|of)\b",
    re.IGNORECASE,
)


_POINTS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|one|ones|same|such|former|latter|above|both|another|others?|else)\b"
    r"|^\W*(?:and|but|so|or|then|also|(?:what|how) about|what if)\b",
    re.IGNORECASE,
)
_WITH_NUMBER = re.compile(r"\b([^\W\d_]{3,}) (\d+)\b")
_ABOUT_TEXT = re.compile(
    r"^(?:please )?(?:(?:can|could) you )?(?:explain|summari[sz]e|describe|clarify|simplify|tl;?dr|"
    r"what (?:does|do|is|are)|what['’]s|tell me (?:more )?about)\b"
    r"(?: (?:this|that|it|these|those|here|me|to|the|mean|means|about|say|selection|selected|text|passage|paragraph|"
    r"sentence|section|code|formula|please|for|in|simple|words|terms|briefly))*\W*$",
    re.IGNORECASE,
)
_SMALL_TALK = re.compile(
    r"^(?:hi|hello|hey|good (?:morning|day|afternoon|evening)|thanks|thank you|thx|cheers|bye|goodbye|okay|ok)"
    r"(?: (?:there|all|you|very|so|much|a|lot|again|for|the|help|everyone|friend))*\W*$",
    re.IGNORECASE,
)
_EARLIER = 0.5
"""What a word of the question before counts in one that points back to it."""


def inquire(question: str, earlier: str = "") -> Inquiry:
    """Take a question apart. `earlier` is the reader's question before it: its words count a little, if it is meant."""
    text = " ".join(question.split())
    if _SMALL_TALK.match(text):
        return Inquiry(text, "fact", ())
    kind = _kind(text)
    terms = _terms(text)
    if earlier and (not terms or _POINTS_BACK.search(text)):
        known = {term.stem for term in terms}
        before = (term for term in _terms(" ".join(earlier.split())) if term.stem not in known)
        terms += tuple(replace(term, weight=_EARLIER * term.weight) for term in before)
    explains = kind == "definition" or (kind == "fact" and bool(_EXPLAINS.match(text)))
    subject = tuple(t.stem for t in terms) if explains else ()
    return Inquiry(
        text=text,
        kind=kind,
        terms=terms,
        sides=_sides(text) if kind == "comparison" else (),
        plural=bool(_PLURAL.search(text)),
        negated=bool(_NEGATION.search(text)),
        subject=subject,
        numbered=tuple((noun, number) for noun, number in _WITH_NUMBER.findall(text) if noun.lower() not in STOPWORDS),
        about_text=bool(_ABOUT_TEXT.match(text)),
    )


def _kind(text: str) -> Kind:
    for kind, pattern in _PATTERNS:
        if pattern.search(text):
            return kind
    return "fact"


def _terms(text: str) -> tuple[Term, ...]:
    found: dict[str, Term] = {}
    tokens = words(text)
    fallback: dict[str, Term] = {}
    for i, token in enumerate(tokens):
        lower = token.lower()
        if lower in STOPWORDS or lower.split("'")[0].split("’")[0] in STOPWORDS:
            continue
        stemmed = stem(token)
        number = bool(_NUMBER.match(token))
        if number and i > 0 and len(token) == 1 and tokens[i - 1][:1].isupper():
            continue  # "ROS 2", "Article 5": a part of the name
        identifier = not token.replace("'", "").replace("’", "").replace("-", "").isalpha() and not number
        capital = token[0].isupper() and (i > 0 or token[1:].lower() != token[1:])
        term = Term(stemmed, 1.0 if identifier else weight(stemmed), capital or identifier, number)
        if not capital and (stemmed in _FRAME or (i < 4 and stemmed in _LEADING_FRAME)):
            fallback.setdefault(stemmed, term)
            continue
        found.setdefault(stemmed, term)
    return tuple((found or fallback).values())


def _sides(text: str) -> tuple[tuple[str, ...], ...]:
    for pattern in _SIDES:
        if match := pattern.search(text):
            one, other = (_side(match.group(i)) for i in (1, 2))
            # What both share ("form closure", "force closure") tells neither from the other.
            sides = (tuple(s for s in one if s not in other), tuple(s for s in other if s not in one))
            return sides if all(sides) else ()
    return ()


def _side(text: str) -> tuple[str, ...]:
    head = re.split(r"\b(?:in|of|for|when|with|on)\b|[?.,]", text)[0] or text
    return tuple(t.stem for t in _terms(head)) or tuple(stem(w) for w in words(head) if w.lower() not in STOPWORDS)
