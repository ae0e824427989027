"""Values, the domain model: frozen values that every other module speaks in. No I/O, no wire names, no settings."""

import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from citewell.document import Block, Heading, Table, table_row
from citewell.errors import CitewellError, InvalidFilterError

_NO_GLYPH = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u2800\u3164\uffa0")
"""Letters, marks and symbols that show nothing: fillers, selectors and the blank pattern."""


def trimmed(text: str) -> str:
    """Without the space around it; empty when nothing of it can be seen (zero-width, direction marks, fillers)."""
    text = text.strip()
    return text if any(map(_shows, text)) else ""


def _shows(character: str) -> bool:
    kind = unicodedata.category(character)
    return kind[0] not in "CZ" and kind not in ("Mn", "Me") and character not in _NO_GLYPH


Vector = NDArray[np.float32]
"""One row, or one row for each text."""

Mode = Literal["general", "selected_text"]
Role = Literal["user", "assistant"]
Status = Literal["success", "refused", "error"]
ConfidenceLevel = Literal["high", "medium", "low", "insufficient"]

FILTER_FIELDS = ("source_url", "page_title", "section_heading", "module", "chapter", "language", "version")
Filters = Mapping[str, tuple[str, ...]]
"""Field to accepted values: the values of a field are OR, the fields are AND."""
NO_FILTERS: Filters = MappingProxyType({})

SELECTION_URL = "selected_text"
"""The `source_url` of evidence that the reader selected."""


@dataclass(frozen=True, slots=True)
class Page:
    """A page of the book, as clean Markdown: no JSX, no front matter, links and images reduced to their text."""

    url: str
    """Without an anchor."""
    title: str
    text: str
    blocks: tuple[Block, ...] = ()
    """In order, not overlapping, over all of the text but the blank space between them."""
    module: str = ""
    """The label of the folder that the page is in."""
    language: str = "en"
    version: str = ""
    page_starts: tuple[int, ...] = ()
    """Where each printed page begins in `text`, for books that have page numbers."""

    @property
    def headings(self) -> tuple[Heading, ...]:
        return tuple(block for block in self.blocks if isinstance(block, Heading))


@dataclass(frozen=True, slots=True)
class Passage:
    """A piece of a page that is embedded, found and cited. `text` is exactly `page.text[char_start:char_end]`."""

    id: str
    """A UUID, the same for the same passage in every run."""
    url: str
    page_title: str
    text: str
    chunk_index: int
    char_start: int
    char_end: int
    heading_path: tuple[str, ...] = ()
    """From the outermost heading to the section's own, without the page's title."""
    anchor: str = ""
    module: str = ""
    language: str = "en"
    version: str = ""
    page_number: int | None = None
    content_hash: str = ""
    """SHA-256 of the text that is embedded: heading path and passage."""
    blocks: tuple[Block, ...] = ()
    """Whole blocks of the page, or pieces of those that were divided; their places are in this passage's text."""
    first_block: int = 0
    """The number of the first of them among the page's blocks, which `within` counts."""

    @property
    def section_heading(self) -> str:
        return self.heading_path[-1] if self.heading_path else ""

    @property
    def chapter(self) -> str:
        return self.page_title

    @property
    def section_url(self) -> str:
        return f"{self.url}#{self.anchor}" if self.anchor else self.url

    @property
    def place(self) -> str:
        """The page and the headings above the passage, for people."""
        return " › ".join(dict.fromkeys((self.page_title, *self.heading_path)))

    @property
    def embedded_text(self) -> str:
        """What the embedder sees: the passage under its headings, the later pieces of a table under its header too."""
        titles = (self.page_title, *self.heading_path)
        path = " > ".join(t for i, t in enumerate(titles) if t and t not in titles[:i])
        match self.blocks:
            case (Table(header=header, divided=(piece, _)), *_) if header and piece > 1:
                return "\n".join(filter(None, (path, table_row(header), self.text)))
        return f"{path}\n{self.text}" if path else self.text


@dataclass(frozen=True, slots=True)
class PageEntry:
    """A line of the book's table of contents."""

    url: str
    title: str
    module: str
    passages: int


@dataclass(frozen=True, slots=True)
class ScoredPassage:
    """A passage as a search found it."""

    passage: Passage
    score: float
    """Cosine similarity to the question, clipped to 0–1: what the wire calls score, relevance or similarity."""
    dense: float
    """The cosine as it is, may be negative."""
    bm25: float
    fused: float
    """What the ranking sorts by; comparable within one search only."""


@dataclass(frozen=True, slots=True)
class Generation:
    """One whole index: the old one or the new, never in between."""

    id: str
    embedder: str
    dimensions: int
    created_at: datetime
    pages: int
    passages: int
    schema_version: int


@dataclass(frozen=True, slots=True)
class Message:
    role: Role
    content: str


@dataclass(frozen=True, slots=True)
class Question:
    """A reader's question, checked at the edge. `selection` confines in selected-text mode, helps in general mode."""

    text: str
    session_id: str
    mode: Mode = "general"
    selection: str | None = None
    history: tuple[Message, ...] | None = None
    """None: use what is stored for the session."""
    top_k: int = 5
    score_threshold: float | None = None
    filters: Filters = field(default_factory=dict)
    request_id: str = ""
    owner: str = ""
    """Whose session it is: a digest of the caller's key, or empty where no keys are asked for."""


@dataclass(frozen=True, slots=True)
class SelectionSpan:
    """A place in the reader's selection, in code points, end exclusive; lines count from 1."""

    char_start: int
    char_end: int
    line_start: int
    line_end: int


@dataclass(frozen=True, slots=True)
class Citation:
    """A passage that an answer rests on. `number` is its marker in the answer."""

    number: int
    passage: Passage
    score: float
    quote: str
    """The part of the passage that supports the answer, word for word."""
    span: SelectionSpan | None = None
    """Where the quote stands in the selection; None for passages of the book."""


@dataclass(frozen=True, slots=True)
class Related:
    """A section offered as a place to look when nothing answers. It is no source."""

    title: str
    url: str
    """With the heading's anchor."""
    first_line: str


@dataclass(frozen=True, slots=True)
class Answer:
    """A finished answer, as it is shown, saved and replayed."""

    id: str
    session_id: str
    mode: Mode
    text: str
    """Markdown with markers. For a refusal: the safe sentence."""
    status: Status
    citations: tuple[Citation, ...]
    """By score, best first."""
    confidence: float
    confidence_level: ConfidenceLevel
    model: str
    chunks_retrieved: int
    elapsed_ms: float
    refusal_reason: str | None = None
    low_confidence: bool = False
    conflicting_info: bool = False
    dropped_sentences: int = 0
    drop_reasons: tuple[str, ...] = ()
    """Why each was dropped, for the operator; not stored."""
    input_hash: str = ""
    output_hash: str = ""
    deterministic: bool = True
    fallback_message: str | None = None
    """Set when the model failed and the sources alone are the reply (AGENT_FALLBACK=sources); `text` is then empty."""
    related: tuple[Related, ...] = ()
    """Of a refusal: the nearest sections."""
    searched_for: str = ""
    """The question as it was searched, when not as it was asked: standing alone, or spelt as the book spells."""
    reranked: bool | None = None
    """Whether the passages were ordered anew; False when there was no time for it, None when it was not wanted."""

    def _repr_markdown_(self) -> str:
        """For notebooks: the text and what it rests on."""
        cited = sorted(self.citations, key=lambda c: c.number)
        sources = [f"{c.number}. [{c.passage.place}]({c.passage.section_url})" for c in cited]
        return "\n".join([self.text or self.fallback_message or "", "", *sources])


@dataclass(frozen=True, slots=True)
class ServiceStatus:
    """What a health probe found. `message` is safe to show; it says what serves instead when a service is replaced."""

    status: Literal["up", "down", "degraded"]
    latency_ms: float | None = None
    message: str | None = None


@dataclass(frozen=True, slots=True)
class SearchStarted:
    """The agent calls its tool."""

    query: str
    top_k: int
    filters: Filters


@dataclass(frozen=True, slots=True)
class PassagesFound:
    query: str
    passages: tuple[ScoredPassage, ...]


@dataclass(frozen=True, slots=True)
class TextReleased:
    """Checked text, to be appended to what came before."""

    text: str


@dataclass(frozen=True, slots=True)
class Completed:
    """The last event of a question that was answered or refused; the answer is saved by now."""

    answer: Answer


@dataclass(frozen=True, slots=True)
class Failed:
    """The last event of a question that failed."""

    error: CitewellError


AnswerEvent = SearchStarted | PassagesFound | TextReleased | Completed | Failed


def filters_of(given: Mapping[str, str | Sequence[str]] | None) -> Filters:
    """Bring filters into one form; an unknown field raises InvalidFilterError."""
    filters: dict[str, tuple[str, ...]] = {}
    for key, value in (given or {}).items():
        if key not in FILTER_FIELDS:
            raise InvalidFilterError(key, FILTER_FIELDS)
        filters[key] = (value,) if isinstance(value, str) else tuple(value)
    return filters
