import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.document import split_sentences
from citewell.text import content_stems, stem


def said(text: str) -> list[str]:
    return [text[start:end] for start, end in split_sentences(text)]


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
    assert said(text) == [text]


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
    assert said(text) == expected


@given(st.text(alphabet=st.characters(codec="utf-8"), max_size=200))
def test_nothing_but_space_is_between_sentences(text: str) -> None:
    assert "".join("".join(sentence.split()) for sentence in said(text)) == "".join(text.split())


def test_forms_of_a_word_share_a_stem_and_identifiers_stay_whole() -> None:
    assert stem("navigation") == stem("navigations")
    assert content_stems("The nav2_bringup package launches `rclpy.init`.") == [
        "nav2_bringup",
        "packag",
        "launch",
        "rclpy.init",
    ]
