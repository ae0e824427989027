"""Claims made of a passage's own sentences, so that nearness of words tells nothing.

The claims written by hand are paraphrases when true and near copies when false; answers of real models are mostly near
copies and true. Here are near copies of both kinds: said a little otherwise, or with one thing changed.
"""

import random
import re
from collections.abc import Callable
from typing import Final

from training.packing import Claim

_FENCE: Final = re.compile(r"^ *(```|~~~).*?(?:^ *\1.*?$|\Z)", re.MULTILINE | re.DOTALL)
_NO_PROSE: Final = re.compile(r"^\s*(?:#|\||[^\n]*\s\|\s|<|:::|!!!|\{|>?\s*\[!|-{3,}|\+-)")
_ITEM: Final = re.compile(r"^\s*(?:[-*+•]|\d{1,3}[.)])\s+")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?])\s+(?=[A-Z\"'`(\[*])")
_LINK: Final = re.compile(r"!?\[([^\]]*)\]\([^)]*\)")
_EMPHASIS: Final = re.compile(r"\*\*|__|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_SAME: Final = tuple(
    tuple(pair.split(" = "))
    for pair in (
        "in order to = to; for example = for instance; such as = like; allows you to = lets you; you can = it is "
        "possible to; you can = users can; you must = you need to; you need to = you have to; must be = has to be; "
        "provides = offers; displayed = shown; ensure = make sure; however = but; do not = don't; does not = doesn't; "
        "cannot = can't; is not = isn't; are not = aren't; because = since; multiple = several; several = multiple; "
        "additional = further; when = whenever; currently = at present; contains = holds; create = make; "
        "creates = makes; created = made; remove = delete; start = begin; starts = begins; is required = is needed; "
        "specify = give; typically = usually; usually = normally; often = frequently; approximately = about; "
        "large = big; begin = start; called = named; located = situated; received = got; became = turned into; "
        "two = 2; three = 3; four = 4; each = every; every = each; via = through; entire = whole; whole = entire; "
        "show = display; shows = displays; choose = select; select = choose; click = press; obtain = get; "
        "allow = let; immediately = at once; if you want to = to; in addition = furthermore; prior to = before"
    ).split("; ")
)
_NEEDLESS: Final = re.compile(r"\b(?:simply|just|also|easily|basically|actually|currently|typically) ", re.IGNORECASE)
_ASIDE: Final = re.compile(r" \([^()]{3,80}\)|, which [^,.;:]{5,80}(?=[,.])|, e\.g\.,? [^,.;]{3,40}(?=[,.])")
_DENIED: Final = (
    ("is", "is not"), ("are", "are not"), ("can", "cannot"), ("must", "need not"), ("will", "will not"),
    ("was", "was not"), ("were", "were not"), ("does not", "does"), ("do not", "do"), ("is not", "is"),
    ("are not", "are"), ("cannot", "can"), ("don't", "do"), ("always", "never"), ("never", "always"),
    ("all", "none of the"), ("only", "not only"), ("before", "after"), ("after", "before"), ("more", "less"),
    ("without", "with"), ("with", "without"), ("enable", "disable"), ("enabled", "disabled"), ("disabled", "enabled"),
    ("true", "false"), ("false", "true"), ("first", "last"), ("last", "first"), ("minimum", "maximum"),
    ("maximum", "minimum"), ("at least", "at most"), ("at most", "at least"), ("optional", "required"),
    ("required", "optional"), ("higher", "lower"), ("lower", "higher"), ("add", "remove"), ("adds", "removes"),
    ("increase", "decrease"), ("increases", "decreases"), ("client", "server"), ("server", "client"),
    ("read", "write"), ("input", "output"), ("output", "input"), ("start", "stop"), ("inside", "outside"),
    ("local", "remote"), ("old", "new"), ("new", "old"), ("most", "least"), ("early", "late"), ("north", "south"),
    ("east", "west"), ("larger", "smaller"), ("smaller", "larger"), ("and", "but not"),
)  # fmt: skip
_ADDED: Final = (
    " in every case", " since version 2.0", ", and this cannot be changed later", ", which is the default",
    " within ten seconds", ", unless it is called from a thread", " on every platform", ", but only for administrators",
    " and writes it to the log", ", which costs extra", " at most twice", ", as of last year", " in the order given",
    ", which most people do not know", " free of charge", ", after asking the user", " on Linux only",
)  # fmt: skip
_NUMBER: Final = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?![\w.]*\d)")
_NAME: Final = re.compile(r"`[^`\n]{2,40}`|\b[A-Z][a-z]{3,}(?: [A-Z][a-z]+)*\b|\b[A-Z]{2,6}\b")
_NO_NAME: Final = frozenset(
    "There They This That These Those When While With What Where Which Then Here Your From".split()
)


def sentences(passage: str) -> list[tuple[str, str]]:
    """Sentences of prose with the line that leads to the list they stand in, or nothing."""
    found: list[tuple[str, str]] = []
    lead = ""
    for paragraph in re.split(r"\n\s*\n|\n(?=\s*(?:[-*+•]|\d{1,3}[.)])\s)", _FENCE.sub("\n\n", passage)):
        if _NO_PROSE.match(paragraph):
            continue
        item = _ITEM.match(paragraph)
        text = _EMPHASIS.sub("", _LINK.sub(r"\1", " ".join(_ITEM.sub("", paragraph).split())))
        found += [
            (sentence, lead if item else "")
            for sentence in _SENTENCE_END.split(text)
            if 5 <= len(sentence.split()) <= 50 and (item or sentence[-1] in ".!?")
        ]
        lead = text if text.endswith(":") else lead if item else ""
    return found


def quoted(passage: str, chance: random.Random, truths: int, lies: int, weight: float = 0.7) -> list[Claim]:
    """So many near copies that say what the passage says, and at most so many that do not."""
    known = sentences(passage)
    if not known:
        return []
    found = []
    for at in chance.sample(range(len(known)), min(truths, len(known))):
        text, lead = known[at]
        if lead and chance.random() < 0.4:
            text = f"{lead.rstrip(': ')}: {text}"
        elif at + 1 < len(known) and chance.random() < 0.25:
            text = text.rstrip(".") + chance.choice((", and ", "; ")) + known[at + 1][0]
        found.append(Claim(reworded(text, chance), "supported", (0,), weight))
    for text, _ in chance.sample(known, min(lies, len(known))):
        if changed := _changed(reworded(text, chance) if chance.random() < 0.5 else text, passage, chance):
            found.append(Claim(*changed, (0,), weight))
    return found


def reworded(text: str, chance: random.Random) -> str:
    """The same, said a little otherwise."""
    if chance.random() < 0.4:
        text = _ASIDE.sub("", text, count=1)
    if chance.random() < 0.5:
        text = _NEEDLESS.sub("", text, count=1)
    if chance.random() < 0.4:
        text = text.replace("`", "")
    wanted = chance.choice((0, 1, 1, 2, 3))
    for old, new in chance.sample(_SAME, len(_SAME)):
        if wanted and (place := re.search(rf"\b{re.escape(old)}\b", text, re.IGNORECASE)):
            text = text[: place.start()] + _cased(new, place.group()) + text[place.end() :]
            wanted -= 1
    return text


def _changed(text: str, passage: str, chance: random.Random) -> tuple[str, str] | None:
    ways: list[Callable[[str, str, random.Random], tuple[str, str] | None]]
    ways = [_denied, _renumbered, _renamed, _renumbered, _denied, _added]
    chance.shuffle(ways)
    return next((made for way in ways if (made := way(text, passage, chance))), None)


def _denied(text: str, _: str, chance: random.Random) -> tuple[str, str] | None:
    for old, new in chance.sample(_DENIED, len(_DENIED)):
        if place := re.search(rf"\b{old}\b(?! not)", text):
            return text[: place.start()] + new + text[place.end() :], "contradicted"
    return None


def _renumbered(text: str, passage: str, chance: random.Random) -> tuple[str, str] | None:
    inside = list(_NUMBER.finditer(text))
    if not inside:
        return None
    place = chance.choice(inside)
    others = [n for n in _NUMBER.findall(passage) if n != place.group()]
    value = float(place.group())
    made = str(int(value * chance.choice((2, 3, 10)) + chance.choice((1, 2, 5)))) if value < 1e9 else "7"
    new = chance.choice(others) if others and chance.random() < 0.5 else made
    return text[: place.start()] + new + text[place.end() :], "contradicted"


def _renamed(text: str, passage: str, chance: random.Random) -> tuple[str, str] | None:
    inside = [m for m in _NAME.finditer(text) if m.group() not in _NO_NAME and (m.start() or m.group()[0] == "`")]
    if not inside:
        return None
    place = chance.choice(inside)
    code = place.group()[0] == "`"
    others = sorted({n for n in _NAME.findall(passage) if n not in text and (n[0] == "`") == code} - _NO_NAME)
    if not others:
        return None
    return text[: place.start()] + chance.choice(others) + text[place.end() :], "unsupported"


def _added(text: str, _: str, chance: random.Random) -> tuple[str, str] | None:
    end = len(text) - (text[-1] in ".!?")
    return text[:end] + chance.choice(_ADDED) + text[end:], "neutral"


def _cased(new: str, old: str) -> str:
    return new[0].upper() + new[1:] if old[0].isupper() else new
