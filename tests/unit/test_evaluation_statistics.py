"""The figures of every evaluation rest on these few functions, so they are checked against worked examples."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell_evaluation.statistics import (
    auroc,
    balanced_accuracy,
    bootstrap,
    bootstrap_mean,
    calibration_error,
    growth_exponent,
    ndcg,
    precision_recall,
    recall,
    reciprocal_rank,
    reliability,
)


def test_the_same_values_give_the_same_interval_every_time() -> None:
    values = [0.0, 1.0, 1.0, 0.5, 0.25]
    assert bootstrap_mean(values) == bootstrap_mean(values)


def test_an_interval_holds_its_mean() -> None:
    figure = bootstrap_mean([0.0] * 30 + [1.0] * 70)
    assert figure.value == pytest.approx(0.7)
    assert figure.low is not None
    assert figure.high is not None
    assert 0.58 < figure.low < 0.7 < figure.high < 0.82


def test_nothing_measured_is_not_zero() -> None:
    assert math.isnan(bootstrap_mean([]).value)
    assert math.isnan(auroc([0.1, 0.2], [True, True]))


def test_auroc_counts_pairs_in_order_and_ties_as_half() -> None:
    assert auroc([0.9, 0.8, 0.1], [True, True, False]) == 1.0
    assert auroc([0.1, 0.9], [True, False]) == 0.0
    assert auroc([0.5, 0.5], [True, False]) == 0.5


@given(st.lists(st.tuples(st.floats(0, 1), st.booleans()), min_size=2, max_size=30))
def test_auroc_is_the_share_of_ordered_pairs(pairs: list[tuple[float, bool]]) -> None:
    true = [s for s, label in pairs if label]
    false = [s for s, label in pairs if not label]
    found = auroc([s for s, _ in pairs], [label for _, label in pairs])
    if not true or not false:
        assert math.isnan(found)
        return
    wins = sum(1.0 if a > b else 0.5 if a == b else 0.0 for a in true for b in false)
    assert found == pytest.approx(wins / (len(true) * len(false)))


def test_balanced_accuracy_does_not_reward_always_saying_yes() -> None:
    assert balanced_accuracy([True] * 10, [True] * 9 + [False]) == 0.5


def test_a_product_that_is_as_sure_as_it_is_right_has_no_calibration_error() -> None:
    assert calibration_error([0.75] * 4, [True, True, True, False]) == pytest.approx(0.0)
    assert calibration_error([1.0] * 4, [False] * 4) == pytest.approx(1.0)


def test_a_probability_of_one_belongs_to_the_last_range() -> None:
    (only,) = reliability([1.0], [True])
    assert (only.low, only.high, only.count) == (0.9, 1.0, 1)


def test_recall_falls_and_never_rises_with_the_threshold() -> None:
    points = precision_recall([0.2, 0.4, 0.6, 0.8], [False, True, False, True])
    assert points[0].recall == 1.0
    assert points[0].precision == 0.5
    assert [p.recall for p in points] == sorted((p.recall for p in points), reverse=True)


def test_pairs_stay_together_when_items_are_drawn() -> None:
    figure = bootstrap(auroc, [0.9, 0.8, 0.2, 0.1], [True, True, False, False])
    assert (figure.value, figure.low, figure.high) == (1.0, 1.0, 1.0)


def test_ndcg_is_one_for_the_ideal_order_and_counts_places() -> None:
    assert ndcg(["a", "b"], {"a": 1.0, "b": 1.0}, 10) == 1.0
    assert ndcg(["x", "a"], {"a": 1.0}, 10) == pytest.approx(1 / math.log2(3))
    assert ndcg(["x", "y", "a"], {"a": 1.0}, 2) == 0.0


def test_recall_and_reciprocal_rank_ignore_documents_of_grade_zero() -> None:
    assert recall(["a", "z"], {"a": 1.0, "b": 1.0, "z": 0.0}, 5) == 0.5
    assert reciprocal_rank(["z", "a"], {"a": 1.0, "z": 0.0}) == 0.5
    assert reciprocal_rank(["x"], {"a": 1.0}) == 0.0


def test_growth_is_read_off_as_an_exponent() -> None:
    assert growth_exponent([1, 10, 100], [2, 20, 200]) == pytest.approx(1.0)
    assert growth_exponent([1, 10, 100], [5, 5, 5]) == pytest.approx(0.0)
