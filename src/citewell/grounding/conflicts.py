"""Passages that contradict each other on what was asked. Precision first: a false alarm is worse than a miss."""

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from citewell.grounding.alignment import Alignment, align
from citewell.grounding.claims import Reading, Word, read
from citewell.grounding.evidence import Evidence, Sentence, prepared
from citewell.grounding.lexicon import lexicon
from citewell.grounding.quantities import Quantity
from citewell.grounding.rules import reversed_polarity
from citewell.grounding.support import plain
from citewell.text import stem

_ASKED: Final = 0.4
"""Share of the question that a sentence must speak of."""
_ALIKE: Final = 0.6
"""Share of each sentence that the other must hold before their polarity or names are compared."""
_ANSWERED: Final = 0.75
"""Share of a yes-or-no question that a sentence must hold to be an answer."""
_SENTENCES: Final = 3
_NAMES_HELD: Final = 0.4
"""Share of the question's names that a passage must have to be about the same thing."""
_AMOUNT_ASKED: Final = re.compile(
    r"\b(?:how (?:many|much|long|often|far|old|fast|high|big|large|tall|deep|heavy|wide)|when|"
    r"what (?:\w+ ){0,4}?(?:year|date|day|time|number|percentage|rate|age|population|size|length|height|speed|value|"
    r"limit|frequency|temperature|payload|"
    r"price|cost|amount|distance)|which (?:year|date|day)|in what year|number of|default)\b",
    re.IGNORECASE,
)
_DATE_ASKED: Final = re.compile(
    r"\b(?:when|year|date|day|born|die|died|death|century|january|february|march|april|june|july|august|"
    r"september|october|november|december)\b",
    re.IGNORECASE,
)
_PLAIN: Final = 20
"""Content words up to which it can be told what a negation reaches."""
_DIGITS: Final = 4
"""From so many digits on, an amount is not rounded by chance."""
_DATE_PARTS: Final = ("month", "day")
_YES_NO: Final = re.compile(
    r"(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", re.IGNORECASE
)
_NEGATED: Final = re.compile(r"\b(?:not|no|never|without)\b|n['’]t\b", re.IGNORECASE)
_NAME_ASKED: Final = re.compile(r"(?:in |by |at |on |from |to |of )?(?:who|whose|whom|where|which)\b", re.IGNORECASE)
_KINDS: Final = {
    "heavy": {"mass"},
    "fast": {"speed", "angular_speed", "frequency", "time"},
    "far": {"length"},
    "tall": {"length"},
    "deep": {"length"},
    "wide": {"length"},
    "high": {"length"},
    "long": {"length", "time"},
    "old": {"time"},
    "often": {"frequency", "time"},
}
"""What a "how" asks for."""
_WHEN: Final = re.compile(r"when\b", re.IGNORECASE)
_HOW: Final = re.compile(r"\bhow (\w+)", re.IGNORECASE)
_ONCE: Final = frozenset(
    stem(w)
    for w in "born die died death founded found established establish invented invent discovered discover renamed "
    "rename abolished abolish dissolved dissolve assassinated incorporated".split()
)
"""What happens to one thing once. "Released" and "opened" are not among them: they happen again elsewhere."""
_SEVERAL: Final = re.compile(
    r"\b(?:some|other|others|another|also|such as|including|e\.g|example|among|one of)\b", re.IGNORECASE
)


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two sentences that cannot both be true. `first` and `second` are places among the passages."""

    first: int
    first_sentence: str
    second: int
    second_sentence: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Said:
    """A sentence that speaks of what was asked, and the passage it stands in."""

    place: int
    sentence: Sentence
    reading: Reading
    whole: Evidence


def contradictions(question: str, passages: Sequence[str]) -> Conflict | None:
    """The first pair of sentences, in the order of the passages, that contradict each other on the question."""
    asked = read(question)
    if not asked.content:
        return None
    said = [list(_answering(asked, i, prepared(p))) for i, p in enumerate(passages)]
    for one, other in itertools.combinations(said, 2):
        for a, b in itertools.product(one, other):
            if reason := _contradiction(asked, a, b):
                return Conflict(a.place, a.sentence.text, b.place, b.sentence.text, reason)
    return None


def _answering(asked: Reading, place: int, whole: Evidence) -> Iterator[_Said]:
    alignment = align(asked, whole)
    if alignment is None:
        return
    # What the passage as a whole is about need not be said again in each sentence.
    named = [i for i, w in enumerate(asked.content) if w.name]
    held = (alignment.by_sentence >= 0.85).astype(float)
    about = held.max(axis=1)
    if named and sum(about[i] for i in named) < _NAMES_HELD * len(named):
        return
    for i in named:
        held[i] = [max(h, 0.6) for h in held[i]]
    scores = alignment.weights @ held
    for i in sorted(range(len(scores)), key=lambda i: -scores[i])[:_SENTENCES]:
        if scores[i] >= _ASKED and whole.readings[i].asserts:
            yield _Said(place, whole.sentences[i], whole.readings[i], whole)


def _contradiction(asked: Reading, a: _Said, b: _Said) -> str:
    if plain(a.reading.text) == plain(b.reading.text):
        return ""
    return (
        _amounts_differ(asked, a, b)
        or _answers_differ(asked, a, b)
        or _polarity_differs(asked, a, b)
        or _names_differ(asked, a, b)
    )


def _answers_differ(asked: Reading, a: _Said, b: _Said) -> str:
    """A question of yes or no that one sentence affirms and the other denies."""
    if not _YES_NO.match(asked.text) or _NEGATED.search(asked.text) or _apart(asked, a, b):
        return ""  # against a question that denies, it cannot be told which sentence affirms
    verdicts = []
    for said in (a, b):
        alignment = align(asked, prepared(said.sentence.text))
        if alignment is None or _share(alignment) < _ANSWERED:
            return ""
        verdicts.append(reversed_polarity(alignment))
    return (verdicts[0] or verdicts[1]) if bool(verdicts[0]) != bool(verdicts[1]) else ""


def _amounts_differ(asked: Reading, a: _Said, b: _Said) -> str:
    if not (_AMOUNT_ASKED.search(asked.text) or (_YES_NO.match(asked.text) and asked.amounts)):
        return ""
    differing = [
        (x, y)
        for x, y in itertools.product(a.reading.amounts, b.reading.amounts)
        if _comparable(x, y, asked) and not _equal(x, y) and _alone(x, b.whole) and _alone(y, a.whole)
    ]
    if not _AMOUNT_ASKED.search(asked.text):
        differing = [(x, y) for x, y in differing if any(_equal(q, z) for q in asked.amounts for z in (x, y))]
    if not differing or _other_times(differing, a, b):
        return ""
    if _apart(asked, a, b):
        differing = [(x, y) for x, y in differing if _once(x, y, asked, a, b)]
        if not differing:
            return ""
    wanted = _wanted(asked)
    x, y = max(differing, key=lambda pair: len(_around(pair[0], a.reading) & _around(pair[1], b.reading) & wanted))
    if (
        not _around(x, a.reading) & _around(y, b.reading) & wanted
        or _one_of_many(x, a.reading)
        or _one_of_many(y, b.reading)
    ):
        return ""
    return f"{x.text} against {y.text}"


def _once(x: Quantity, y: Quantity, asked: Reading, a: _Said, b: _Said) -> bool:
    """Dates beside the word for what happens to a thing once: two births of one person are no two births,
    whatever else the sentences name."""
    if not (_year(x) or x.dimension in _DATE_PARTS):
        return False
    events = {w.stem for w in asked.words} & _ONCE
    return any(_beside(x, a.reading, event) and _beside(y, b.reading, event) for event in events)


def _beside(q: Quantity, reading: Reading, event: str) -> bool:
    """The last such word before the date, with no other date between them and none before it in the clause."""
    place = max((w.start for w in reading.words if w.stem == event and w.start < q.start), default=-1)
    return place >= 0 and not any(place < o.start < q.start and _year(o) for o in reading.amounts)


def _wanted(asked: Reading) -> set[str]:
    """What the question asks of its subject; its names say only whose it is."""
    return {w.stem for w in asked.content if not w.name} or {w.stem for w in asked.content}


def _one_of_many(q: Quantity, reading: Reading) -> bool:
    """A sentence that lists several amounts of a kind may speak of several things."""
    return sum(o.dimension == q.dimension and o.noun == q.noun and not _equal(o, q) for o in reading.amounts) > 1


def _other_times(differing: Sequence[tuple[Quantity, Quantity]], a: _Said, b: _Said) -> bool:
    """An amount of one year beside an amount of another is no contradiction."""
    if any(_year(x) for x, _ in differing):
        return False
    years = [{q.raw for q in s.reading.amounts if _year(q)} for s in (a, b)]
    return bool(years[0] or years[1]) and not years[0] & years[1]


def _comparable(x: Quantity, y: Quantity, asked: Reading) -> bool:
    if x.weak or y.weak or "version" in (x.dimension, y.dimension):
        return False
    how = _HOW.search(asked.text)
    if how and any(_equal(q, z) for q in asked.amounts for z in (x, y)):
        return False  # it belongs to the question
    dated = _year(x) or x.dimension in _DATE_PARTS
    if (how and dated) or (_WHEN.match(asked.text) and not dated):
        return False
    if _year(x) and _year(y):
        return bool(_DATE_ASKED.search(asked.text)) or any(_year(q) for q in asked.amounts)
    if _year(x) or _year(y):
        return False
    if x.dimension in _DATE_PARTS or y.dimension in _DATE_PARTS:
        return x.dimension == y.dimension and bool(_DATE_ASKED.search(asked.text))
    kinds = _KINDS.get(how[1].lower()) if how else None
    if x.dimension or y.dimension:
        return x.dimension == y.dimension and (kinds is None or x.dimension in kinds)
    return kinds is None and bool(x.noun) and x.noun == y.noun and any(w.stem == x.noun for w in asked.content)


def _year(q: Quantity) -> bool:
    return q.dimension == "calendar" or (not q.dimension and not q.noun and 1000 <= q.raw <= 2100 and q.text.isdigit())


def _equal(x: Quantity, y: Quantity) -> bool:
    if _year(x):
        return x.raw == y.raw
    return x.equals(y, tolerance=1e-6 if _exact(x, y) else 0.02)


def _exact(x: Quantity, y: Quantity) -> bool:
    """Both in one unit, to the same number of digits, none of them rounded: 1,333 km and 1,342 km are two lengths."""
    digits = [re.sub(r"\D", "", f"{q.raw:.10g}") for q in (x, y)]
    same_unit = x.raw * y.value == y.raw * x.value
    return same_unit and len(digits[0]) == len(digits[1]) >= _DIGITS and not any(d.endswith("0") for d in digits)


def _alone(q: Quantity, other: Evidence) -> bool:
    """The other passage does not have this amount anywhere."""
    return not any(_equal(q, o) or (q.raw == o.raw and q.dimension not in _DATE_PARTS) for o in other.amounts)


def _around(q: Quantity, reading: Reading) -> set[str]:
    """Stems of the words near an amount."""
    place = next((i for i, w in enumerate(reading.words) if w.end > q.start), len(reading.words))
    return {w.stem for w in reading.words[max(0, place - 8) : place + 8] if w.weight > 0}


def _apart(asked: Reading, a: _Said, b: _Said) -> bool:
    """Each sentence names something that the other's passage does not: two versions, two models, two places."""
    return bool(_own_names(asked, a, b)) and bool(_own_names(asked, b, a))


def _own_names(asked: Reading, a: _Said, b: _Said) -> list[Word]:
    known = {w.stem for w in asked.content}
    return [w for w in a.reading.names if w.stem not in known and w.stem not in b.whole.places]


def _polarity_differs(asked: Reading, a: _Said, b: _Said) -> str:
    if max(len(a.reading.content), len(b.reading.content)) > _PLAIN:
        return ""
    stems = [{w.stem for w in s.reading.content} for s in (a, b)]
    apart = (stems[0] ^ stems[1]) & {w.stem for w in asked.content}
    if any(not any(lexicon().opposed(word, other) for other in stems[0] | stems[1]) for word in apart):
        return ""  # one of them does not speak of what was asked
    for claim, evidence in ((a, b), (b, a)):
        alignment = align(claim.reading, prepared(evidence.sentence.text))
        if alignment is None or _share(alignment) < _ALIKE or _own_names(read(""), claim, evidence):
            return ""
        reason = reversed_polarity(alignment)
        if not reason:
            return ""
    return reason


def _share(alignment: Alignment) -> float:
    return float(alignment.weights @ (alignment.by_sentence.max(axis=1) >= 0.85))


def _names_differ(asked: Reading, a: _Said, b: _Said) -> str:
    """The same said of two names, when one was asked for."""
    if not _NAME_ASKED.match(asked.text) or _SEVERAL.search(a.reading.text) or _SEVERAL.search(b.reading.text):
        return ""
    if any(not any(_equal(x, y) for y in b.reading.amounts) for x in a.reading.amounts):
        return ""  # other amounts: the names tell two things apart
    own, others = _own_names(asked, a, b), _own_names(asked, b, a)
    if not own or not others or len(own) > 3 or len(others) > 3:
        return ""
    rest_a = {w.stem for w in a.reading.content if w not in own}
    rest_b = {w.stem for w in b.reading.content if w not in others}
    shared = rest_a & rest_b
    if len(shared) < 2 or len(shared) < _ALIKE * max(len(rest_a), len(rest_b)):
        return ""
    return f"{own[0].text} against {others[0].text}"
