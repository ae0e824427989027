"""Word pieces against the reference implementation, and their places in the text."""

from importlib import resources
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tokenizers import Tokenizer

from citewell.wordpieces import WordPieces

VOCABULARY = (resources.files("citewell") / "assets" / "embedder" / "tokenizer.json").read_text("utf-8")
PIECES = WordPieces.of_json(VOCABULARY)
REFERENCE = Tokenizer.from_str(VOCABULARY)
BOOK = Path(__file__).parents[2] / "examples" / "book" / "docs"
# Marks that came into Unicode lately are classed by one side and not yet by the other.
KNOWN = st.characters(max_codepoint=0x2FFF, exclude_categories=("Cs", "Cn", "Co", "Mn", "Po", "Cf"))


@given(st.text(st.one_of(KNOWN, st.sampled_from("aZ09 .-_/'’é\u0301\u00a0\u200b\u0000\ufffd\x0b北京ßİΣ한🤖"))))
def test_any_text_gives_the_tokens_and_places_of_the_reference(text: str) -> None:
    expected = REFERENCE.encode(text, add_special_tokens=False)
    found = PIECES.pieces(text)
    assert (found.ids, found.spans) == (expected.ids, expected.offsets)
    assert PIECES.ids(text) == found.ids
    assert PIECES.count(text) == len(found.ids)


def test_a_whole_book_gives_the_tokens_of_the_reference() -> None:
    for page in sorted(BOOK.rglob("*.md*")):
        text = page.read_text("utf-8")
        assert PIECES.ids(text) == REFERENCE.encode(text, add_special_tokens=False).ids, page.name


@pytest.mark.parametrize("text", ["[SEP]", "a [CLS] b", "[MASK][PAD]"])
def test_a_text_cannot_bring_tokens_that_frame_and_part_texts(text: str) -> None:
    assert not {0, 101, 102, 103} & set(PIECES.ids(text))


def test_a_lone_surrogate_is_nothing_and_a_very_long_word_is_unknown_as_a_whole() -> None:
    assert PIECES.pieces("a \ud800 b").spans == [(0, 1), (4, 5)]
    assert PIECES.pieces("x" * 101).spans == [(0, 101)]
