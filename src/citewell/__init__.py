"""Citewell: questions answered from your book, every sentence checked and cited.

    async with citewell.open("data") as book:
        await book.ingest("docs/")
        answer = await book.ask("How many joints has the arm?")

`citewell.open_sync` gives the same book without `async`. Names are imported when they are first used.
"""

import importlib
from typing import TYPE_CHECKING

__version__ = "0.1.0"

if TYPE_CHECKING:
    from citewell.answering.hosted_model import HostedModel as HostedModel
    from citewell.blocking import SyncBook as SyncBook
    from citewell.blocking import open_sync as open_sync
    from citewell.book import Book as Book
    from citewell.book import open as open  # noqa: A004 read as citewell.open
    from citewell.errors import CitewellError as CitewellError
    from citewell.ingest import IngestReport as IngestReport
    from citewell.judge import Checked as Checked
    from citewell.judge import CheckedSentence as CheckedSentence
    from citewell.retrieval import Found as Found
    from citewell.settings import Settings as Settings
    from citewell.values import Answer as Answer
    from citewell.values import AnswerEvent as AnswerEvent
    from citewell.values import Citation as Citation
    from citewell.values import Completed as Completed
    from citewell.values import Message as Message
    from citewell.values import Page as Page
    from citewell.values import PageEntry as PageEntry
    from citewell.values import Passage as Passage
    from citewell.values import PassagesFound as PassagesFound
    from citewell.values import ScoredPassage as ScoredPassage
    from citewell.values import SearchStarted as SearchStarted
    from citewell.values import TextReleased as TextReleased

_VALUES = "Answer AnswerEvent Citation Completed Message PageEntry Passage PassagesFound ScoredPassage SearchStarted"
_OWNERS = {
    "answering.hosted_model": "HostedModel",
    "blocking": "SyncBook open_sync",
    "book": "Book open",
    "settings": "Settings",
    "errors": "CitewellError",
    "ingest": "IngestReport",
    "judge": "Checked CheckedSentence",
    "values": f"{_VALUES} Page TextReleased",
    "retrieval": "Found",
}
_OWNER_OF = {name: owner for owner, names in _OWNERS.items() for name in names.split()}

__all__ = sorted([*_OWNER_OF, "__version__"])


if not TYPE_CHECKING:  # a checker knows the names from above, and finds those that are misspelt

    def __getattr__(name: str) -> object:
        if name not in _OWNER_OF:
            raise AttributeError(f"module 'citewell' has no attribute {name!r}")
        return getattr(importlib.import_module(f"citewell.{_OWNER_OF[name]}"), name)


def __dir__() -> list[str]:
    return __all__
