"""Candidate samplers draw what TensorFlow 2.21 and 1.15 draw for a seed."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import pytest

import weft as tf

TRUE = np.array([[0, 3, 5], [1, 2, 2]])
# What TensorFlow draws in the first runs, and what it expects of the true classes.
LOG_UNIQUE: Final = (
    [[0, 2, 8, 12, 1, 4], [7, 4, 11, 10, 0, 5]],
    [[0.873403, 0.456076, 0.340103], [0.68126, 0.547999, 0.547999]],
)
LOG_ANY: Final = ([[0, 2, 8, 12, 2, 1], [7, 4, 11, 4, 10, 4]], [[1.366022, 0.439761, 0.303793], [0.799071, 0.56695, 0.56695]])
UNIFORM_UNIQUE: Final = (
    [[6, 11, 17, 13, 0, 9], [3, 17, 19, 6, 16, 0]],
    [[0.301663, 0.301663, 0.301663], [0.301663, 0.301663, 0.301663]],
)
UNIFORM_ANY: Final = ([[6, 11, 17, 13, 0, 17], [3, 17, 19, 6, 16, 0]], [[0.3, 0.3, 0.3], [0.3, 0.3, 0.3]])
FIXED_UNIQUE: Final = (
    [[7, 1, 9, 17, 18, 10], [18, 19, 15, 7, 4, 6]],
    [[0.053234, 0.150569, 0.204082], [0.089529, 0.121348, 0.121348]],
)
FIXED_ANY: Final = (
    [[7, 1, 9, 17, 18, 10], [18, 19, 15, 7, 15, 15]],
    [[0.053234, 0.150569, 0.204082], [0.089529, 0.121348, 0.121348]],
)
LEARNED_UNIQUE: Final = (
    [[5, 0, 2, 4], [2, 6, 4, 7], [1, 0, 2, 6], [5, 4, 1, 0]],
    [[0.763802, 0.763802, 0.763802], [0.763802, 0.932858, 0.932858]],
)
LEARNED_ANY: Final = (
    [[5, 0, 2, 4], [2, 6, 4, 7], [1, 0, 2, 6], [5, 5, 5, 4]],
    [[0.592593, 0.592593, 0.592593], [0.592593, 1.037037, 1.037037]],
)


@pytest.fixture(autouse=True)
def own_graph() -> Any:
    """A default graph of the test's own, with a seed."""
    with tf.Graph().as_default():
        tf.set_random_seed(4)
        yield


def _runs(drawn: Any, count: int = 1, feeds: Any = None) -> list[Any]:
    with tf.Session() as session:
        return [[value.tolist() for value in session.run(drawn, feeds)] for _ in range(count)]


@pytest.mark.parametrize(
    ("sampler", "unique", "expected"),
    [
        (tf.nn.log_uniform_candidate_sampler, True, LOG_UNIQUE),
        (tf.nn.log_uniform_candidate_sampler, False, LOG_ANY),
        (tf.nn.uniform_candidate_sampler, True, UNIFORM_UNIQUE),
        (tf.nn.uniform_candidate_sampler, False, UNIFORM_ANY),
        (tf.nn.fixed_unigram_candidate_sampler, True, FIXED_UNIQUE),
        (tf.nn.fixed_unigram_candidate_sampler, False, FIXED_ANY),
    ],
)
def test_a_sampler_draws_tensorflows_classes_run_by_run(sampler: Any, unique: bool, expected: Any) -> None:
    more = (
        {"unigrams": [float(i + 1) for i in range(20)], "distortion": 0.75}
        if sampler is tf.nn.fixed_unigram_candidate_sampler
        else {}
    )
    drawn = sampler(TRUE, 3, 6, unique, 20, seed=5, **more)
    found = _runs(drawn, 2)
    assert [run[0] for run in found] == expected[0]
    np.testing.assert_allclose(found[0][1], expected[1], rtol=1e-5)


@pytest.mark.parametrize(("unique", "expected"), [(True, LEARNED_UNIQUE), (False, LEARNED_ANY)])
def test_a_sampler_learns_from_the_true_classes_of_its_runs(unique: bool, expected: Any) -> None:
    drawn = tf.nn.learned_unigram_candidate_sampler(TRUE, 3, 4, unique, 9, seed=5)
    found = _runs(drawn, 4)
    assert [run[0] for run in found] == expected[0]
    np.testing.assert_allclose(found[3][1], expected[1], rtol=1e-5)
    assert _runs(drawn)[0] == found[0], "another session begins anew"


def test_classes_that_repeat_no_more_than_there_are_are_an_error() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="range is too small: 6 different ones of 5"):
        _runs(tf.nn.log_uniform_candidate_sampler(TRUE, 3, 6, True, 5))
    classes = tf.placeholder(tf.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="num_true columns, expected: 2 was: 3"):
        _runs(tf.nn.uniform_candidate_sampler(classes, 2, 6, True, 9), feeds={classes: TRUE})
