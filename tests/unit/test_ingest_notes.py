"""AsciiDoc and notebooks: what stands in the fixture is counted in what came in; other files are named."""

from pathlib import Path

import pytest

from citewell.document import Heading
from citewell.ingest.formats.notebook import UnreadableNotebook, as_markdown
from tests.support import formats
from tests.support.formats import Book


@pytest.fixture
async def book() -> Book:
    return await formats.read_book("notes")


async def test_everything_that_stands_in_an_asciidoc_page_comes_in_once(book: Book) -> None:
    assert book.kinds("/arm.html") == {
        "heading": 3,
        "paragraph": 6,
        "admonition": 2,
        "list_item": 5,
        "code": 1,
        "definition": 1,
        "table": 1,
        "row": 2,
    }
    page = book.pages["/arm.html"]
    assert (page.title, page.text.count("the moving part and a link at 3 m/s")) == ("The arm", 1)
    assert "moved text" in page.text
    assert "before" not in page.text


async def test_asciidoc_headings_have_the_ids_that_asciidoctor_gives_them(book: Book) -> None:
    anchors = [b.anchor for b in book.pages["/arm.html"].blocks if isinstance(b, Heading)]
    assert anchors[1:] == ["moving", "_deep_section"]


async def test_what_asciidoc_would_include_from_outside_is_named(book: Book) -> None:
    (said,) = book.problems
    assert "conftest.py" in said.error_message


async def test_a_notebook_has_its_text_its_code_and_what_was_printed(book: Book) -> None:
    assert book.kinds("/swing.html") == {"heading": 2, "paragraph": 2, "list_item": 2, "code": 3}
    assert book.texts("/swing.html", "code") == ["swing(3)", "swung by 3", "   a\n0  1"]


@pytest.mark.parametrize("source", ["", "[]", "{}", '{"cells": 3}', "[" * 100_000])
def test_what_is_no_notebook_is_said(source: str) -> None:
    with pytest.raises(UnreadableNotebook):
        as_markdown(source)


@pytest.mark.parametrize("cell", ["3", "{}", '{"cell_type": "code", "source": ["x", 3], "outputs": [3, {"data": []}]}'])
def test_odd_cells_are_passed_over(cell: str) -> None:
    as_markdown(f'{{"cells": [{cell}]}}')


async def test_a_file_that_is_not_read_is_named_with_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text("# A\n\nText.\n")
    for name in ("b.docx", "c.pdf", "d.tex"):
        (tmp_path / name).write_bytes(b"x")
    left_out = (await formats.read_book(tmp_path)).left_out
    assert set(left_out) == {"b.docx", "c.pdf", "d.tex"}
    assert "pandoc" in left_out["b.docx"]
    assert "Ingest it by itself" in left_out["c.pdf"]
