"""What a sentence looks like, whatever it speaks of: a definition, a reason, a step, one that leans on another."""

import re
from collections.abc import Sequence

from citewell.extractive.inquiry import Kind
from citewell.extractive.matching import Words, without_targets
from citewell.extractive.pieces import Piece
from citewell.text import STOPWORDS, stem, words


def _any_of(listed: str) -> str:
    """A pattern for one of the words; "_" stands for a space inside one."""
    return r"\b(?:" + "|".join(listed.split()).replace("_", " ") + r")\b"


_YEAR = re.compile(
    r"\b(?:1\d{3}|20\d\d)s?\b|"
    + _any_of(
        "january february march april may june july august september october november december century centuries"
    ),
    re.IGNORECASE,
)
_WHEN = re.compile(
    r"\b\d+ (?:bc|ad|bce|ce)\b|\b(?:day|week|month|year|decade|hour|minute|second)s?\b|"
    + _any_of(
        "monday tuesday wednesday thursday friday saturday sunday before after during until since once whenever when"
    ),
    re.IGNORECASE,
)
_COUNT = re.compile(
    r"(?<![\w.])\d[\d.,]*(?![A-Za-z_\d])|"
    + _any_of(
        "two three four five six seven eight nine ten eleven twelve thirteen fifteen twenty thirty forty fifty sixty "
        "seventy eighty ninety hundred thousand million billion half third quarter dozen several twice once few none "
        "zero majority most double"
    ),
    re.IGNORECASE,
)
_REASON = re.compile(
    _any_of(
        "because since due_to so_that in_order_to therefore thus as_a_result result results resulted resulting cause "
        "causes caused causing reason reasons led_to leads_to leading owing_to thanks_to hence so to_avoid prevent "
        "prevents prevented preventing for_fear allow allows allowed allowing means_that make makes purpose aim aims "
        "aimed intended otherwise fear fears feared why"
    ),
    re.IGNORECASE,
)
_PLACE = re.compile(
    _any_of("in at near from to into on of under inside across through off outside") + r" (?:the |a )?[`A-Z/~]"
)
_NAME = re.compile(r"(?<![.!?]\s)(?<!^)\b[A-Z][\w'’-]*")
NEGATION = re.compile(
    _any_of("not never no without neither nor cannot nothing none nobody unable hardly barely") + r"|n['’]t\b",
    re.IGNORECASE,
)
_DEFINES = re.compile(
    r"^(?P<head>[^.;:!?,(]{1,90}?)(?:[,(] ?(?:or |also called )?(?P<also>[^.;]{1,90}?)[,)])?\s+"
    r"(?:is|are|was|were|means|refers? to|stands? for|describes?|denotes?|consists? of)\s+(?!not\b)[a-z]",
)
_ECHO = (
    "but and so or then however therefore thus hence also instead otherwise moreover furthermore in_addition "
    "additionally similarly likewise consequently as_a_result for_example for_instance in_contrast conversely "
    "nevertheless nonetheless meanwhile"
)
_STARTS_ECHO = re.compile("^" + _any_of(_ECHO), re.IGNORECASE)
_DANGLING = re.compile(
    "^(?:"
    + _any_of(f"{_ECHO} finally besides afterwards in_this_case in_this_way at_that_point")
    + r",?\s+)?"
    + _any_of(
        "this that these those it its they their them he his him she her such both here there doing_so the_former "
        "the_latter the_same the_two the_other each_of_these each_of_them one_of_these one_of_them all_of_these "
        "all_of_them most_of_these most_of_them"
    )
    + r"(?! (?:is|are|was|were) (?:a|an|no|two|three|many|several|\w+ (?:ways|kinds|types))\b)",
    re.IGNORECASE,
)
_STEPLIKE = re.compile(
    r"^(?:\*\*)?"
    + _any_of(
        "run install open create add set use start stop build source write copy put call make move check click "
        "select choose type enter go edit change save load connect give place record launch publish define import "
        "export download enable disable ensure pass wait read send test try turn verify press log navigate specify "
        "configure declare register attach fit measure collect print hold calibrate convert train fine-tune point "
        "replace remove delete"
    ),
    re.IGNORECASE,
)


def dangling(text: str) -> bool:
    """Whether a sentence leans on the one before it: "This …", "However, it …"."""
    return bool(_DANGLING.match(text.lstrip("*_\"'“ "))) or bool(_STARTS_ECHO.match(text))


def defines(piece: Piece, subject: Sequence[str]) -> float:
    """How much a sentence looks like the definition of `subject`: its head names it and little else."""
    if piece.kind not in ("sentence", "item") or not subject:
        return 0.0
    match = _DEFINES.match(without_targets(piece.text))
    if not match:
        return 0.0
    return max(names(match["head"], subject), names(match["also"] or "", subject))


def names(text: str, subject: Sequence[str]) -> float:
    """How far a few words name the subject and nothing else, 0–1."""
    head = [stem(w) for w in words(text) if w.lower() not in STOPWORDS]
    known = set(subject)
    if not head or not known:
        return 0.0
    return len(known.intersection(head)) / len(known) * sum(w in known for w in head) / len(head)


_OPEN_END = re.compile(r"[:{(\[,\\]\s*(?:(?:#|//).*)?$")


def breaks_off(code: str) -> bool:
    """Whether a fenced block ends in the middle of something: a line that opens a body, or a bracket left open."""
    body = code.split("\n")[1:-1]
    last = next((line for line in reversed(body) if line.strip()), "")
    text = "\n".join(body)
    return bool(_OPEN_END.search(last)) or any(text.count(a) > text.count(b) for a, b in ("()", "[]", "{}"))


_BELOW = re.compile(r"\b(?:below|following|as follows|like this|this way)\b")


def points_below(text: str) -> bool:
    """Whether a sentence speaks of what stands right after it: "The node below …"."""
    return bool(_BELOW.search(text))


_SERIES = re.compile(r"[^,;]+(?:, [^,;]+)+,? (?:and|or|as well as) |:\s*\S")


def enumerates(text: str) -> bool:
    """Whether a sentence lists several things: "A, B and C", or a colon with something after it."""
    return bool(_SERIES.search(text))


def wanted(kind: Kind, piece: Piece, asked: Words) -> float:
    """Whether the piece holds the sort of thing that the question asks for, beyond what the question says itself."""
    text = piece.text
    match kind:
        case "count":
            return float(any(_fresh(m.group(), asked) for m in _COUNT.finditer(text)))
        case "time":
            if any(_fresh(m.group(), asked) for m in _YEAR.finditer(text)):
                return 1.0
            return 0.6 * any(_fresh(m.group(), asked) for m in _WHEN.finditer(text))
        case "person":
            return float(any(_fresh(m.group(), asked) for m in _NAME.finditer(text)))
        case "place":
            return float(bool(_PLACE.search(text)) and any(_fresh(m.group(), asked) for m in _NAME.finditer(text)))
        case "reason":
            return float(bool(_REASON.search(text)))
        case "command":
            return 1.0 if piece.kind == "code" else float("`" in text)
        case "procedure":
            if piece.kind == "code" or piece.sign[:1].isdigit():
                return 1.0
            return 0.7 if _STEPLIKE.match(text) else 0.0
        case _:
            return 0.5


# What a question asks for more closely, and how an answer to it looks.
_CLOSER = tuple(
    (re.compile(asked, re.IGNORECASE), re.compile(answer, re.IGNORECASE))
    for asked, answer in (
        (r"\bpercent", r"%|\bpercent"),
        (r"\bhow much (?:money|did|does|was|were)\b|\b(?:cost|price)\b", r"[$£€¥]|\b(?:dollars?|pounds?|euros?)\b"),
        (
            r"\bhow long\b",
            r"\b(?:years?|months?|days?|weeks?|hours?|minutes?|m?s|seconds?|decades?|centur\w+)\b"
            r"|\b(?:k?m|kilomet\w+|miles?|met\w+|feet)\b",
        ),
        (r"\b(?:what|which|the) year\b", r"\b(?:1\d{3}|20\d\d)\b"),
        (r"\bcentury\b", r"\bcentury\b"),
        (r"\bmean\b|\bstands? for\b|\bmeaning of\b", r"\bmeans?\b|\bstands? for\b|\bshort for\b|\brefers? to\b"),
        (
            r"\bhow (?:far|large|big|tall|high|wide)\b",
            r"\b(?:[ckm]?m|kilomet\w+|miles?|met(?:er|re)s?|feet|square|acres|hectares|inch\w*)\b",
        ),
        (
            r"\b(?:called|named?|known as|term|word|title|nickname|phrase)\b",
            r"[\"“”`]\w|\b(?:called|named|known as|termed|term|referred to|nicknamed|titled)\b",
        ),
    )
)


def closer(question: str, text: str) -> float:
    """1 when the text looks like the answer to a closely put question, -1 when not, 0 when the question is open."""
    verdict = 0.0
    for asked, answer in _CLOSER:
        if asked.search(question):
            if answer.search(text):
                return 1.0
            verdict = -1.0
    return verdict


def _fresh(token: str, asked: Words) -> bool:
    return any(stem(w) not in asked for w in words(token)) or not words(token)
