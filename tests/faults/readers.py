"""Everything that reads foreign bytes, each as one call that raises nothing but what is not ours."""

import contextlib
from collections.abc import Callable

from pydantic import ValidationError

from citewell.api.body import parse
from citewell.api.dialects.message import ChatRunRequest
from citewell.api.dialects.query import ChatRequest
from citewell.errors import CitewellError
from citewell.gate.pieces import MarkdownStream
from citewell.ingest.discovery import Site
from citewell.ingest.fetch import FetchError
from citewell.ingest.frontmatter import split_front_matter
from citewell.ingest.html import UnreadableHtml, read_html
from citewell.ingest.markdown import read_markdown
from citewell.ingest.plainxml import UnreadableXml, elements
from citewell.instructions import is_instruction

OURS = (CitewellError, FetchError, UnreadableHtml, UnreadableXml)
SITE = Site.at("https://book.example/docs/")


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _gate(data: bytes) -> None:
    stream = MarkdownStream()
    for character in _text(data):
        stream.feed(character)
    stream.finish()


def _body(data: bytes) -> None:
    body = parse(data)
    for model in (ChatRequest, ChatRunRequest):
        with contextlib.suppress(ValidationError):
            model.model_validate(body)


def _field(data: bytes) -> None:
    """The text as a question."""
    text, session = _text(data), "3f0e6b1a-8c55-4c8b-9d41-2f6a7b1c0e5d"
    with contextlib.suppress(ValidationError):
        ChatRequest.model_validate({"query": text, "selected_text": text})
    with contextlib.suppress(ValidationError):
        ChatRunRequest.model_validate({"message": text, "session_id": session, "context": text})


def _read(read: Callable[[bytes], object]) -> Callable[[bytes], None]:
    def tried(data: bytes) -> None:
        with contextlib.suppress(*OURS):
            read(data)

    return tried


READERS: dict[str, Callable[[bytes], None]] = {
    "gate": _read(_gate),
    "Markdown": _read(lambda data: read_markdown(_text(data), "docusaurus", lambda _: None)),
    "MkDocs": _read(lambda data: read_markdown(_text(data), "mkdocs", lambda _: None)),
    "HTML": _read(lambda data: read_html(_text(data))),
    "front matter": _read(lambda data: split_front_matter(f"---\n{_text(data)}\n---\n")),
    "XML": _read(lambda data: list(elements(data))),
    "redirects": _read(lambda data: SITE.page("https://book.example/docs/a", _text(data))),
    "bodies": _read(_body),
    "questions": _read(_field),
    "instructions": _read(lambda data: is_instruction(_text(data))),
}
