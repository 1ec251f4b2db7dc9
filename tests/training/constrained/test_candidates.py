"""The best of several solutions of a constrained problem."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

import weft as tf

_CONSTRAINED = tf.contrib.constrained_optimization
_OBJECTIVES = np.array([0.1, 0.5, 0.3, 0.9])
_VIOLATIONS = np.array([[0.5, -0.2, 0.1, -1.0], [0.2, 0.1, -0.3, -0.1]])


def test_a_distribution_is_the_best_of_those_that_violate_nothing() -> None:
    found = _CONSTRAINED.find_best_candidate_distribution(_OBJECTIVES, _VIOLATIONS)
    # The third alone violates the first constraint: the fourth makes up for it.
    np.testing.assert_allclose(found, [0, 0, 10 / 11, 1 / 11], atol=1e-6)


def test_a_distribution_violates_as_little_as_can_be() -> None:
    found = _CONSTRAINED.find_best_candidate_distribution(_OBJECTIVES, _VIOLATIONS + 0.7)
    np.testing.assert_allclose(found, [0, 0, 9 / 13, 4 / 13], atol=1e-6)
    roughly = _CONSTRAINED.find_best_candidate_distribution(_OBJECTIVES, _VIOLATIONS + 0.7, epsilon=0.1)
    assert 0.46 < ((_VIOLATIONS + 0.7) @ roughly).max() < 0.67


def test_one_candidate_is_chosen_by_its_worst_rank() -> None:
    assert _CONSTRAINED.find_best_candidate_index(_OBJECTIVES, _VIOLATIONS) == 3
    assert _CONSTRAINED.find_best_candidate_index(_OBJECTIVES, _VIOLATIONS, rank_objectives=True) == 2


def test_of_equal_candidates_the_least_objective_decides_and_then_the_last() -> None:
    assert _CONSTRAINED.find_best_candidate_index([0.5, 0.2, 0.2, 0.9], [[-1.0, -2.0, -3.0, -4.0]]) == 2


@pytest.mark.parametrize("name", ["find_best_candidate_distribution", "find_best_candidate_index"])
def test_each_candidate_has_an_objective_and_violations(name: str) -> None:
    with pytest.raises(ValueError, match=r"objective_vector must have shape \(n,\)"):
        getattr(_CONSTRAINED, name)(_OBJECTIVES[:3], _VIOLATIONS)


def test_the_functions_are_found_by_their_inner_path() -> None:
    module = importlib.import_module("weft.contrib.constrained_optimization.python.candidates")
    assert module.find_best_candidate_index is _CONSTRAINED.find_best_candidate_index


def test_the_search_cannot_end_below_zero() -> None:
    with pytest.raises(ValueError, match="epsilon must be nonnegative"):
        _CONSTRAINED.find_best_candidate_distribution(_OBJECTIVES, _VIOLATIONS, -1.0)
