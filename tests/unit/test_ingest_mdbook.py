"""mdBook: the chapters of the summary, includes, listings; what stands in the fixture is counted in what came in."""

from pathlib import Path

import pytest

from citewell.document import Code, Heading
from citewell.ingest.formats.mdbook import MdBookSettings, expanded, read_book, read_summary
from tests.support import formats
from tests.support.formats import Book

BASE = "https://arm.example.com/book"


@pytest.fixture
async def book() -> Book:
    return await formats.read_book("mdbook", BASE)


async def test_pages_have_the_titles_the_order_and_the_parts_of_the_summary(book: Book) -> None:
    assert [(page.url.removeprefix(BASE), page.title, page.module) for page in book.pages.values()] == [
        ("/index.html", "Welcome", ""),
        ("/arm/joints.html", "Joints", "The arm"),
        ("/arm/servo.html", "The Servo type", "The arm"),
        ("/batteries.html", "Batteries", "Power"),
    ]


async def test_what_the_summary_does_not_list_is_no_page_and_is_named(book: Book) -> None:
    assert book.left_out == {
        "src/notes.md": "SUMMARY.md does not list it.",
        "listings/care.md": "It is not in the folder of the book's pages.",
    }


async def test_without_a_base_url_pages_have_the_path_of_the_site() -> None:
    assert "/arm-book/batteries.html" in (await formats.read_book("mdbook")).pages


async def test_everything_that_stands_in_a_chapter_comes_in_once(book: Book) -> None:
    assert book.kinds(f"{BASE}/arm/joints.html") == {
        "heading": 2,
        "paragraph": 4,
        "table": 1,
        "row": 2,
        "list_item": 4,
        "code": 2,
        "caption": 2,
        "admonition": 1,
    }


async def test_an_include_brings_its_anchor_its_lines_or_the_whole_file(book: Book) -> None:
    release, listing = book.texts(f"{BASE}/arm/joints.html", "code")
    assert release == "fn release(joint: &mut Joint) {\n    joint.brake(false);\n}"
    assert "joint.brake(false);" in listing
    assert "fn release" not in listing
    assert "Oil the joints every three months." in book.pages[f"{BASE}/arm/joints.html"].text


async def test_code_in_a_step_stays_in_its_step(book: Book) -> None:
    page = book.pages[f"{BASE}/arm/joints.html"]
    code = next(block for block in page.blocks if isinstance(block, Code))
    assert [page.text[page.blocks[i].start : page.blocks[i].end] for i in code.within] == ["1. Release the brake:"]


async def test_a_listing_has_its_file_as_title_and_its_caption_below(book: Book) -> None:
    page = book.pages[f"{BASE}/arm/joints.html"]
    assert [b.caption for b in page.blocks if isinstance(b, Code)] == ["", "src/main.rs"]
    captions = ["Listing 1-1: Moving the `Joint<Elbow>`", "Listing 1-2: What is printed"]
    assert book.texts(page.url, "caption") == captions


async def test_what_cannot_be_included_is_named_and_leaves_nothing_behind(book: Book) -> None:
    said = {problem.url.removeprefix(BASE): problem.error_message for problem in book.problems}
    assert set(said) == {"/arm/joints.html", "/arm/servo.html"}
    assert "gone.txt" in said["/arm/joints.html"]
    assert "conftest.py" in said["/arm/servo.html"], "a file outside the book is never read"
    assert "{{#quiz}}" in said["/arm/servo.html"]
    assert all("{{" not in page.text for page in book.pages.values() if "joints" not in page.url)
    joints = book.pages[f"{BASE}/arm/joints.html"].text
    assert joints.count("{{") == 1, "an escaped include is what the author wants to show"
    assert "```console" not in joints


async def test_hidden_lines_of_rust_stay_hidden_and_comments_of_others_stay(book: Book) -> None:
    rust, python = book.texts(f"{BASE}/arm/servo.html", "code")
    assert rust == "#[derive(Debug)]\nstruct Angle(f32);"
    assert python.startswith("# A comment stays.")


async def test_headings_have_the_anchors_of_the_site(book: Book) -> None:
    headings = [b for b in book.pages[f"{BASE}/arm/joints.html"].blocks if isinstance(b, Heading)]
    assert [heading.anchor for heading in headings] == ["joints", "moving-a-joint"]


def test_a_file_that_includes_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "loop.md").write_text("a {{#include loop.md}} {{#include loop.md}}")
    page = expanded("{{#include loop.md}}", tmp_path / "page.md", tmp_path)
    assert "{{" not in page.text
    assert "loop.md" in page.problem


@pytest.mark.parametrize(
    ("wanted", "lines"),
    [(":2", "two"), (":2:3", "two\nthree"), ("::2", "one\ntwo"), (":3:", "three\nfour"), (":9", "")],
)
def test_line_ranges(tmp_path: Path, wanted: str, lines: str) -> None:
    (tmp_path / "a.txt").write_text("one\ntwo\nthree\nfour\n")
    assert expanded(f"{{{{#include a.txt{wanted}}}}}", tmp_path / "page.md", tmp_path).text == lines


def test_a_missing_anchor_is_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    assert "a.txt:here" in expanded("{{#include a.txt:here}}", tmp_path / "page.md", tmp_path).problem


def test_a_summary_with_odd_marks() -> None:
    contents = read_summary("* [A \\[draft\\]](<a b.md>)\n\t* [B](./x/b.md#part)\n* [Out](https://example.com)\n")
    assert [(e.path.as_posix(), e.title, e.module) for e in contents.entries] == [
        ("a b.md", "A [draft]", "A [draft]"),
        ("x/b.md", "B", "A [draft]"),
    ]


def test_a_configuration_that_is_no_toml_gives_the_defaults() -> None:
    assert read_book("[book\nsrc=").source == "src"


def test_what_stands_behind_the_parts_is_in_none_of_them() -> None:
    contents = read_summary("# Summary\n\n[Preface](p.md)\n\n# Part I\n\n- [A](a.md)\n\n---\n\n[End](end.md)\n")
    assert [entry.module for entry in contents.entries] == ["", "Part I", ""]


def test_a_key_without_an_end_is_no_toml_and_costs_nothing() -> None:
    assert read_book("a. " * 30_000) == MdBookSettings()
    assert read_book("[" + "a." * 30_000 + "a]\n") == MdBookSettings()
    assert read_book('[book]\nsrc = "text"\n').source == "text"
