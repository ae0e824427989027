"""Query rewriting of follow-ups, questions that lean on the turns before them: "And how long does that take?". Pure.

Such a question is made to stand alone: what it points at with a pronoun is put in its place. What was said before also
pulls a little on the search: its words count in BM25, and the meaning of the last message is mixed into the vector of
a question that points back. The weights were chosen on conversations with judged passages (docs/retrieval.md).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from citewell.index import Hint
from citewell.text import STOPWORDS, words
from citewell.values import Message, Vector

_LAST_QUESTION = 0.1
_EARLIER_QUESTIONS = 0.05
_LAST_ANSWER = 0.03
_MEANING = 0.2
_QUESTIONS = 4
"""Older ones have lost their pull."""
_CHARACTERS = 1500
"""Of a message; the rest of a long answer adds noise and time."""

_POINTS_BACK = re.compile(
    r"\b(?:it|its|that|this|those|these|they|them|their|there|one|ones|same|such|former|latter|above|previous|both"
    r"|another|others?|else|instead|more)\b"
    r"|^\W*(?:and|but|so|or|then|also|ok|okay|why|not|yes|no|thanks|great|(?:what|how) about|what if)\b",
    re.IGNORECASE,
)
_OPENING = re.compile(
    r"^\W*(?:(?:and|but|so|or|then|also|ok|okay|yes|no|thanks|great)\b[\s,]*)*(?:(?:what|how) about\b\s*)?",
    re.IGNORECASE,
)
_PRONOUN = re.compile(r"\b(?:it|they|them|this|that|these|those)\b(?=\s*(?:[?.!,;]|$|\w+))", re.IGNORECASE)
_DETERMINER = re.compile(
    r"\b(?:this|that|these|those)\s+(?!(?:is|are|was|were|do|does|did|has|have|can|will|mean)\b)\w"
)
_RELATIVE_VERB = re.compile(r"\s+(?:is|are|was|were|has|have|can|could|do|does|did|will|would|should|must|may)\b")
_OWNED = re.compile(r"\b(?:its|their)\b", re.IGNORECASE)
_OF_THEM = re.compile(r"\b(?:the )?ones?\b", re.IGNORECASE)
_ASKED_THING = re.compile(
    r"^(?:what|who)(?:['’]s| is| are| was| were) (?P<thing>(?!(?:it|there|this|that|the difference)\b).+?)"
    r"(?: (?:for|used for|about|called|like))?$",
    re.IGNORECASE,
)
_ASKED_TASK = re.compile(
    r"^how (?:to|(?:do|can|should|could|would) (?:i|you|we|one)) \w+ (?:(?:on|off|up|in|out|to|from|with) )?"
    r"(?P<thing>.+)$",
    re.IGNORECASE,
)
_TAIL = re.compile(r"[\s?!.…]+$")
_FEW = 4
_LONGEST_SUBJECT = 60


@dataclass(frozen=True, slots=True)
class Pull:
    """What was said before, for the two rankings."""

    hints: tuple[Hint, ...] = ()
    meaning: str = ""
    """To be embedded and mixed into the question's vector; empty for a question that does not point back."""


def pull_of(question: str, history: Sequence[Message]) -> Pull:
    said = [message for message in history if message.content.strip()]
    questions = [message.content for message in said if message.role == "user"][-_QUESTIONS:]
    answers = [message.content for message in said if message.role == "assistant"][-1:]
    hints = (
        *((text, _EARLIER_QUESTIONS) for text in questions[:-1]),
        *((text, _LAST_QUESTION) for text in questions[-1:]),
        *((text, _LAST_ANSWER) for text in answers),
    )
    return Pull(
        tuple(Hint(text[:_CHARACTERS], weight) for text, weight in hints),
        said[-1].content[:_CHARACTERS] if said and _POINTS_BACK.search(question) else "",
    )


def mixed(question: Vector, before: Vector) -> Vector:
    vector = question + np.float32(_MEANING) * before
    length = np.linalg.norm(vector)
    return np.asarray(vector / length, dtype=np.float32) if length > 0 else question


def standing_alone(question: str, history: Sequence[Message]) -> tuple[str, ...]:
    """The ways to ask the question without what went before it, likeliest first.

    One that points back has its subject put in. One that does not may mean it all the same: as it is, and then so.
    """
    earlier = ""
    for message in history:
        if message.role == "user" and message.content.strip():
            earlier = _with_subject(message.content, earlier) if earlier else message.content
    if not earlier:
        return (question,)
    subject = subject_of(earlier)
    names_its_thing = _ASKED_THING.match(_TAIL.sub("", " ".join(question.split())))
    if _POINTS_BACK.search(question) or (len(words(question)) <= _FEW and not names_its_thing):
        return (_with_subject(question, earlier),)
    known = {word.lower() for word in words(question)}
    if not subject or {w.lower() for w in words(subject) if w.lower() not in STOPWORDS} <= known:
        return (question,)
    return (question, _appended(question, subject))


def subject_of(question: str) -> str:
    """What a question is about: the thing it asks after, or else its words of meaning."""
    flat = _OPENING.sub("", _TAIL.sub("", " ".join(question.split())))
    match = _ASKED_THING.match(flat) or _ASKED_TASK.match(flat)
    if match and len(match["thing"]) <= _LONGEST_SUBJECT:
        return match["thing"]
    return " ".join(w for w in words(flat)[:24] if w.lower() not in STOPWORDS)[:_LONGEST_SUBJECT]


def _with_subject(question: str, earlier: str) -> str:
    if not _POINTS_BACK.search(question) and len(words(question)) > _FEW:
        return question
    subject = subject_of(earlier)
    rest = _OPENING.sub("", question).strip() or question
    if not subject:
        return question
    if _OWNED.search(rest):
        return _OWNED.sub(f"{subject}'s", rest, count=1)
    pronoun = None if _DETERMINER.search(rest) else _pronoun(rest)
    if found := pronoun or _OF_THEM.search(rest):
        return f"{rest[: found.start()]}{subject}{rest[found.end() :]}"
    return _elliptical(rest, earlier) or _appended(rest, subject)


def _pronoun(text: str) -> re.Match[str] | None:
    """The first; "the entries that are fixed" has none."""
    for found in _PRONOUN.finditer(text):
        before = words(text[: found.start()])
        is_relative = found[0] == "that" and _RELATIVE_VERB.match(text, found.end())
        if not (is_relative and before and before[-1].lower() not in STOPWORDS):
            return found
    return None


def _elliptical(rest: str, earlier: str) -> str:
    """ "And X?" after "What does Y mean?" asks what X means: a name takes the place of a name of the same look."""
    said = words(rest)
    if not 1 <= len(said) <= _FEW:
        return ""
    for name in words(earlier):
        if _look(name) and any(_look(name) == _look(word) for word in said):
            return earlier.replace(name, _TAIL.sub("", rest), 1)
    return ""


def _look(word: str) -> str:
    if any(c.isupper() for c in word[1:]):
        return "Name"
    return "name_" if "_" in word or "." in word else ""


def _appended(question: str, subject: str) -> str:
    known = {word.lower() for word in words(question)}
    if {w.lower() for w in words(subject) if w.lower() not in STOPWORDS} <= known:
        return question
    return f"{_TAIL.sub('', question)} ({subject})?"
