"""The built-in answering model: reads passages for a question and quotes the answer, word for word. Never invents."""

from citewell.extractive.choosing import unfinished
from citewell.extractive.composing import Disagreement, compose, quoted
from citewell.extractive.inquiry import Inquiry, Kind
from citewell.extractive.pieces import Numbered, Piece
from citewell.extractive.reading import Reading, Scored, read
from citewell.extractive.topics import topic

__all__ = [
    "Disagreement",
    "Inquiry",
    "Kind",
    "Numbered",
    "Piece",
    "Reading",
    "Scored",
    "compose",
    "quoted",
    "read",
    "topic",
    "unfinished",
]
