"""Real manuals, measured where they lie: everything comes in, nothing but text does. Skipped without `../shared`."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from citewell.document import Code
from citewell.ingest import IngestOptions, LeftOut, PageRead, source_of
from citewell.ingest.fences import segments
from citewell.ingest.splitting import Limit, split
from citewell.values import Page, Passage

CORPORA = Path(__file__).parents[3] / "shared" / "corpora"
pytestmark = pytest.mark.skipif(not CORPORA.is_dir(), reason="no ../shared/corpora")

LIMIT = Limit(lambda text: len(text) // 4 + 1, 256)
MARKUP = re.compile(
    r"^\s*(?:import .* from ['\"]|import ['\"]|export (?:default|const|function)\b)|</?[A-Z]\w*[\s/>]|\{/\*"
    r"|^\s*:::|^\s*!!! "
    r"|</?(?:div|span|details|summary|p|table|td|tr|iframe|figure|code|br|a|b)\b[^>]*>|\{#[\w-]+\}|\{:? ?\.\w"
)
CODE_SPAN = re.compile(r"(`+)(?:(?!\1).)*?\1(?!`)", re.DOTALL)


async def pages_of(folder: str) -> list[Page]:
    found = []
    async for outcome in source_of(str(CORPORA / folder), IngestOptions()).read({}):
        if isinstance(outcome, LeftOut):
            continue
        assert isinstance(outcome, PageRead), outcome
        assert not outcome.problems
        found.append(outcome.page)
    return found


def prose(passage: Passage) -> Iterator[str]:
    for block in passage.blocks:
        if not isinstance(block, Code):
            yield from CODE_SPAN.sub("", passage.text[block.start : block.end]).split("\n")


@pytest.mark.parametrize("folder", ["docusaurus/docs", "docusaurus-3.9.2", "curriculum"])
async def test_a_manual_comes_in_whole(folder: str) -> None:
    found = await pages_of(folder)
    assert len(found) == len([path for path in (CORPORA / folder).rglob("*.md*") if path.name[0] != "_"]) > 80
    kept: set[str] = set()
    for page in found:
        passages = split(page, LIMIT)
        assert passages, page.url
        kept.update(line.strip() for passage in passages for line in passage.text.split("\n"))
        marked = [line for passage in passages for line in prose(passage) if MARKUP.search(line)]
        assert not marked, (page.url, marked[:3])
    for path in (CORPORA / folder).rglob("*.md*"):
        for is_code, text in segments(path.read_text("utf-8"), unwrap=path.suffix == ".mdx"):
            if is_code:
                lost = [line for line in text.split("\n")[1:-1] if line.strip() and line.strip() not in kept]
                assert not lost, (path, lost[:3])


async def test_every_heading_of_the_manual_has_its_anchor() -> None:
    """The manual gives nearly every heading an explicit id: each of them must be there."""
    given: dict[str, int] = {}
    for path in (CORPORA / "docusaurus" / "docs").rglob("*.mdx"):
        for is_code, text in segments(path.read_text("utf-8"), unwrap=True):
            for anchor in [] if is_code else re.findall(r"^#{2,6} .*\{/\* #(\S+) \*/\}\s*$", text, re.MULTILINE):
                given[anchor] = given.get(anchor, 0) + 1
    found = [heading.anchor for page in await pages_of("docusaurus/docs") for heading in page.headings]
    assert len(given) > 500
    assert not {anchor: count for anchor, count in given.items() if found.count(anchor) < count}
