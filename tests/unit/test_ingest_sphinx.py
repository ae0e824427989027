"""reStructuredText and Sphinx: toctrees, directives, roles, objects with their anchors; counted against the fixture."""

from pathlib import Path, PurePosixPath

import pytest

from citewell.document import Definition
from citewell.ingest.formats.rst import UnreadableRst, read_rst
from citewell.ingest.formats.sphinx import NO_NAMES, read_configuration, read_names, toctrees
from tests.support import formats
from tests.support.formats import Book

BASE = "https://arm.example.com"
MOVING = f"{BASE}/guide/moving.html"


@pytest.fixture
async def book() -> Book:
    return await formats.read_book("sphinx", BASE)


def rst(tmp_path: Path, source: str) -> str:
    return read_rst(source, tmp_path / "page.rst", tmp_path, tmp_path, NO_NAMES).text.text


async def test_pages_come_in_the_order_of_the_toctrees(book: Book) -> None:
    assert [(page.url.removeprefix(BASE), page.title, page.module) for page in book.pages.values()] == [
        ("/", "The arm", ""),
        ("/guide/moving.html", "Moving a joint", "Guide"),
        ("/settings.html", "Settings", "Guide"),
        ("/myst.html", "In Markdown", "In Markdown"),
        ("/alone.html", "Alone", ""),
    ]


async def test_what_the_configuration_excludes_is_named_and_the_configuration_is_never_run(book: Book) -> None:
    assert book.left_out == {
        "docs/old.rst": "conf.py leaves it out (exclude_patterns).",
        "docs/_templates/class.rst": "A name that begins with _ is no page, nor is a test.",
    }


async def test_everything_that_stands_on_a_page_comes_in_once(book: Book) -> None:
    assert book.kinds(MOVING) == {
        "heading": 2,
        "paragraph": 7,
        "list_item": 4,
        "caption": 3,
        "code": 2,
        "admonition": 2,
        "table": 1,
        "row": 2,
        "formula": 1,
        "definition": 1,
        "tab": 2,
    }


async def test_references_show_the_words_that_the_site_shows(book: Book) -> None:
    assert "See Limits of speed, Settings, `turn()`, `--fast` and `Joint`." in book.pages[MOVING].text


async def test_objects_options_and_settings_are_places_of_their_own(book: Book) -> None:
    page = book.pages[f"{BASE}/settings.html"]
    assert [(block.anchor, block.term) for block in page.blocks if isinstance(block, Definition)] == [
        ("confval-arm_speed", "arm_speed"),
        ("cmdoption-armctl-f", "-f, --fast"),
        ("arm.Joint", "Joint(name, limit=3)"),
        ("arm.Joint.turn", "turn(angle)"),
        ("arm.release", "release(slowly: bool=True) -> None"),
        ("term-Gripper", "Gripper, Hand"),
    ]
    assert book.texts(page.url, "list_item") == [
        "Type: int",
        "Default: `3`",
        "`name`: What it is called.",
        "`slowly`: Take a second.",
    ]
    assert "Deprecated since version 2.0: Use `move`." in page.text


async def test_what_is_not_known_is_said_and_what_is_outside_is_never_read(book: Book) -> None:
    said = {problem.url.removeprefix(BASE): problem.error_message for problem in book.problems}
    assert set(said) == {"/guide/moving.html", "/settings.html"}
    assert "conftest.py" in said["/guide/moving.html"]
    assert "other-extension" in said["/guide/moving.html"]
    assert "arm.Missing" in said["/settings.html"]
    assert "Its text stays." in book.pages[MOVING].text


async def test_markdown_pages_of_sphinx_have_their_directives_and_roles(book: Book) -> None:
    url = f"{BASE}/myst.html"
    assert book.kinds(url) == {"heading": 2, "admonition": 2, "paragraph": 2, "code": 1}
    text = book.pages[url].text
    assert "Mind the Moving a joint and `arm.release`." in text
    assert "{" not in text


@pytest.mark.parametrize(
    "source",
    [
        ".. include:: /etc/passwd\n",
        ".. raw:: html\n   :file: /etc/passwd\n",
        ".. csv-table::\n   :file: /etc/passwd\n",
        ".. literalinclude:: ../../../../../../etc/passwd\n",
    ],
)
def test_no_file_outside_the_book_is_read(tmp_path: Path, source: str) -> None:
    assert "root:" not in rst(tmp_path, source)


def test_a_tilde_shortens_names_and_begins_paths(tmp_path: Path) -> None:
    source = "Call :func:`~arm.joints.move`, :meth:`~@Arm.stop` or edit :file:`~/.config/arm.toml`.\n"
    assert rst(tmp_path, source) == "Call `move()`, `stop()` or edit `~/.config/arm.toml`."


def test_a_class_is_described_or_gives_its_content_a_style(tmp_path: Path) -> None:
    described = ".. class:: Pool(size)\n\n   Keeps arms.\n\n   .. method:: take()\n\n      Gives one.\n"
    assert rst(tmp_path, described) == "`Pool(size)`\n: Keeps arms.\n\n`take()`\n: Gives one."
    styled = ".. class:: small\n\n   In small print.\n\n.. rst-class:: wide\n\nBelow.\n"
    assert rst(tmp_path, styled) == "In small print.\n\nBelow."


def test_a_reference_to_nothing_leaves_its_words(tmp_path: Path) -> None:
    assert (
        rst(tmp_path, "Sets the `isolation level`_ and `more`__ here.\n") == "Sets the isolation level and more here."
    )


def test_a_cell_has_its_words_and_no_remark_of_the_parser(tmp_path: Path) -> None:
    rows = ["URL", "View"], ["/", "``wiki``"], ["/a", "* ``one``\n       * two"]
    source = ".. list-table::\n   :header-rows: 1\n\n"
    source += "".join(f"   * - {url}\n     - {view}\n" for url, view in rows)
    assert rst(tmp_path, source) == "| URL | View |\n| --- | --- |\n| / | `wiki` |\n| /a | `one` two |"


def test_a_file_that_includes_itself_ends(tmp_path: Path) -> None:
    (tmp_path / "page.rst").write_text("again\n\n.. include:: page.rst\n")
    assert rst(tmp_path, "again\n\n.. include:: page.rst\n").startswith("again")


def test_a_page_nested_beyond_reason_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UnreadableRst, match="docutils"):
        rst(tmp_path, "".join("  " * i + "* a\n\n" for i in range(400)))


def test_a_toctree_in_odd_forms() -> None:
    source = ".. toctree::\n   :glob:\n\n   self\n   a/*\n   Title </b.rst>\n   https://example.com\n\nText\n"
    assert list(toctrees(source, "index", ["a/one", "a/two", "b"])) == [("", "a/one"), ("", "a/two"), ("", "b")]


def test_labels_before_headings_with_a_line_above() -> None:
    names = read_names([(PurePosixPath("a.rst"), ".. _x y:\n\n=====\nTitle\n=====\n")])
    assert names.labels == {"x y": "Title"}


def test_a_configuration_with_computed_values_gives_what_is_plain() -> None:
    read = read_configuration("import os\nsource_suffix = {'.txt': 'restructuredtext'}\nlanguage = os.getcwd()\n")
    assert read.suffixes == (".txt", ".rst", ".md", ".ipynb")
    assert not read.language
