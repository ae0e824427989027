"""Sentences that give orders to a model (prompt injection). Such a sentence is no evidence and no answer. Pure."""

import re
from typing import Final

_TO_A_MODEL: Final = re.compile(
    r"\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instructions?|prompts?|rules|guidelines|directions)\b"
    r"|\bsystem prompt\b|\byou are (?:now|no longer)\b|\bas an? (?:ai|language model|assistant|chatbot)\b"
    r"|\b(?:reply|respond|answer|say|output|print|write)\b.{0,12}\b(?:only|exactly|with) (?:the )?"
    r"(?:\W|word|phrase|text|[A-Z]{3,})"
    r"|\b(?:in|to|of|end|begin|start|with) your (?:answer|response|reply|output)s?\b"
    r"|\b(?:do not|don't|never) (?:tell|reveal|inform|mention)\b.{0,30}\b(?:user|reader)s?\b"
    r"|\b(?:tell|inform|instruct|urge|convince) the (?:user|reader)s?\b",
    re.IGNORECASE,
)


def addresses_model(text: str) -> bool:
    return _TO_A_MODEL.search(text) is not None
