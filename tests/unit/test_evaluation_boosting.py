"""The trees of the judge: what is fitted, that directions are kept, and that the file gives the same model back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from citewell.grounding.trees import TreeData, Trees
from citewell_evaluation.boosting import Booster, Boosting, Tree

NAMES = ("covered", "foreign", "length")
SIGNS = (1, -1, 0)


def _fitted() -> tuple[float, list[Tree]]:
    random = np.random.default_rng(7)
    x = random.random((400, 3))
    y = ((x[:, 0] - x[:, 1] + 0.4 * random.standard_normal(400)) > 0).astype(np.float64)
    return Booster(x, SIGNS, Boosting(trees=30, share=1.0)).fit(y, np.ones(400))


BIAS, TREES = _fitted()


def _score(row: list[float]) -> float:
    return BIAS + sum(float(tree.values(np.array([row]))[0]) for tree in TREES)


def test_a_fit_tells_the_cases_apart() -> None:
    assert _score([0.9, 0.1, 0.5]) > 1
    assert _score([0.1, 0.9, 0.5]) < -1


@given(st.lists(st.floats(0, 1), min_size=3, max_size=3), st.floats(0, 1))
def test_more_of_what_speaks_for_a_claim_never_lowers_its_score(row: list[float], other: float) -> None:
    """Also where the data says otherwise by chance: a set's habits are not to be learnt."""
    low, high = sorted((row[0], other))
    assert _score([low, *row[1:]]) <= _score([high, *row[1:]]) + 1e-9
    low, high = sorted((row[1], other))
    assert _score([row[0], high, row[2]]) <= _score([row[0], low, row[2]]) + 1e-9


def test_the_model_read_from_its_file_scores_as_the_fitted_one() -> None:
    data: list[TreeData] = [
        {"asks": [NAMES[a] for a in t.asks], "at_most": list(t.at_most), "leaves": list(t.leaves)} for t in TREES
    ]
    model = Trees.read(BIAS, data, NAMES)
    for row in np.random.default_rng(1).random((50, 3)):
        assert model.score(row.astype(np.float32)) == pytest.approx(_score(row.tolist()), abs=1e-4)


def test_data_without_a_pattern_gives_no_more_than_the_odds() -> None:
    x = np.zeros((100, 3))
    y = np.array([1.0] * 75 + [0.0] * 25)
    bias, trees = Booster(x, SIGNS, Boosting(trees=3)).fit(y, np.ones(100))
    assert bias == pytest.approx(np.log(3))
    assert all(tree.leaves == (0.0, 0.0, 0.0, 0.0) for tree in trees)
