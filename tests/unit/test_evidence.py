from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from citewell.contracts import retrieved_content
from citewell.evidence import Evidence
from citewell.models import Passage, ScoredPassage


def found(name: str, score: float = 0.8) -> ScoredPassage:
    text = f"About {name}."
    passage = Passage(name, f"/{name}", name, text, 0, 0, len(text), ("Top", name), anchor=name)
    return ScoredPassage(passage, score, score, 1.0, score)


def test_a_passage_found_twice_keeps_its_number() -> None:
    evidence = Evidence()
    evidence.add([found("a"), found("b")])
    again = evidence.add([found("b"), found("c")])
    assert [number for number, _ in again] == [2, 3]


def test_citations_come_best_first_with_the_words_that_support() -> None:
    evidence = Evidence()
    evidence.add([found("a", 0.5), found("b", 0.9)])
    cited = evidence.citations({1: ((0, 5),), 2: ((6, 7),)})
    assert [(c.number, c.quote) for c in cited] == [(2, "b"), (1, "About")]


@given(st.text(min_size=1, max_size=80), st.data())
def test_a_place_in_a_selection_is_exact_in_code_points(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text) - 1))
    end = data.draw(st.integers(start + 1, len(text)))
    evidence = Evidence()
    number = evidence.add_selection(text)
    [citation] = evidence.citations({number: ((start, end),)})
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


def test_passages_of_a_section_are_read_as_they_stand_in_the_book() -> None:
    evidence = Evidence()
    later, earlier, other = (replace(found(name).passage, chunk_index=n) for name, n in (("s", 5), ("s", 4), ("o", 1)))
    later, earlier = replace(later, id="later"), replace(earlier, id="earlier")
    evidence.add([replace(found("s"), passage=p) for p in (later, other, earlier)])
    assert [(n, item.passage.chunk_index) for n, item in evidence.in_reading_order()] == [(3, 4), (1, 5), (2, 1)]
