"""The pure parts of retrieval: fusion, duplicates, joining, terms, requests."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.errors import InvalidFilterError, InvalidInputError, InvalidQueryError
from citewell.index import Hit
from citewell.index.terms import Bm25Encoder, identifiers
from citewell.retrieval import RetrievalRequest
from citewell.retrieval.followup import mixed, pull_of
from citewell.retrieval.fusion import fused_scores, with_best_meaning
from citewell.retrieval.selection import same, shown
from citewell.values import Message, Passage, ScoredPassage


def passage(number: int, text: str = "text", *, start: int | None = None, path: tuple[str, ...] = ("A",)) -> Passage:
    begin = number * 100 if start is None else start
    return Passage(f"id-{number}", "https://book.example/a", "A", text, number, begin, begin + len(text), path)


def scored(made: Passage, score: float = 0.5) -> ScoredPassage:
    return ScoredPassage(made, score, score, 0.0, score)


def hit(number: int, dense: float, bm25: float) -> Hit:
    return Hit(passage(number), dense, bm25)


scores = st.floats(-1, 1, allow_nan=False, width=32)
weights = st.floats(0, 60, allow_nan=False, width=32)


def test_what_both_rankings_put_first_is_first() -> None:
    fused = fused_scores([hit(0, 0.80, 3.0), hit(1, 0.85, 9.0), hit(2, 0.70, 0.0)])
    assert fused[1] == max(fused)
    assert fused[2] == min(fused)


def test_an_exact_word_lifts_a_passage_over_one_that_is_a_little_closer_in_meaning() -> None:
    exact, closer, *_ = fused_scores([hit(0, 0.80, 12.0), hit(1, 0.81, 0.0), hit(2, 0.70, 0.0), hit(3, 0.75, 1.0)])
    assert exact > closer


def test_without_a_common_word_the_meaning_decides() -> None:
    fused = fused_scores([hit(0, 0.7, 0.0), hit(1, 0.9, 0.0), hit(2, 0.8, 0.0)])
    assert sorted(range(3), key=lambda i: -fused[i]) == [1, 2, 0]


@given(st.lists(st.tuples(scores, weights), max_size=30))
def test_fused_scores_are_between_0_and_1_and_respect_both_rankings(pairs: list[tuple[float, float]]) -> None:
    fused = fused_scores([hit(i, dense, bm25) for i, (dense, bm25) in enumerate(pairs)])
    assert all(0 <= value <= 1 for value in fused)
    for one, first in zip(pairs, fused, strict=True):
        for other, second in zip(pairs, fused, strict=True):
            if one[0] >= other[0] and one[1] >= other[1]:
                assert first >= second - 1e-9


HISTORY = (
    Message("user", "first question"),
    Message("assistant", "first answer"),
    Message("user", "second question"),
    Message("assistant", "second answer"),
)


def test_later_words_of_a_conversation_pull_more_than_earlier_ones() -> None:
    weights_of = {hint.text: hint.weight for hint in pull_of("How fast is a robot?", HISTORY).hints}
    assert set(weights_of) == {"first question", "second question", "second answer"}
    assert weights_of["second question"] > weights_of["first question"] > 0
    assert max(weights_of.values()) < 0.5


@pytest.mark.parametrize(
    ("question", "points_back"),
    [
        ("And how long does that take?", True),
        ("How do I install it?", True),
        ("What about Windows?", True),
        ("Why?", True),
        ("How do robots balance on two legs?", False),
        ("nav2_bringup", False),
    ],
)
def test_only_a_question_that_points_back_takes_on_the_meaning_of_the_last_message(
    question: str, points_back: bool
) -> None:
    assert pull_of(question, HISTORY).meaning == ("second answer" if points_back else "")


def test_a_question_without_history_is_pulled_by_nothing() -> None:
    pull = pull_of("And that?", ())
    assert pull.hints == ()
    assert pull.meaning == ""


def test_a_mixed_vector_has_length_one_and_stays_near_the_question() -> None:
    question, before = np.array([1, 0], dtype=np.float32), np.array([0, 1], dtype=np.float32)
    vector = mixed(question, before)
    assert np.linalg.norm(vector) == pytest.approx(1)
    assert vector @ question > 0.9
    np.testing.assert_array_equal(mixed(question, np.array([-5, 0], dtype=np.float32)), question)


LONG = "The controller reads the joint angles every 10 ms and sends torques to the motors. " * 3


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        (LONG, LONG, True),
        (LONG, LONG.upper() + "!", True),
        (LONG, LONG.replace("every", "in every"), True),
        (LONG, LONG.replace("10 ms", "20 ms"), False),
        (LONG, LONG.replace("and sends", "and never sends"), False),
        (LONG, LONG.replace("motors", "operator console screen"), False),
        (LONG, LONG[: len(LONG) // 2], False),
        ("", "", True),
    ],
)
def test_only_passages_that_differ_in_nothing_of_weight_are_the_same(one: str, other: str, expected: bool) -> None:
    assert same(one, other) is expected
    assert same(other, one) is expected


def test_a_repeated_passage_makes_room_for_the_next() -> None:
    ranked = [scored(passage(0, LONG)), scored(passage(1, LONG + " ")), scored(passage(2, "Other words entirely."))]
    assert [found.passage.id for found in shown(ranked, limit=2)] == ["id-0", "id-2"]


def on_page(number: int, page: str) -> ScoredPassage:
    return scored(replace(passage(number, f"Sentence number {number} of the page."), url=page))


def test_a_page_that_fills_the_first_places_leaves_one_to_others() -> None:
    ranked = [*(on_page(number, "/long") for number in range(6)), on_page(6, "/a"), on_page(7, "/b"), on_page(8, "/c")]
    assert [found.passage.url for found in shown(ranked, limit=5)] == ["/long", "/long", "/long", "/long", "/a"]


def test_a_page_alone_has_all_places() -> None:
    ranked = [on_page(0, "/a"), *(on_page(number, "/long") for number in range(1, 9))]
    assert [found.passage.id for found in shown(ranked, limit=5)] == ["id-0", "id-1", "id-2", "id-3", "id-4"]


@given(st.lists(st.sampled_from("abc"), max_size=25), st.integers(1, 12))
def test_as_many_are_shown_as_there_are_places_and_in_their_order(pages: list[str], limit: int) -> None:
    ranked = [on_page(number, page) for number, page in enumerate(pages)]
    kept = [found.passage.chunk_index for found in shown(ranked, limit=limit)]
    assert len(kept) == min(limit, len(pages))
    assert kept == sorted(kept)


def meaning(number: int, text: str, dense: float) -> ScoredPassage:
    return ScoredPassage(passage(number, text), dense, dense, 0.0, 1.0 - number / 10)


def test_the_best_by_meaning_comes_second_when_the_book_has_another_word() -> None:
    ranked = [
        meaning(0, "Draw text on the page.", 0.4),
        meaning(1, "Text of the page.", 0.5),
        meaning(2, "Diagrams with Mermaid.", 0.7),
    ]
    assert [f.passage.id for f in with_best_meaning("How do I draw flowcharts?", ranked)] == ["id-0", "id-2", "id-1"]


@pytest.mark.parametrize("query", ["How do I draw diagrams?", "Drawing text", "the", ""])
def test_the_ranking_stays_when_every_word_is_known(query: str) -> None:
    ranked = [meaning(0, "Draw text.", 0.4), meaning(1, "Text.", 0.5), meaning(2, "Diagrams with Mermaid.", 0.7)]
    assert with_best_meaning(query, ranked) == ranked


def test_nothing_ranked_stays_nothing() -> None:
    assert with_best_meaning("anything", []) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Set `nav2_bringup` up", ["nav2_bringup"]),
        ("error ERR_404, then", ["err_404"]),
        ("run with --ros-args -p", ["--ros-args"]),
        ("the RetrievalRequest class", ["retrievalrequest"]),
        ("call rclpy.init().", ["rclpy.init"]),
        ("the topic /cmd_vel", ["cmd_vel"]),
        ("std::vector and useState", ["std::vector", "usestate"]),
        ("Plain words. Then more words", []),
    ],
)
def test_identifiers_are_found_whole(text: str, expected: list[str]) -> None:
    assert identifiers(text) == expected


@given(st.text(max_size=300))
def test_every_term_of_a_query_is_a_term_of_the_same_text_as_a_passage(text: str) -> None:
    encoder = Bm25Encoder()
    query, document = encoder.of_query(text), encoder.of_passage(text)
    assert set(query.ids) == set(document.ids)
    assert len(set(document.ids)) == len(document.ids)
    assert all(weight > 0 for weight in document.weights)


@given(st.lists(st.sampled_from("the node nodes Word BIG fooBar nav2 --x é 日本 a_b a.b 7 x".split()), max_size=30))
def test_marks_around_words_change_no_weight(said: list[str]) -> None:
    encoder = Bm25Encoder()
    bare = encoder.of_passage(" ".join(said))
    assert encoder.of_passage(" ".join(f"“{word}”" for word in said)) == bare
    assert encoder.of_passage(" ".join(f"(`{word}`)," for word in said)) == bare


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"query": "   "}, InvalidQueryError),
        ({"query": "x" * 2001}, InvalidQueryError),
        ({"query": "x", "top_k": 0}, InvalidInputError),
        ({"query": "x", "top_k": 101}, InvalidInputError),
        ({"query": "x", "score_threshold": 1.5}, InvalidInputError),
        ({"query": "x", "filters": {"author": "me"}}, InvalidFilterError),
    ],
)
def test_a_request_that_is_not_valid_is_refused(wrong: dict[str, object], error: type[InvalidInputError]) -> None:
    with pytest.raises(error):
        RetrievalRequest(**wrong)  # type: ignore[arg-type] # what is wrong is the point


def test_a_request_at_its_limits_is_valid() -> None:
    made = RetrievalRequest(" " + "x" * 2000 + " ", top_k=100, score_threshold=0.0, filters={"module": ["a", "b"]})
    assert len(made.query) == 2000
