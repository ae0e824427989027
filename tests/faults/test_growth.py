"""Foreign text costs what its length costs: the CPU of four times the text is compared with four times the CPU."""

import gc
import time
from collections.abc import Callable
from contextlib import suppress

import pytest

from citewell.api.body import parse
from citewell.document import split_sentences
from citewell.errors import CitewellError
from citewell.gate.pieces import MarkdownStream
from citewell.ingest.frontmatter import split_front_matter
from citewell.ingest.html import UnreadableHtml, read_html
from citewell.ingest.markdown import read_markdown
from citewell.instructions import is_instruction
from citewell.values import trimmed

SHORT = 1_500
TIMES = 4
MOST = 9
"""Times the CPU of the short text: 4 is linear, 16 quadratic. What is between is noise and the size of caches."""
FREE = 0.02
"""Seconds of CPU for the long text that are never asked about."""


def in_pieces(text: str) -> None:
    stream = MarkdownStream()
    for start in range(0, len(text), 7):
        stream.feed(text[start : start + 7])
    stream.finish()


READERS: dict[str, Callable[[str], object]] = {
    "gate": in_pieces,
    "Markdown": lambda text: read_markdown(text, "docusaurus", lambda _: None),
    "MkDocs": lambda text: read_markdown(text, "mkdocs", lambda _: None),
    "HTML": read_html,
    "front matter": lambda text: split_front_matter(f"---\n{text}\n---\n"),
    "open front matter": lambda text: split_front_matter(f"---\n{text}"),
    "sentences": split_sentences,
    "instructions": is_instruction,
    "trimming": trimmed,
    "a body": lambda text: parse(text.encode()),
}
UNITS = [
    "1,", "[", "![", "a. ", "`", "``a` ", "*a_", "$", "<", "<a ", "{", "|a|\n", "> ", "- a\n", "  - ", "[^1]", "&",
    "\\", "“", "\n:::note\n", "```\n", "<!--", "# a\n", "=\n", "[a](", '"', "(", "\u200b", "1. ",
    "e.g. ", "[1] ", "your answer ",
]  # fmt: skip


def cpu(read: Callable[[str], object], text: str) -> float:
    """The least of two, without the garbage collector."""
    took = []
    gc.disable()
    for _ in range(2):
        begun = time.thread_time()
        with suppress(CitewellError, UnreadableHtml):  # refused is answered
            read(text)
        took.append(time.thread_time() - begun)
    gc.enable()
    return min(took)


@pytest.mark.timeout(600)
@pytest.mark.fault("text of any kind", "costs what its length costs")
@pytest.mark.parametrize("name", READERS)
def test_the_cost_of_foreign_text_grows_with_its_length(
    name: str, record_property: Callable[[str, object], None]
) -> None:
    worst, where = 0.0, ""
    for unit in UNITS:
        short = unit * (SHORT // len(unit))
        long = cpu(READERS[name], short * TIMES)
        ratio = long / max(cpu(READERS[name], short), FREE / TIMES / MOST) if long > FREE else 0.0
        if ratio > worst:
            worst, where = ratio, unit
    record_property("figure", f"{name} ×{worst:.1f}")
    assert worst <= MOST, f"{name}: {TIMES} times {where!r} costs {worst:.1f} times as much"
