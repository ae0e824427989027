import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.text import blocks, content_stems, sentences, stem


@pytest.mark.parametrize(
    "text",
    [
        "It uses DDS (v. 1.4) by default.",
        "The U.S. Army bought e.g. two of them.",
        "J. K. Rowling wrote it.",
        "Use Fig. 3 etc. and go on.",
        "Run `ros2 run. Foo` now.",
        "It moves at 3.5 m/s, about 12.6 km/h.",
        "Version 1.2.3 reads config.yaml first.",
        "It stops... then it goes.",
    ],
)
def test_a_stop_inside_a_sentence_does_not_end_it(text: str) -> None:
    assert [s.text for s in sentences(text)] == [text]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("One. Two! Three?", ["One.", "Two!", "Three?"]),
        ("He lives in the U.S. The end.", ["He lives in the U.S.", "The end."]),
        ("Yes.[1][2] Next one [3].", ["Yes.[1][2]", "Next one [3]."]),
        ("See a.py. `colcon build` compiles.", ["See a.py.", "`colcon build` compiles."]),
        ("ロボットは動く。次の文。", ["ロボットは動く。", "次の文。"]),
        ('He said "stop." Then he left.', ['He said "stop."', "Then he left."]),
    ],
)
def test_sentences_end_where_a_reader_would_say(text: str, expected: list[str]) -> None:
    assert [s.text for s in sentences(text)] == expected


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200), st.integers(0, 50))
def test_offsets_are_exact_and_nothing_but_space_is_lost(text: str, offset: int) -> None:
    found = sentences(text, offset)
    assert all(text[s.start - offset : s.end - offset] == s.text for s in found)
    assert "".join("".join(s.text.split()) for s in found) == "".join(text.split())


MARKDOWN = """# Nodes

A node is a process
that computes.

1. Build it:

```bash
colcon build

source install/setup.bash
```

| a | b |
|---|---|
| 1 | 2 |
- item
  goes on
  - nested
"""


def test_blocks_keep_code_tables_and_items_whole() -> None:
    found = [(b.kind, MARKDOWN[b.start : b.end]) for b in blocks(MARKDOWN)]
    assert [kind for kind, _ in found] == [
        "heading",
        "paragraph",
        "list_item",
        "code",
        "table",
        "list_item",
        "list_item",
    ]
    assert found[3][1] == "```bash\ncolcon build\n\nsource install/setup.bash\n```"
    assert found[5][1] == "- item\n  goes on"


@given(st.text(alphabet="#`|-* \nab1.", max_size=120))
def test_blocks_cover_every_character_that_is_not_space(text: str) -> None:
    covered = "".join(text[b.start : b.end] for b in blocks(text))
    assert "".join(covered.split()) == "".join(text.split())


def test_forms_of_a_word_share_a_stem_and_identifiers_stay_whole() -> None:
    assert stem("navigation") == stem("navigations")
    assert content_stems("The nav2_bringup package launches `rclpy.init`.") == [
        "nav2_bringup",
        "packag",
        "launch",
        "rclpy.init",
    ]
