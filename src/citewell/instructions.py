"""Prompt injection: does a sentence address the model that answers, rather than the reader of the book?

A linear model over groups of words, learnt by `training/instructions.py`. It sees the shape of a sentence: function
words, and classes of words for who answers, what it says, what it was told and what it is to do with that, in several
languages; every other word is a blank, so that no topic is suspicious. What stands between quotes is talked about, not
said; what is packed in base64 is unpacked first. Linear in the text.
"""

import base64
import binascii
import json
import re
from functools import cache, lru_cache
from importlib.resources import files
from itertools import combinations
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from citewell.document import STOPWORDS, Code, Formula, sentences
from citewell.values import Page

_ASSETS = files("citewell") / "assets" / "instructions"
BUCKETS = 1 << 13
LONGEST = 3
"""Words in a group."""
MAX_WORDS = 120
"""Of a sentence; what is longer is no sentence."""
_NEAR = 8
"""Words within which two classes are taken together, whatever their order: languages differ in it."""
_PACKED = re.compile(r"[A-Za-z0-9+/]{24,4000}={0,2}")
_TAG = re.compile(
    r"<\|\w{1,20}\|>|\[/?(?:INST|SYS)\]|<</?SYS>>|</?(?:system|assistant|user|instructions?|prompt)>|"
    r"^\W{0,4}(?:system|assistant|human|user|instructions?)(?: (?:prompt|message|note))?\s*[:>]|"
    r"#{2,6} ?(?:system|instructions?|assistant|response)\b|\{\{[#/]?(?:system|user|assistant)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"ROLETAG|https?://\S+|www\.\S+|[^\W\d_]+(?:['’][^\W\d_]+)*|\d+")
_QUOTED = re.compile(
    r"“[^”]{0,400}”|„[^“”]{0,400}[“”]|«[^»]{0,400}»|「[^」]{0,400}」|"
    r"\"[^\"]{0,400}\"|‘[^’]{0,400}’|`[^`]{0,400}`|(?<!\w)'[^']{0,400}'(?!\w)"
)
_NAMED = frozenset(("REPLY", "MODEL", "ANSWERS", "TOLD", "USER", "SECRET", "ACT", "ROLETAG"))
"""Who is addressed has to be named in some way, or what it says, was told, is to play or to give away."""
_COMMENT = re.compile(r"(?:^|\s)(?:#|//|--|/\*|<!--|;|%)\s*(\S.*)")
_FEWEST = 3
"""Words that tell somebody something."""
_FEWEST_IN_COMMENT = 7
"""Words; shorter comments name what the code does."""
_LETTERS = re.compile("[a-z]+")
_PUNCTUATION = re.compile("[\u2000-\u206f]+")
_MOSTLY = 0.7
"""A sentence that is quoted as a whole is said all the same."""


def is_instruction(sentence: str) -> bool:
    """Whether it tells a model what to do or what to answer."""
    return _may_address(sentence) and (_addresses(sentence) or any(map(_addresses, _unpacked(sentence))))


def is_instruction_in_code(line: str) -> bool:
    """The same for a line of code: only what its comment says to a reader; `print(response)` addresses nobody."""
    comment = _COMMENT.search(line)
    said = comment[1] if comment else line
    prose = comment is not None and len(_WORD.findall(said)) >= _FEWEST_IN_COMMENT
    return (prose and _addresses(said)) or any(map(_addresses, _unpacked(line)))


def names_somebody(sentence: str) -> bool:
    return not _NAMED.isdisjoint(_words(sentence))


def _addresses(sentence: str) -> bool:
    said = _words(sentence)
    few = len(said) < _FEWEST and ("ROLETAG" not in said or len(said) == 1)  # "### Response" alone is a heading
    if few or _NAMED.isdisjoint(said):
        return False
    weights, bias = _weights()
    return float(weights[features(sentence)].sum()) + bias > 0


def _unpacked(sentence: str) -> list[str]:
    """What stands in base64, where it is text."""
    found = []
    for match in _PACKED.finditer(sentence):
        packed = match.group().rstrip("=")
        try:
            found.append(base64.b64decode(packed + "=" * (-len(packed) % 4)).decode("utf-8"))
        except (binascii.Error, UnicodeDecodeError):
            continue
    return found


def instructions_in(page: Page) -> list[str]:
    """The sentences of a page, in order, that address a model; of code its lines."""
    found: list[str] = []
    for block in page.blocks:
        if not _may_address(page.text[block.start : block.end]):
            continue
        if isinstance(block, Code):
            found += filter(is_instruction_in_code, page.text[block.start : block.end].split("\n"))
        elif not isinstance(block, Formula):
            said = [page.text[span.start : span.end] for span in sentences(page.text, block)]
            found += filter(is_instruction, said)
    return found


def _may_address(text: str) -> bool:
    """Whether a sentence of it can be one: a quick look, because hardly any block of a book names somebody."""
    is_ascii = text.isascii() or _PUNCTUATION.sub(" ", text).isascii()
    if not is_ascii or "<|" in text or not _names().isdisjoint(_LETTERS.findall(text.lower())):
        return True
    return _PACKED.search(text) is not None


@cache
def _names() -> frozenset[str]:
    """What the words of those classes and the tags of roles begin with, in letters of ASCII."""
    named = (word.partition("'")[0] for word, name in _classes().items() if name in _NAMED)
    return frozenset((*named, *"system assistant human user instruction instructions prompt response inst sys".split()))


def asks_about_instructions(question: str) -> bool:
    """Whether the question is itself about prompts, injections or how models are addressed."""
    return bool(_ABOUT.search(question.lower()))


_ABOUT = re.compile(
    r"\b(?:prompts?|prompting|injections?|inject(?:s|ed)?|jailbreak\w*|instructions?|instructed|assistants?|chatbots?|"
    r"llms?|gpt\w*|language models?|ai|attack\w*|malicious|hidden|planted)\b"
)


def features(sentence: str) -> NDArray[np.int64]:
    """The buckets of its groups of one to three words, and of two classes near each other, each once."""
    words = _words(sentence)
    if (outside := _QUOTED.sub(" quoted ", sentence)) != sentence:
        unquoted = _words(outside)
        words = words if len(unquoted) <= 1 + (1 - _MOSTLY) * len(words) else unquoted
    words = ["^", *words[:MAX_WORDS], "$"]
    groups = {" ".join(words[i : i + n]) for n in range(1, LONGEST + 1) for i in range(len(words) - n + 1)}
    named = [(place, word) for place, word in enumerate(words) if word.isupper()]
    for (one, first), (other, second) in combinations(named, 2):
        if other - one <= _NEAR:
            groups.add("&".join(sorted((first, second))))
    return np.array(sorted({crc32(group.encode()) % BUCKETS for group in groups}), np.int64)


def _words(text: str) -> list[str]:
    text = _TAG.sub(" ROLETAG ", text)
    if not text.isascii():
        text = _unspaced().sub(r" \g<0> ", text)
    return [_form(word) for word in _WORD.findall(text)]


@lru_cache(1 << 14)
def _form(word: str) -> str:
    """The word if it is one of those that make the shape, the class that it belongs to, or a blank."""
    if word == "ROLETAG":
        return word
    if "/" in word or word.startswith("www."):
        return "URL"
    word = word.lower().replace("’", "'").removesuffix("'s")
    return _classes().get(word, word if word in STOPWORDS else "-")


@cache
def _classes() -> dict[str, str]:
    stored = json.loads((_ASSETS / "classes.json").read_text("utf-8"))
    return {word: name for name, words in stored.items() for word in words.split()}


@cache
def _unspaced() -> re.Pattern[str]:
    """Words of languages that put no space between words, or hang endings on them."""
    found = (word for word in _classes() if re.search(r"[\u3040-\u9fff\uac00-\ud7af]", word))
    return re.compile("|".join(map(re.escape, sorted(found, key=len, reverse=True))))


@cache
def _weights() -> tuple[NDArray[np.float32], float]:
    stored = json.loads((_ASSETS / "weights.json").read_text("utf-8"))
    weights = np.zeros(BUCKETS, np.float32)
    weights[stored["buckets"]] = stored["weights"]
    return weights, float(stored["bias"])
