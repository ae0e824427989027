import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from citewell.ingest.markdown import read_markdown
from citewell.ingest.splitting import Limit, split
from citewell.models import Page, Passage

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


def test_the_shared_sentence_is_the_last_one_before_and_stays_inside_the_section() -> None:
    sentence = "The pump moves eight litres of water each second now."
    found = split(
        page_of(f"{sentence} {sentence}\n\nA pump is loud.\n\n" + f"{sentence} " * 3 + "\n\n## Next\n\nText."), WORDS
    )
    assert found[1].char_start < found[0].char_end
    assert found[1].text.startswith("A pump is loud.")
    assert found[-1].text == "Text."


def test_a_line_that_announces_something_goes_with_it() -> None:
    filler = "Words " * 14
    found = texts(f"{filler}end.\n\n{filler}end.\n\nRun this command:\n\n```bash\nros2 run demo talker\n```")
    assert "Run this command:\n\n```bash" in found[-1]


def test_code_larger_than_the_limit_is_cut_at_lines_with_its_fence_repeated() -> None:
    lines = [f"value_{i} = compute({i})" for i in range(30)]
    found = texts("```python\n" + "\n".join(lines) + "\n```")
    assert len(found) > 1
    assert all(t.startswith("```python\n") and t.endswith("\n```") for t in found)
    assert [line for t in found for line in t.split("\n")[1:-1]] == lines


def test_a_table_larger_than_the_limit_is_cut_at_rows_with_its_header_repeated() -> None:
    rows = [f"| name{i} | {i} |" for i in range(30)]
    found = texts("| Name | Value |\n| --- | --- |\n" + "\n".join(rows))
    assert len(found) > 1
    assert all(t.startswith("| Name | Value |\n| --- | --- |\n| name") for t in found)
    assert [row for t in found for row in t.split("\n")[2:]] == rows


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
    page = Page("/b.pdf", "B", "First page.\n\nSecond page.", page_starts=(0, 13))
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
    _assert_slices_agree(found)
    if not any(block.startswith("```") for block in sources):
        kept = " ".join(p.text for p in found)
        body = re.sub(r"^#+ .*$", "", page.text, flags=re.MULTILINE)
        assert all(word in kept for word in body.split() if word.isalpha() and len(word) < 40)


def _assert_slices_agree(found: list[Passage]) -> None:
    """Where two passages overlap, they say the same: both are slices of one text."""
    for before, after in pairwise(found):
        shared = before.char_end - after.char_start
        if shared > 0:
            assert before.text[-shared:] == after.text[:shared]


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
