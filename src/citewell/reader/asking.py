"""What a question asks for, as far as its form tells: several things, steps, code, a part of the book. Pure.

Kept small on purpose: what answers is the reader's to say. The form only says how much of a list or table is wanted.
"""

import re
from dataclasses import dataclass
from functools import cached_property

from citewell.document import Part, asked_parts
from citewell.text import content_stems, stem

_SEVERAL = re.compile(
    r"\b(?:(?:list|name all|all (?:the|of)|each|both|kinds?|types?|sorts?|options|what are)\b|"
    r"(?:two|three|four|five|six|seven|eight) (?:\w+ ){0,2}?\w+[^su\W]s\b|"
    r"(?:which|what) (?:\w+ ){0,2}?(?!(?:is|was|does|has|this|its)\b)\w+[^su\W]s\b(?! (?:is|was)\b))",
    re.IGNORECASE,
)
_THINGS = re.compile(
    r"\b(?:which|what|list|all|the)(?: (?!(?:is|was|does|has|this|its|are|do)\b)[\w-]+){0,2} [\w-]+[^su\W]s\b|"
    r"\b(?:kinds?|types?|sorts?) of(?: [\w-]+){1,2}",
    re.IGNORECASE,
)
_DEFINED = re.compile(
    r"^(?:(?:what|who)(?:['’]s| is| are)|(?:define|explain|describe)|what (?:does|do)(?= .+ (?:do|mean|stand for)\b))"
    r" (?:(?:a|an|the) )?(?P<thing>.+?)(?: (?:for|used for|do|mean|stand for|in .+))?$",
    re.IGNORECASE,
)
_SOME = re.compile(r"\b(?:which|what|any|some) (?:ones? )?of\b|\bof (?:them|these|those)\b", re.IGNORECASE)
_STEPS = re.compile(r"\b(?:how (?:do|can|should|would|to|does one)|steps?|set ?up|procedure|walk me)\b", re.IGNORECASE)
_CODE = re.compile(
    r"\b(?:example|show me|code|snippet|command|commands|syntax|equation|formula|write|call)\b", re.IGNORECASE
)
_ITSELF = frozenset(map(stem, "explain mean means summarize summarise text passage selection paragraph".split()))
_NEXT = re.compile(
    r"(?<=[?;])\s+|[,;]?\s+(?:and|or)(?: also)?,?\s+"
    r"(?=(?:what|how|why|which|who|when|where|can|does|do|is|are|should)\b(?! (?:not|so)\b))",
    re.IGNORECASE,
)
_SIDES = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        r"\b(?:difference|differences|distinction) between (?P<sides>.+)",
        r"\bhow (?:do|does|is|are) (?P<one>.+?) (?:differ|differs|different) from (?P<other>.+)",
        r"\bhow (?:do|are) (?P<sides>.+? and .+?) (?:differ|different)\b",
        r"\bcompare (?P<one>.+?) (?:to|with|and) (?P<other>.+)",
        r"^(?P<one>[^,]+?) (?:vs\.?|versus) (?P<other>.+)",
    )
)
_BETWEEN_SIDES = re.compile(r",? and |, ")
_ARTICLE = re.compile(r"^(?:(?:the|a|an) )+", re.IGNORECASE)
_QUOTED = re.compile(r"`([^`]+)`")
_NAME = re.compile(r"(?<![\w-])--?[A-Za-z][\w-]*|\w+(?:[._:/=-]+\w+)*(?:\(\))?")
_NAMING = re.compile(r"^-|[_./:=]|\d[A-Za-z]|[A-Za-z]\d|[a-z][A-Z]|\(\)$")
_MOST_PARTS = 3
_LEAST_WORDS = 2


@dataclass(frozen=True)
class Inquiry:
    text: str

    @cached_property
    def several(self) -> bool:
        """Whether it asks for several things."""
        return _SEVERAL.search(self.text) is not None

    @cached_property
    def some(self) -> bool:
        """Whether it asks which of several things: those for which something holds, not all."""
        return _SOME.search(self.text) is not None

    @cached_property
    def steps(self) -> bool:
        return _STEPS.search(self.text) is not None

    @cached_property
    def shows(self) -> bool:
        """Whether code, a command or a formula is what is wanted."""
        return _CODE.search(self.text) is not None

    @cached_property
    def code(self) -> bool:
        """Whether it is wanted, or goes with what is."""
        return self.steps or self.shows

    @cached_property
    def about_text(self) -> bool:
        """Whether the selected text itself is asked about: "explain this"."""
        return self.stems <= _ITSELF

    @cached_property
    def thing(self) -> list[str]:
        """The stems of what is to be defined or explained: "What is a costmap?"; none for any other question."""
        found = _DEFINED.match(self.text.strip(" ?!.…"))
        return content_stems(found["thing"]) if found else []

    def opens(self, text: str) -> bool:
        """Whether a sentence begins with the thing that is to be defined, as a definition does."""
        return bool(self.thing) and content_stems(text)[: len(self.thing)] == self.thing

    @cached_property
    def parts(self) -> frozenset[Part]:
        """Parts of the book that may answer: its body, its summaries, and what is asked for by name."""
        return frozenset({"body", "summary", *asked_parts(self.text), *(("exercise",) if self.shows else ())})

    def asks_for(self, title: str) -> bool:
        """Whether a title names the things that are asked for: "Environment variables", "Authentication"."""
        words = content_stems(title)
        things = {stem for match in _THINGS.finditer(self.text) for stem in content_stems(match[0])}
        return bool(words) and things.issuperset(words)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Options, functions, settings and files that it names: `--dry`, `sudo.prompt`, `max_size`."""
        said = [*_QUOTED.findall(self.text), *(n for n in _NAME.findall(self.text) if _NAMING.search(n))]
        return tuple(dict.fromkeys(name.removesuffix("()") for name in said))

    def named(self, text: str) -> float:
        """The share of these names that a text has, to the letter."""
        has = [re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text) is not None for name in self.names]
        return sum(has) / len(has) if has else 0.0

    @cached_property
    def stems(self) -> frozenset[str]:
        """Of its words of meaning."""
        return frozenset(content_stems(self.text))

    def share(self, text: str) -> float:
        """The share of the question's words of meaning that a text has."""
        return len(self.stems.intersection(content_stems(text))) / len(self.stems) if self.stems else 0.0


def parts_of(question: str) -> list[str]:
    """The questions in a question, at most three; one that asks for one thing is all there is."""
    found = [part.strip(" ,;") for part in _NEXT.split(question) if part and part.strip(" ,;?")]
    if not 1 < len(found) <= _MOST_PARTS or any(len(part.split()) < _LEAST_WORDS for part in found):
        return [question]
    return [part if part.endswith("?") else f"{part}?" for part in found]


def sides_of(question: str) -> list[str]:
    """What a comparison compares, each side as a question of its own; empty for any other question."""
    for pattern in _SIDES:
        if found := pattern.search(question.strip(" ?!.…")):
            named = found.groupdict()
            told = _BETWEEN_SIDES.split(named["sides"]) if "sides" in named else [named["one"], named["other"]]
            sides = [_ARTICLE.sub("", side.strip()) for side in told]
            kind = sides[0].split()[-1]
            sides = [side.removesuffix("ones") + kind if side.endswith(" ones") else side for side in sides]
            return [f"What is {side}?" for side in sides] if 1 < len(sides) <= _MOST_PARTS and all(sides) else []
    return []
