from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from citewell.answering.citations import Sources
from citewell.answering.evidence import Evidence
from citewell.contracts import retrieved_content
from citewell.values import Passage, ScoredPassage


def found(name: str, score: float = 0.8) -> ScoredPassage:
    text = f"About {name}."
    passage = Passage(name, f"/{name}", name, text, 0, 0, len(text), heading_path=("Top", name), anchor=name)
    return ScoredPassage(passage, score, score, 1.0, score)


def test_a_passage_found_twice_keeps_its_number() -> None:
    evidence = Evidence()
    evidence.add([found("a"), found("b")])
    again = evidence.add([found("b"), found("c")])
    assert [number for number, _ in again] == [2, 3]


def test_citations_come_best_first_with_the_words_that_support() -> None:
    evidence = Evidence()
    evidence.add([found("a", 0.5), found("b", 0.9)])
    sources = Sources(evidence)
    assert sources.renumbered("One. [1] Two. [2]") == "One. [1] Two. [2]"
    cited = sources.citations({1: ((0, 5),), 2: ((6, 7),)})
    assert [(c.number, c.quote) for c in cited] == [(2, "b"), (1, "About")]


def test_sources_are_numbered_in_the_order_of_use_and_equal_places_are_one() -> None:
    evidence = Evidence()
    first, second = found("a"), found("b")
    beside = replace(second, passage=replace(second.passage, id="b2", text="More of b."))
    evidence.add([first, second, beside])
    sources = Sources(evidence)
    assert sources.renumbered("From b. [2][3] From a. [1] Again. [3]\n") == "From b. [1] From a. [2] Again. [1]\n"
    cited = sources.citations({1: ((0, 8),), 2: ((0, 8),), 3: ((0, 4),)})
    assert [(c.number, c.quote) for c in cited] == [(1, "About b.\n\nMore"), (2, "About a.")]


def test_what_stands_in_code_is_no_marker() -> None:
    evidence = Evidence()
    evidence.add([found("a"), found("b")])
    sources = Sources(evidence)
    assert sources.renumbered("Use `x[1]`. [2]\n```python\n") == "Use `x[1]`. [1]\n```python\n"
    assert sources.renumbered("y = x[2]\n```\nSo. [1]\n") == "y = x[2]\n```\nSo. [2]\n"
    assert sources.renumbered("A footnote [77].") == "A footnote [77]."


@given(st.text(min_size=1, max_size=80), st.data())
def test_a_place_in_a_selection_is_exact_in_code_points(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    evidence = Evidence()
    evidence.add_selection(text)
    [citation] = Sources(evidence).citations({1: ((start, end),)})
    assert citation.span is not None
    assert text[citation.span.char_start : citation.span.char_end] == citation.quote
    lines = text.split("\n")
    assert 1 <= citation.span.line_start <= citation.span.line_end <= len(lines)
    assert citation.span.line_start == text[:start].count("\n") + 1


def test_the_tool_result_is_ts_schema_with_numbers() -> None:
    evidence = Evidence()
    numbered = evidence.add([found("a")])
    result = retrieved_content(numbered, conflicting=False)
    [chunk] = result["chunks"]
    assert chunk["number"] == 1
    assert chunk["metadata"] == {
        "source_url": "/a#a",
        "module": "",
        "chapter": "a",
        "section": "Top > a",
        "chunk_index": 0,
    }
    assert (result["empty_retrieval"], result["conflicting_info"]) == (False, False)
