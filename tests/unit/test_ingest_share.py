"""The report tells how much of each page came in, counted by other means than the readers use."""

from pathlib import Path

import pytest

from citewell.index.edge import EdgeWriter
from citewell.ingest import IngestOptions, IngestReport, ingest, source_of
from citewell.ingest.html import read_html
from citewell.ingest.share import letters, markdown_letters, rst_letters
from tests.support.ingest import CountingEmbedder


def test_marks_targets_tags_and_imports_are_no_text() -> None:
    source = (
        'import X from "y"\n\n# One {#id}\n\n[two](https://example.com "t") <b>three</b> <!-- no -->\n\n[r]: http://x\n'
    )
    assert markdown_letters(source, mdx=True) == len("Onetwothree")


def test_code_counts_whole() -> None:
    assert markdown_letters("```rust\nlet x: Vec<T>;\n```\n", mdx=False) == len("letxVecT")


def test_directives_options_and_toctrees_are_no_text() -> None:
    toctree = ".. toctree::\n   :maxdepth: 2\n\n   a/b\n\n"
    source = f"One\n===\n\n{toctree}.. note::\n   :class: x\n\n   two :ref:`three <label>`\n\n.. no\n   no\n"
    assert rst_letters(source) == len("Onetwothree")


def test_of_html_what_no_menu_shows_counts() -> None:
    page = read_html("<body><nav>menu</nav><article>card</article><div><p>" + "text " * 10 + "</p></div></body>")
    assert page.letters == letters("card" + "text" * 10)


async def test_the_page_for_addresses_that_a_site_has_not_is_no_page(tmp_path: Path) -> None:
    site = tmp_path / "site"
    site.mkdir()
    for name in ("index.html", "404.html"):
        (site / name).write_text("<main><h1>Pumps</h1><p>They move water.</p></main>")
    report = await report_of(site, tmp_path / "data")
    assert [each.place for each in report.left_out] == ["404.html"]


async def report_of(folder: Path, data: Path) -> IngestReport:
    writer = EdgeWriter(data, spare_bytes=0)
    options = IngestOptions(max_failure_share=1)
    try:
        return await ingest(source_of(str(folder), options), writer, CountingEmbedder(), options, lambda _: None)
    finally:
        await writer.aclose()


@pytest.fixture
async def report(tmp_path: Path) -> IngestReport:
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "whole.md").write_text("# Whole\n\nAll of it comes in.\n")
    (docs / "props.mdx").write_text(
        "# Props\n\nSome.\n\n{[" + "'words in an expression',".ljust(30) * 20 + "].map(f)}\n"
    )
    (docs / "_part.mdx").write_text("A partial.\n")
    (docs / "draft.md").write_text("---\ndraft: true\n---\nNot yet.\n")
    (docs / "manual.docx").write_bytes(b"PK")
    return await report_of(docs, tmp_path / "data")


async def test_every_page_has_its_share_and_poor_ones_are_listed(report: IngestReport) -> None:
    shares = {page.url: page.share for page in report.pages}
    assert shares["/whole"] == 1
    assert shares["/props"] < 0.6
    assert [line for line in report.remarks() if line.startswith("poor")] == [
        f"poor    /props: only {shares['/props']:.0%} of its text came in."
    ]


async def test_everything_left_out_by_rule_is_listed_with_its_rule(report: IngestReport) -> None:
    rules = {each.place: each.rule for each in report.left_out}
    assert set(rules) == {"_part.mdx", "draft.md", "manual.docx"}
    assert "pandoc" in rules["manual.docx"], "it says what to do"
    assert len([line for line in report.remarks() if line.startswith("left out 1:")]) == 3


async def test_the_json_has_it_all(report: IngestReport) -> None:
    found = report.as_json()
    assert found["pages"] == [
        {"url": page.url, "share": round(page.share, 3), "letters": page.letters} for page in report.pages
    ]
    assert found["left_out"] == [{"place": each.place, "rule": each.rule} for each in report.left_out]
