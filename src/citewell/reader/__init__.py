"""The built-in answering model: reads passages for a question and quotes whole blocks, word for word. Never invents."""

import hashlib
from importlib.resources import files

from citewell.reader.asking import Inquiry, parts_of, sides_of
from citewell.reader.choosing import Quote, choose, opening
from citewell.reader.quoting import compose
from citewell.reader.reading import STEADY, PassageReading, QuestionModel, Reader, TrainedReader, Unit, log_odds

_SOURCES = sorted((part for part in files(__package__).iterdir() if part.name.endswith(".py")), key=lambda p: p.name)
RULES = hashlib.sha256(b"".join(part.read_bytes() for part in _SOURCES)).hexdigest()[:16]
"""Which rules choose and quote: an answer that others made is not given again."""

__all__ = [
    "RULES",
    "STEADY",
    "Inquiry",
    "PassageReading",
    "QuestionModel",
    "Quote",
    "Reader",
    "TrainedReader",
    "Unit",
    "choose",
    "compose",
    "log_odds",
    "opening",
    "parts_of",
    "sides_of",
]
