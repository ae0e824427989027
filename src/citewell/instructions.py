"""Prompt injection: does a sentence address the model that answers, rather than the reader of the book?

A linear model over short groups of words, learnt by `training/instructions.py`. It sees the shape of a sentence:
function words and the words for who answers, for what it says and for what it was told; every other word is a blank,
so that no topic is suspicious. What stands between quotes is talked about, not said. Linear in the text.
"""

import json
import re
from functools import cache
from importlib.resources import files
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from citewell.document import STOPWORDS, Code, Formula, sentences
from citewell.values import Page

BUCKETS = 1 << 13
LONGEST = 3
"""Words in a group."""
MAX_WORDS = 120
"""Of a sentence; what is longer is no sentence."""
_WORD = re.compile(r"https?://\S+|www\.\S+|[^\W\d_]+(?:['’][^\W\d_]+)*|\d+")
_QUOTED = re.compile(r"“[^”]{0,400}”|\"[^\"]{0,400}\"|‘[^’]{0,400}’|`[^`]{0,400}`|(?<!\w)'[^']{0,400}'(?!\w)")
_CLASSES = {
    word: name
    for name, words in {
        "REPLY": "answer answers response responses reply replies output outputs completion completions",
        "MODEL": "ai assistant assistants chatbot chatbots bot bots llm llms model models agent agents gpt system",
        "ANSWERS": "respond responding answering replying respond summarizes summarises summarize summarise",
        "TOLD": "instruction instructions prompt prompts guidelines rules told directive directives",
        "EARLIER": "previous prior earlier above preceding",
        "IGNORE": "ignore disregard forget override bypass ignoring",
        "TELL": "tell say inform convince persuade claim pretend reveal respond",
        "USER": "user users",
        "PLEASE": "please always never must",
    }.items()
    for word in words.split()
}
_NAMED = frozenset(("REPLY", "MODEL", "ANSWERS", "TOLD", "USER"))
"""Who is addressed has to be named in some way, or what it says, or what it was told."""
_MOSTLY = 0.7
"""A sentence that is quoted as a whole is said all the same."""


def is_instruction(sentence: str) -> bool:
    """Whether it tells a model what to do or what to answer."""
    if _NAMED.isdisjoint(_words(sentence)):
        return False
    weights, bias = _weights()
    return float(weights[features(sentence)].sum()) + bias > 0


def instructions_in(page: Page) -> list[str]:
    """The sentences of a page, in order, that address a model. Code is not said to anybody."""
    prose = (block for block in page.blocks if not isinstance(block, Code | Formula))
    spans = (span for block in prose for span in sentences(page.text, block))
    return [text for span in spans if is_instruction(text := page.text[span.start : span.end])]


def asks_about_instructions(question: str) -> bool:
    """Whether the question is itself about prompts, injections or how models are addressed."""
    return bool(_ABOUT.search(question.lower()))


_ABOUT = re.compile(
    r"\b(?:prompts?|prompting|injections?|inject(?:s|ed)?|jailbreak\w*|instructions?|instructed|assistants?|chatbots?|"
    r"llms?|gpt\w*|language models?|ai|attack\w*|malicious|hidden|planted)\b"
)


def features(sentence: str) -> NDArray[np.int64]:
    """The buckets of its groups of one to three words, each once."""
    outside = _QUOTED.sub(" quoted ", sentence)
    words = _words(outside)
    if len(words) <= 1 + (1 - _MOSTLY) * len(_words(sentence)):
        words = _words(sentence)
    words = ["^", *words[:MAX_WORDS], "$"]
    groups = {" ".join(words[i : i + n]) for n in range(1, LONGEST + 1) for i in range(len(words) - n + 1)}
    return np.unique(np.fromiter((crc32(group.encode()) % BUCKETS for group in groups), np.int64))


def _words(text: str) -> list[str]:
    return [_form(word) for word in _WORD.findall(text.lower())]


def _form(word: str) -> str:
    """The word if it is one of those that make the shape, the class that it belongs to, or a blank."""
    word = word.replace("’", "'").removesuffix("'s")
    return _CLASSES.get(word, word if word in STOPWORDS else "-")


@cache
def _weights() -> tuple[NDArray[np.float32], float]:
    stored = json.loads((files("citewell") / "assets" / "instructions" / "weights.json").read_text("utf-8"))
    weights = np.zeros(BUCKETS, np.float32)
    weights[stored["buckets"]] = stored["weights"]
    return weights, float(stored["bias"])
