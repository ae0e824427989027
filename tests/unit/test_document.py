import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.document import (
    ASIDE,
    Admonition,
    Block,
    Caption,
    Code,
    Definition,
    Formula,
    Heading,
    ListItem,
    Paragraph,
    Part,
    Row,
    Span,
    Tab,
    Table,
    asked_parts,
    blocks_from_json,
    blocks_to_json,
    moved,
    part_of,
    prose,
    read_plain,
    sentences,
    split_sentences,
    standing_alone,
    type_name,
)
from citewell.errors import SchemaValidationError
from tests.support.blocks import check_blocks

TEXT = """# Nodes

A node is a process
that computes.

1. Build it:

   ```bash title="Once"
   colcon build

   source install/setup.bash
   ```
2. Run it.
   - In one shell
     that stays open

| name | value |
|---|---|
| a \\| b | 2 |

timeout
: Seconds to wait. Five by default.

$$
x^2
$$
"""
ANYTHING = st.text(alphabet="ab.!?#`$|-*:1 \t\n\\~…。", max_size=120)


def one_of(text: str, kind: type[Block]) -> Block:
    return next(block for block in read_plain(text) if isinstance(block, kind))


def test_plain_text_is_read_into_typed_blocks() -> None:
    found = read_plain(TEXT)
    check_blocks(TEXT, found)
    assert [type_name(block) for block in found] == [
        "heading",
        "paragraph",
        "list_item",
        "code",
        "list_item",
        "list_item",
        "table",
        "definition",
        "formula",
    ]


def test_a_block_knows_the_item_that_holds_it() -> None:
    found = read_plain(TEXT)
    assert found[3].within == (2,)
    assert found[5] == ListItem(1, "-", start=found[5].start, end=found[5].end, within=(4,))
    assert found[6].within == ()


def test_code_has_its_language_and_title() -> None:
    code = one_of(TEXT, Code)
    assert code == Code("bash", "Once", start=code.start, end=code.end, within=(2,))


def test_a_table_has_its_header_and_rows_with_their_places() -> None:
    table = one_of(TEXT, Table)
    assert isinstance(table, Table)
    assert table.header == ("name", "value")
    assert [(row.cells, TEXT[row.start : row.end]) for row in table.rows] == [(("a | b", "2"), "| a \\| b | 2 |")]


def test_the_words_of_a_block_are_without_marks() -> None:
    said = [prose(TEXT, block) for block in read_plain(TEXT)]
    assert said == [
        "Nodes",
        "A node is a process that computes.",
        "Build it:",
        "   colcon build\n\n   source install/setup.bash",
        "Run it.",
        "In one shell that stays open",
        "name, value\na | b, 2",
        "timeout: Seconds to wait. Five by default.",
        "x^2",
    ]


def test_sentences_are_places_in_the_page_whatever_the_block() -> None:
    units = [[TEXT[s.start : s.end] for s in sentences(TEXT, block)] for block in read_plain(TEXT)]
    assert units[1] == ["A node is a process\nthat computes."]
    assert units[2] == ["Build it:"]
    assert units[3] == ["colcon build", "source install/setup.bash"]
    assert units[6] == ["| a \\| b | 2 |"]
    assert units[7] == ["Seconds to wait.", "Five by default."]
    assert units[8] == ["x^2"]


def test_a_list_pasted_from_a_page_keeps_its_bullets_as_items() -> None:
    text = "• first\n• second"
    assert [prose(text, block) for block in read_plain(text)] == ["first", "second"]


def test_pieces_of_a_divided_block_stand_alone_as_markdown() -> None:
    text = "| 1 | 2 |\n\nls -l\nls -a\n```"
    table = Table(("a", "b"), (Row(("1", "2"), 0, 9),), start=0, end=9, divided=(2, 2))
    code = Code("bash", start=11, end=len(text), divided=(2, 2))
    expected = "| a | b |\n| --- | --- |\n| 1 | 2 |\n\n```bash\nls -l\nls -a\n```"
    assert standing_alone(text, [table, code]) == expected
    assert prose(text, code) == "ls -l\nls -a"


def test_a_passage_without_divided_blocks_is_its_own_markdown() -> None:
    assert standing_alone(TEXT, read_plain(TEXT)) == TEXT


@given(ANYTHING)
def test_every_text_is_covered_by_its_blocks(text: str) -> None:
    check_blocks(text, read_plain(text))


@given(st.text(max_size=200))
def test_every_text_in_any_script_is_covered_by_its_blocks(text: str) -> None:
    check_blocks(text, read_plain(text))


@given(ANYTHING)
def test_blocks_come_back_from_json_as_they_were(text: str) -> None:
    found = read_plain(text)
    assert blocks_from_json(json.loads(json.dumps(blocks_to_json(found)))) == found


def test_every_field_comes_back_from_json() -> None:
    given_blocks = (
        Heading(2, "Options", start=0, end=9, anchor="options", part="contents"),
        Definition("timeout", start=10, end=20, anchor="conf-timeout", within=(0,)),
        Table(("a",), (Row(("1",), 24, 29),), start=24, end=29, divided=(2, 3)),
        Formula(start=30, end=40),
        Admonition("tip", "Faster", start=41, end=50),
        Tab("Linux", start=51, end=60),
        Caption(start=61, end=70),
    )
    assert blocks_from_json(blocks_to_json(given_blocks)) == given_blocks


@pytest.mark.parametrize(
    "data",
    [
        None,
        [1],
        [{"type": "poem", "start": 0, "end": 1}],
        [{"type": "paragraph", "start": "0", "end": 1}],
        [{"type": "paragraph", "start": 0, "end": 1, "part": "verse"}],
        [{"type": "table", "start": 0, "end": 1, "header": [], "rows": [[1]]}],
    ],
)
def test_blocks_of_another_maker_are_refused(data: object) -> None:
    with pytest.raises(SchemaValidationError):
        blocks_from_json(data)


def test_a_moved_table_moves_its_rows() -> None:
    table = Table((), (Row(("1",), 4, 9),), start=4, end=9)
    assert moved(table, -4) == Table((), (Row(("1",), 0, 5),), start=0, end=5)


@given(ANYTHING, st.integers(0, 20), st.integers(0, 20))
def test_sentences_of_a_stretch_are_those_of_its_text_alone(text: str, before: int, after: int) -> None:
    start, end = min(before, len(text)), max(min(before, len(text)), len(text) - after)
    alone = [Span(s.start + start, s.end + start) for s in split_sentences(text[start:end])]
    assert split_sentences(text, start, end) == alone


def test_a_paragraph_is_split_into_as_many_sentences_however_long_it_is() -> None:
    assert len(split_sentences("One `a.b` is here. " * 20_000)) == 20_000
    for endless in ("." * 200_000 + "x", "` " * 100_000, "a. b. " * 50_000, "``` ` " * 50_000, ". " * 100_000):
        split_sentences(endless)


def test_headings_and_paragraphs_are_told_apart() -> None:
    text = "#hashtag is no heading\n\n## Heading ##"
    assert isinstance(read_plain(text)[0], Paragraph)
    assert read_plain(text)[1] == Heading(2, "Heading", start=24, end=37)


def test_a_mark_inside_a_quotation_ends_no_sentence_when_a_small_letter_follows() -> None:
    text = "It differs from our “Hello, world!” project. “Stop!” He left."
    assert [text[a:b] for a, b in split_sentences(text)] == [
        "It differs from our “Hello, world!” project.",
        "“Stop!”",
        "He left.",
    ]


@pytest.mark.parametrize(
    "title",
    [
        "Changelog",
        "1.4.2",
        "v2.0.0rc1",
        "Version 4.0",
        "Release 1.0a1 (Aug 2, 2011)",
        "[1.1.0] 2020-01-17",
        "0.17.0 / 2012-12-25",
        "Trio 0.7.0 (2018-09-03)",
        "What’s new in Tornado 2.4.1",
        "Changes in Version 1.3 (2009/12/16)",
        "Django 3.1.4 release notes",
    ],
)
def test_a_section_about_a_release_tells_what_was_changed(title: str) -> None:
    assert part_of(title) == "changelog"


@pytest.mark.parametrize(
    "title",
    ["Python 3.8", "2.3. Blitting", "Lesson 4.4 — The Identity Matrix", "Changes to the layout", "3.1", "HTTP/1.1"],
)
def test_a_number_in_a_heading_is_not_always_a_release(title: str) -> None:
    assert part_of(title) is None


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What is new in 2.0?", True),
        ("Since when is there a --jobs option?", True),
        ("Which version added async support?", True),
        ("How do I change the port?", False),
        ("How do I renew a certificate?", False),
    ],
)
def test_only_some_questions_are_about_changes(question: str, expected: bool) -> None:
    assert ("changelog" in asked_parts(question)) is expected


@pytest.mark.parametrize(
    ("question", "part"),
    [("Which exercises come with lesson 2?", "exercise"), ("What are the learning objectives?", "objectives")],
)
def test_what_stands_aside_is_asked_for_by_name(question: str, part: Part) -> None:
    assert asked_parts(question) == {part} <= ASIDE
