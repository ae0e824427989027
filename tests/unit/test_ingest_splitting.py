import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.document import Code, Heading, ListItem, Table, prose, read_plain
from citewell.ingest.markdown import read_markdown
from citewell.ingest.pagetext import PageText
from citewell.ingest.splitting import Limit, split
from citewell.values import Page, Passage
from tests.support.blocks import check_blocks

WORDS = Limit(lambda text: len(re.findall(r"\w+|[^\w\s]", text)), 40)


def page_of(source: str, title: str = "Page") -> Page:
    read = read_markdown(source, "docusaurus", lambda _: None).text
    return Page("/page", title, read.text, tuple(read.blocks))


def texts(source: str, limit: Limit = WORDS, title: str = "Page") -> list[str]:
    return [p.text for p in split(page_of(source, title), limit)]


def test_a_section_that_fits_is_one_passage_under_its_headings() -> None:
    found = split(
        page_of("# Page\n\nIntro.\n\n## Use\n\nOne.\n\nTwo.\n\n### Deep\n\nThree.\n\n## Empty\n\n## End\n\nFour."),
        WORDS,
    )
    assert [(p.heading_path, p.anchor, p.text) for p in found] == [
        ((), "", "Intro."),
        (("Use",), "use", "One.\n\nTwo."),
        (("Use", "Deep"), "deep", "Three."),
        (("End",), "end", "Four."),
    ]
    assert [p.chunk_index for p in found] == [0, 1, 2, 3]


def test_a_heading_of_level_one_that_is_not_the_title_is_in_the_path() -> None:
    assert [p.heading_path for p in split(page_of("# Other\n\nText.", "Page"), WORDS)] == [("Other",)]


def test_a_page_of_headings_alone_still_has_a_passage() -> None:
    assert texts("# Page\n\n## Coming soon") == ["# Page\n\n## Coming soon"]


def test_a_page_that_is_too_long_is_cut_at_paragraphs_of_about_equal_size() -> None:
    paragraph = "Five words stand in here."
    found = texts("\n\n".join([paragraph] * 9))
    assert [t.count(paragraph) for t in found] == [5, 4]


def test_a_line_that_announces_something_goes_with_it() -> None:
    filler = "Words " * 14
    found = texts(f"{filler}end.\n\n{filler}end.\n\nRun this command:\n\n```bash\nros2 run demo talker\n```")
    assert "Run this command:\n\n```bash" in found[-1]


def test_code_larger_than_the_limit_is_divided_between_lines() -> None:
    lines = [f"value_{i} = compute({i})" for i in range(30)]
    found = split(page_of("```python\n" + "\n".join(lines) + "\n```"), WORDS)
    assert len(found) > 1
    pieces = [(p.text, block) for p in found for block in p.blocks]
    assert [b.divided for _, b in pieces] == [(i, len(found)) for i in range(1, len(found) + 1)]
    assert all(isinstance(b, Code) and b.language == "python" for _, b in pieces)
    assert [line for text, b in pieces for line in prose(text, b).split("\n")] == lines


def test_a_table_larger_than_the_limit_is_divided_between_rows_and_each_piece_knows_its_header() -> None:
    rows = [(f"name{i}", str(i)) for i in range(30)]
    source = "| Name | Value |\n| --- | --- |\n" + "\n".join(f"| {a} | {b} |" for a, b in rows)
    found = split(page_of(source), WORDS)
    assert len(found) > 1
    tables = [block for p in found for block in p.blocks if isinstance(block, Table)]
    assert [table.header for table in tables] == [("Name", "Value")] * len(found)
    assert [row.cells for table in tables for row in table.rows] == rows
    assert all("| Name | Value |" in p.embedded_text for p in found)
    assert all(WORDS.count(p.embedded_text) <= WORDS.tokens for p in found)


def test_a_passage_has_its_blocks_with_places_in_its_own_text() -> None:
    page = page_of("## A\n\nOne.\n\n| a |\n|---|\n| 1 |\n\n## B\n\nTwo.")
    first, second = split(page, WORDS)
    assert [first.text[b.start : b.end] for b in first.blocks] == ["One.", "| a |\n| --- |\n| 1 |"]
    assert [second.text[b.start : b.end] for b in second.blocks] == ["Two."]
    assert (first.first_block, second.first_block) == (1, 4)


def test_a_definition_with_an_anchor_is_a_place_of_its_own_with_all_of_its_text() -> None:
    text = PageText()
    text.heading(2, "Options", "options")
    for name in ("timeout", "retries(count)"):
        depth = text.enter()
        text.define([name], "What it means.", f"conf-{name[:7]}")
        text.prose("More of it.")
        text.leave(depth)
    text.prose("After all options.")
    found = split(Page("/page", "Page", text.text, tuple(text.blocks)), WORDS)
    assert [(p.heading_path, p.anchor, p.text) for p in found] == [
        (("Options", "timeout"), "conf-timeout", "timeout\n: What it means.\n\nMore of it."),
        (("Options", "retries"), "conf-retries", "retries(count)\n: What it means.\n\nMore of it."),
        (("Options",), "options", "After all options."),
    ]


def test_a_step_keeps_its_code_where_it_can() -> None:
    step = "{}. Do this thing here now.\n\n   ```sh\n   run the thing with words\n   ```\n\n"
    found = split(page_of("".join(step.format(i) for i in range(1, 8))), WORDS)
    assert len(found) > 1
    assert all(isinstance(p.blocks[0], ListItem) for p in found)


def test_a_code_block_that_fits_is_never_cut() -> None:
    code = "```text\n" + "\n".join(f"line {i}" for i in range(12)) + "\n```"
    found = texts("Some words before it. " * 6 + f"\n\n{code}\n\n" + "Some words after it. " * 6)
    assert any(code in t for t in found)


def test_the_same_text_twice_on_a_page_has_two_ids_and_they_never_change() -> None:
    source = "## A\n\nSame.\n\n## A\n\nSame."
    first, second = split(page_of(source), WORDS)
    assert first.content_hash == second.content_hash
    assert first.id != second.id
    assert [p.id for p in split(page_of(source), WORDS)] == [first.id, second.id]
    # Fixed for all time: an id that changed would make every index embed and write everything again.
    assert first.id == "5c318cd9-3666-5d18-a480-679b410f23e5"


def test_a_change_of_case_changes_the_hash() -> None:
    (lower,), (upper,) = split(page_of("use ros."), WORDS), split(page_of("Use ROS."), WORDS)
    assert lower.content_hash != upper.content_hash


def test_passages_know_their_printed_page() -> None:
    text = "First page.\n\nSecond page."
    page = Page("/b.pdf", "B", text, read_plain(text), page_starts=(0, 13))
    limit = Limit(lambda text: len(text.split()), 4)
    assert [(p.text, p.page_number) for p in split(page, limit)] == [("First page.", 1), ("Second page.", 2)]


def test_a_long_heading_path_leaves_room_for_the_text() -> None:
    deep = "\n\n".join(f"{'#' * level} Heading {'word ' * 12}" for level in range(2, 7))
    found = split(page_of(f"{deep}\n\n{'Body text. ' * 20}"), WORDS)
    assert all(WORDS.count(p.embedded_text) <= WORDS.tokens for p in found)


BLOCKS = st.sampled_from(
    [
        "A short paragraph. With two sentences.",
        "word " * 70,
        "x" * 300,
        "文" * 90 + "。" + "字" * 30,
        "- item one\n- item two\n  - nested item",
        "1. step\n\n   ```sh\n   run it\n   ```\n\n2. next",
        "```py\n" + "call(a, b)\n" * 40 + "```",
        "```\nunclosed " + "y" * 200,
        "| a | b |\n|---|---|\n" + "| cell one | cell two |\n" * 20,
        "## Heading",
        "### Heading",
        "$$\na = b\n$$",
        "Dr. Smith said: see below:",
        "👩‍👩‍👧 é́ combining",
    ]
)


@settings(deadline=None)  # a busy machine is no failure
@given(st.lists(BLOCKS, min_size=1, max_size=8), st.integers(12, 80))
def test_passages_are_exact_slices_within_the_limit_that_lose_nothing(sources: list[str], tokens: int) -> None:
    limit = Limit(WORDS.count, tokens)
    page = page_of("\n\n".join(sources))
    found = split(page, limit)
    assert found
    assert len({p.id for p in found}) == len(found)
    assert [p.chunk_index for p in found] == list(range(len(found)))
    assert all(p.text.strip() == p.text != "" or p.text.startswith(" ") for p in found)
    assert all(limit.count(p.embedded_text) <= max(limit.tokens, limit.count(p.page_title) + 8) for p in found)
    starts = [p.char_start for p in found]
    assert starts == sorted(starts)
    assert all(p.char_end - p.char_start == len(p.text) for p in found)
    for p in found:
        assert page.text[p.char_start : p.char_end] == p.text
        check_blocks(p.text, [replace(block, within=()) for block in p.blocks])
    _assert_blocks_are_those_of_the_page(page, found)
    if not any(block.startswith("```") for block in sources):
        kept = " ".join(p.text for p in found)
        body = re.sub(r"^#+ .*$", "", page.text, flags=re.MULTILINE)
        assert all(word in kept for word in body.split() if word.isalpha() and len(word) < 40)


def _assert_blocks_are_those_of_the_page(page: Page, found: list[Passage]) -> None:
    """Each block but headings in one passage whole, or in several that follow each other as pieces."""
    seen: dict[int, list[tuple[int, int] | None]] = {}
    for p in found:
        for number, block in enumerate(p.blocks, p.first_block):
            assert type(page.blocks[number]) is type(block)
            seen.setdefault(number, []).append(block.divided)
    body = [i for i, block in enumerate(page.blocks) if not isinstance(block, Heading)]
    assert list(seen) == (body or list(range(len(page.blocks))))
    for pieces in seen.values():
        assert pieces == [None] or pieces == [(i, len(pieces)) for i in range(1, len(pieces) + 1)]


@pytest.mark.parametrize("tokens", [16, 64, 256])
def test_a_tokenizer_whose_parts_do_not_add_up_is_still_within_the_limit(tokens: int) -> None:
    limit = Limit(lambda text: len(text) // 4 + 3 * text.count("\n\n") + 1, tokens)
    found = split(page_of("\n\n".join(f"Sentence number {i} is here." for i in range(60))), limit)
    assert all(limit.count(p.embedded_text) <= tokens for p in found)


def test_a_trail_of_links_and_a_picture_that_repeats_the_title_are_no_passages() -> None:
    source = (
        "Part 2 — Vectors · Unit 1 — Basics · Lesson 3 — Unit vectors?\n\n## Why\n\nA unit vector has the length 1.\n\n"
        "## Picture\n\n![Unit vectors](a.svg)\n\n## Formula\n\na · b"
    )
    assert texts(source, title="Lesson 3 — Unit vectors") == ["A unit vector has the length 1.", "a · b"]


def test_a_page_that_only_repeats_its_title_has_one_passage() -> None:
    assert texts("![Unit vectors](a.svg)", title="Unit vectors") == ["Unit vectors"]
