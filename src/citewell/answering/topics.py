"""Topic extraction: what a question is about, for the sentence that says the selection does not hold it."""

import re

_TAIL = re.compile(r"[\s?!.…。？！]+$")
_OPENING = re.compile(r"^(?:(?:please|so|and|but|ok|okay|well|hi|hello|hey)[, ]+)+", re.IGNORECASE)
_ASK = re.compile(
    r"^(?:(?:can|could|would|will) you (?:please )?)?"
    r"(?:explain|describe|define|tell me|show me|give me|list|summari[sz]e|name|compare) (?:(?:more )?about |to me )?",
    re.IGNORECASE,
)
_THING = re.compile(
    r"^(?:what|who)(?:['’]s| is| are| was| were) (?!(?:it|there|this|that|these|those|he|she|they)\b)"
    r"(?P<thing>.+?)(?: (?:for|used for|about|called|like))?$",
    re.IGNORECASE,
)
_DOES = re.compile(r"^what (?:do|does|did) (?P<thing>.+?) (?:do|mean|stand for|say|look like)$", re.IGNORECASE)
_WORKS = re.compile(r"^how (?P<aux>do|does) (?P<thing>.+?) work$", re.IGNORECASE)
_HOW_TO = re.compile(
    r"^how (?P<much>(?:long|much|often|many|far) )?"
    r"(?:to|(?:do|can|should|could|would|must) (?:i|you|we|one)) (?P<act>.+)$",
    re.IGNORECASE,
)
_WHERE = re.compile(r"^where (?P<be>is|are|was|were) (?P<thing>(?:the |a |an )?(?:[\w'’-]+ ?){1,4})$", re.IGNORECASE)
# A question without an inverted verb is a clause already: "who painted the Mona Lisa", "which vitamins are in spinach".
_INVERTED = re.compile(
    r"^(?:(?:in|on|at|from|to|for|of|by|with|until|since) )?(?:why|when|where|how|what|whom?|which)"
    r"(?: (?:long|much|often|far|old|come))?"
    r" (?:is|are|was|were|do|does|did|has|have|had|can|could|should|would|will|may|must)\b|\b(?:do|does|did)\b",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"^(?:(?:in|on|at|from|to|for|of|by|with) )?(?:what|which|who|whom|whose|when|where|why|how)\b", re.IGNORECASE
)
_YES_NO = re.compile(
    r"^(?:is|are|was|were|do|does|did|has|have|had|can|could|should|would|will|may|might|must)\b", re.IGNORECASE
)
_LIMIT = 120


def topic(question: str) -> str:
    """A phrase that can stand after "information about": a noun phrase or clause, or else the question in quotes."""
    text = _OPENING.sub("", _TAIL.sub("", " ".join(question.split())))
    if not text:
        return "this question"
    text = re.split(r"(?<=[?!.]) ", text)[-1]
    asked = _ASK.sub("", text) or text
    return _shortened(_phrase(asked))


def _phrase(text: str) -> str:
    if match := _DOES.match(text) or _THING.match(text):
        return match["thing"]
    if match := _WORKS.match(text):
        return f"how {match['thing']} work{'s' if match['aux'].lower() == 'does' else ''}"
    if match := _HOW_TO.match(text):
        return f"how {match['much'] or ''}to {match['act']}"
    if match := _WHERE.match(text):
        return f"where {match['thing'].strip()} {match['be'].lower()}"
    if _INVERTED.search(text) or _YES_NO.match(text):
        return f"“{text}”"
    return text[0].lower() + text[1:] if _ASKS.match(text) else text


def _shortened(phrase: str) -> str:
    if len(phrase) <= _LIMIT:
        return phrase
    cut = phrase[:_LIMIT].rsplit(" ", 1)[0]
    return f"{cut} …”" if phrase.startswith("“") else f"{cut} …"
