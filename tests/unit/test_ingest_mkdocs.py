"""MkDocs: nav, theme, snippets, boxes, tabs and autodoc; what stands in the fixture is counted in what came in."""

from pathlib import Path

import pytest

from citewell.document import Code, Heading, Table
from citewell.ingest.formats.docstrings import PythonFiles, as_markdown
from citewell.ingest.formats.mkdocs import MkDocsSettings, expanded, read_site
from citewell.ingest.markdown import read_markdown
from tests.support import formats
from tests.support.formats import Book

BASE = "https://greenhouse.example.com/manual"
WATERING = f"{BASE}/guide/watering/"


@pytest.fixture
async def book() -> Book:
    return await formats.read_book("mkdocs", BASE)


async def test_pages_have_the_titles_and_the_order_of_the_nav_then_come_the_others(book: Book) -> None:
    assert [(page.url.removeprefix(BASE), page.title, page.module) for page in book.pages.values()] == [
        ("/", "Home", ""),
        ("/guide/watering/", "Watering plants", "Guide"),
        ("/reference/", "Reference", ""),
        ("/alone/", "Alone", ""),
    ]


async def test_theme_files_excluded_files_and_lost_ones_are_named(book: Book) -> None:
    assert book.left_out == {
        "docs/overrides/main.html": "It belongs to the theme (custom_dir).",
        "docs/drafts/later.md": "mkdocs.yml leaves it out (exclude_docs).",
        "guide/gone.md": "mkdocs.yml lists it, but there is no such file.",
        "snippets/safety.md": "It is not in the folder of the book's pages.",
    }


async def test_everything_that_stands_on_a_page_comes_in_once(book: Book) -> None:
    assert book.kinds(WATERING) == {
        "heading": 1,
        "admonition": 1,
        "paragraph": 6,
        "list_item": 2,
        "tab": 2,
        "code": 2,
        "table": 1,
        "row": 2,
    }


async def test_snippets_are_put_in_by_section_and_by_line_and_never_from_outside(book: Book) -> None:
    text = book.pages[WATERING].text
    assert text.count("Wear gloves") == 2
    assert '"""Valves."""\nLIMIT = 4\n```' in text
    assert '--8<-- "shown.md"' in text, "an escaped snippet is what the author wants to show"
    assert text.count("8<") == 1
    said = next(problem for problem in book.problems if problem.url == WATERING)
    assert "conftest.py" in said.error_message


async def test_autodoc_shows_the_docstrings_of_files_that_are_never_run(book: Book) -> None:
    page = book.pages[f"{BASE}/reference/"]
    anchors = [block.anchor for block in page.blocks if isinstance(block, Heading)]
    assert anchors == ["reference", "greenhouse.Valve", "greenhouse.Valve.open", "greenhouse.Valve.pressure"]
    assert book.texts(page.url, "list_item") == [
        "`name`: What it is called.",
        "`size` (int): In millimetres, inside.",
        "`slowly` (bool): Take ten seconds.",
        "`bool`: Whether water flows.",
        "`litres`: How much.",
        "`returns`: Nothing.",
    ]
    assert "`Valve(name: str, size: int=12)`" in page.text
    assert "The pressure in bar." in page.text
    assert "Close it." not in page.text, "only the members that the page asks for"


async def test_autodoc_without_its_python_files_is_said(book: Book) -> None:
    said = [problem.error_message for problem in book.problems if problem.url.endswith("/reference/")]
    assert said == ["Poorer than the site: the Python files that document elsewhere.Thing are not in the folder."]
    assert ":::" not in book.pages[f"{BASE}/reference/"].text


def test_python_that_cannot_be_parsed_is_as_none(tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text("def (:")
    assert PythonFiles(tmp_path, [tmp_path]).find("broken.thing") is None


def test_modules_that_import_each_other_end(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("from b import *\n")
    (tmp_path / "b.py").write_text("from a import *\n")
    assert PythonFiles(tmp_path, [tmp_path]).find("a.thing") is None


def test_an_example_in_a_docstring_stays_code() -> None:
    assert as_markdown("Run it.\n\nExample:\n\n    run()") == "Run it.\n\nExample:\n\n    run()"


@pytest.mark.parametrize(
    "config", ["nav: 3\ntheme: [", "theme: material\nnav:\n - 3\n", "markdown_extensions: x\nplugins: {a: b}"]
)
def test_an_odd_configuration_gives_the_defaults(config: str) -> None:
    assert read_site(config).docs_dir == "docs"


def test_includes_of_other_extensions(tmp_path: Path) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "part.md").write_text("a part\n")
    (tmp_path / "code.py").write_text("one\ntwo\nthree\n")
    source = '{!part.md!}\n\n{% include-markdown "part.md" %}\n\n{* code.py ln[1,3:] hl[1] *}\n'
    page = expanded(source, tmp_path / "docs" / "page.md", MkDocsSettings(), tmp_path)
    assert page.text == "a part\n\na part\n\n````python\none\nthree\n````\n"
    assert not page.problem


def test_a_bar_in_code_divides_no_cells() -> None:
    read = read_markdown("| A | B |\n|---|---|\n| `a|b` | 2 |\n", "mkdocs", lambda _: None)
    assert [row.cells for block in read.text.blocks if isinstance(block, Table) for row in block.rows] == [
        ("`a|b`", "2")
    ]


def test_attributes_of_code_name_its_language_and_title() -> None:
    read = read_markdown('``` { .py title="a.py" hl_lines="1" }\n1\n```\n', "mkdocs", lambda _: None)
    assert [(b.language, b.caption) for b in read.text.blocks if isinstance(b, Code)] == [("py", "a.py")]
