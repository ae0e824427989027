"""The seam between where a book stands and the run that takes it in: a source yields pages or names failures."""

from collections.abc import AsyncGenerator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from citewell.ingest.pagetext import PageContent, spoken
from citewell.values import Page

HTML_SUFFIXES = (".html", ".htm")
RST_SUFFIXES = (".rst", ".rest")
ASCIIDOC_SUFFIXES = (".adoc", ".asciidoc")
NOTEBOOK_SUFFIXES = (".ipynb",)
SUFFIXES = (".md", ".mdx", ".markdown", *HTML_SUFFIXES, *RST_SUFFIXES, *ASCIIDOC_SUFFIXES, *NOTEBOOK_SUFFIXES)
BOOK_SUFFIXES = (".pdf", ".epub")
UNREAD = dict.fromkeys(BOOK_SUFFIXES, "A book file in a folder is not read. Ingest it by itself.") | dict.fromkeys(
    ".docx .odt .rtf .tex .org .textile .mediawiki .typ .qmd .rmd".split(),
    "This format is not read. Convert it to Markdown, for example with pandoc.",
)
"""Suffixes of files that look like pages and are not read: why, and what to do."""


@dataclass(frozen=True, slots=True)
class Failure:
    """Something the report must name."""

    url: str
    error_code: str
    error_message: str
    is_lost: bool = True
    """False: the page came in all the same (an unclosed tag) or has nothing to bring (an empty file)."""
    is_gone: bool = False
    """The page is no longer there: what the old index had of it is not carried over."""


@dataclass(frozen=True, slots=True)
class Validators:
    """What a site gave to ask again with."""

    etag: str = ""
    last_modified: str = ""


@dataclass(frozen=True, slots=True)
class PageRead:
    page: Page
    problems: tuple[Failure, ...] = ()
    validators: Validators | None = None
    letters: int = 0
    """Letters and digits that stand in the source as readers see it; 0: not counted."""


@dataclass(frozen=True, slots=True)
class PageUnchanged:
    """The site says that the page is as it was; its passages are carried over."""

    url: str
    validators: Validators


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that stands there and is no page, by a rule."""

    place: str
    """The file's path in the folder, or the page's address."""
    rule: str
    """Why, and what to do if it should come in."""


def page_read(url: str, content: PageContent, validators: Validators | None = None) -> PageRead:
    """A page that came in."""
    text = content.text.text
    language = content.language or spoken(text)
    page = Page(url, content.title, text, tuple(content.text.blocks), content.module, language, content.version)
    problems = tuple(Failure(url, code, message, is_lost=False) for code, message in content.problems if message)
    return PageRead(page, problems, validators, content.letters)


Outcome = PageRead | PageUnchanged | LeftOut | Failure


class Source(Protocol):
    """May be read more than once; `discovered` counts the pages known so far in the current reading."""

    @property
    def base_url(self) -> str: ...

    @property
    def discovered(self) -> int: ...

    @property
    def folder(self) -> Path | None:
        """What to watch for changes; None for a site."""
        ...

    async def fingerprint(self) -> str:
        """Of everything that the pages are made from; empty when it costs as much as reading them."""
        ...

    def read(self, known: Mapping[str, Validators]) -> AsyncGenerator[Outcome, None]:
        """The pages in reading order; `known` are those that may be answered by PageUnchanged.

        Raises IngestError when there is nothing to read from.
        """
        ...
