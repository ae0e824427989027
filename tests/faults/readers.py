"""Everything that reads foreign bytes, each as one call that raises nothing but what is not ours.

Files of a book, what a crawled site says, bodies and questions of clients, selections, and the text of models.
"""

import asyncio
import contextlib
import io
import zipfile
from collections.abc import Callable
from pathlib import Path

from pydantic import ValidationError

from citewell.answering.evidence import Evidence
from citewell.api.body import parse
from citewell.api.dialects.message import ChatRunRequest
from citewell.api.dialects.query import ChatRequest
from citewell.document import split_sentences
from citewell.document.language import language_of
from citewell.errors import CitewellError
from citewell.gate.citation_gate import CitationGate
from citewell.ingest.discovery import Site
from citewell.ingest.fetch import FetchError
from citewell.ingest.formats import asciidoc, docstrings, mdbook, mkdocs, myst, notebook, sphinx
from citewell.ingest.formats.epub import EpubBook, UnreadableEpub, read_document
from citewell.ingest.formats.pdf import UnreadablePdf, read_pdf
from citewell.ingest.formats.rst import UnreadableRst, read_rst
from citewell.ingest.frontmatter import split_front_matter
from citewell.ingest.html import UnreadableHtml, read_html
from citewell.ingest.markdown import read_markdown
from citewell.ingest.plainxml import UnreadableXml, elements
from citewell.instructions import is_instruction
from citewell.judge.quantities import quantities
from citewell.reader import Inquiry, choose, compose, parts_of
from citewell.reader.reading import by_words
from citewell.retrieval.followup import pull_of, standing_alone
from citewell.retrieval.spelling import Vocabulary
from citewell.values import Message, trimmed
from tests.support.judges import WordJudge
from tests.support.pdf import Text, printed

OURS = (
    CitewellError,
    FetchError,
    UnreadableEpub,
    UnreadableHtml,
    notebook.UnreadableNotebook,
    UnreadablePdf,
    UnreadableRst,
    UnreadableXml,
)
SITE = Site.at("https://book.example/docs/")
NOWHERE = Path("/nonexistent/book")
WORDS = Vocabulary.of(["The robot has an arm, a gripper and a battery. The robot moves its arm and its gripper."] * 2)


def _gate(text: str, shown: str, size: int) -> None:
    async def run() -> None:
        gate = CitationGate(WordJudge())
        gate.show(1, Evidence().add_selection(shown).passage)
        for start in range(0, len(text), size):
            await gate.feed(text[start : start + size])
        await gate.finish()

    asyncio.run(run())


def _body(data: bytes) -> None:
    body = parse(data)
    for model in (ChatRequest, ChatRunRequest):
        with contextlib.suppress(ValidationError):
            model.model_validate(body)


def _field(text: str) -> None:
    """The text as a question and as a selection."""
    session = "3f0e6b1a-8c55-4c8b-9d41-2f6a7b1c0e5d"
    with contextlib.suppress(ValidationError):
        ChatRequest.model_validate({"query": text, "selected_text": text})
    with contextlib.suppress(ValidationError):
        ChatRunRequest.model_validate({"message": text, "session_id": session, "context": text})


def _question(text: str) -> None:
    history = [Message("user", text), Message("assistant", text)]
    standing_alone(text, history), pull_of(text, history), parts_of(text), language_of(text, ["en", "de"])
    WORDS.corrected(text)


def _selection(text: str) -> None:
    """All that is done with a selection but the trained model's own work."""
    question = "What does the robot's arm do?"
    item = Evidence().add_selection(text)
    compose(choose(Inquiry(question), [by_words(question, item)], {}), lambda _: 1)


def _epub(text: str) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as book:
        container = '<container><rootfiles><rootfile full-path="a.opf"/></rootfiles></container>'
        book.writestr("META-INF/container.xml", container)
        book.writestr("a.opf", f"<package><metadata><title>{text}</title></metadata></package>")
    EpubBook(packed.getvalue())


def _pdf(text: str) -> None:
    ascii_text = text.encode("ascii", "ignore").decode()
    lines = ["".join(c for c in line if c.isprintable() and c not in "()\\") for line in ascii_text.split("\n")]
    pages = [lines[first : first + 60] for first in range(0, len(lines), 60)]
    read_pdf(printed([[Text(50, 800 - 12 * n, 10, line) for n, line in enumerate(page)] for page in pages]))


TEXTS: dict[str, Callable[[str], object]] = {
    "gate, in small pieces": lambda text: _gate(text, "The robot has an arm.", 7),
    "gate, against the same text": lambda text: _gate(text, text, 4000),
    "Markdown and MDX": lambda text: read_markdown(text, "docusaurus", lambda _: None),
    "MkDocs": lambda text: read_markdown(text, "mkdocs", lambda _: None),
    "mdBook": lambda text: (mdbook.expanded(text, NOWHERE / "a.md", NOWHERE), mdbook.read_summary(text)),
    "MyST": lambda text: myst.as_markdown(text, sphinx.NO_NAMES),
    "reStructuredText": lambda text: read_rst(text, NOWHERE / "a.rst", NOWHERE, NOWHERE, sphinx.NO_NAMES),
    "AsciiDoc": lambda text: asciidoc.expanded(text, NOWHERE / "a.adoc", NOWHERE),
    "notebook": lambda text: notebook.as_markdown(text),
    "docstring": docstrings.as_markdown,
    "configurations": lambda text: (mkdocs.read_site(text), mdbook.read_book(text)),
    "conf.py": sphinx.read_configuration,
    "HTML": read_html,
    "EPUB's package": _epub,
    "EPUB's page": read_document,
    "PDF's text": _pdf,
    "front matter": lambda text: split_front_matter(f"---\n{text}\n---\n"),
    "open front matter": lambda text: split_front_matter(f"---\n{text}"),
    "redirects": lambda text: SITE.page("https://book.example/docs/a", text),
    "sentences": split_sentences,
    "quantities": quantities,
    "instructions": is_instruction,
    "trimming": trimmed,
    "a wire field": _field,
    "a question": _question,
    "a selection": _selection,
}
BYTES: dict[str, Callable[[bytes], object]] = {
    "a body": _body,
    "XML": elements,
    "a PDF": read_pdf,
    "an EPUB": EpubBook,
}


def _tried(read: Callable[[bytes], object]) -> Callable[[bytes], None]:
    def tried(data: bytes) -> None:
        with contextlib.suppress(*OURS):
            read(data)

    return tried


def _decoded(read: Callable[[str], object]) -> Callable[[bytes], object]:
    return lambda data: read(data.decode("utf-8", "replace"))


READERS = {name: _tried(read) for name, read in ({n: _decoded(r) for n, r in TEXTS.items()} | BYTES).items()}
