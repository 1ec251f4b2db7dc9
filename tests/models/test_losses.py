"""tf.losses: weights, reductions, collections and errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf

PREDICTIONS = np.array([[0.5, -1.0], [2.0, 0.25]], np.float32)
LABELS = np.array([[1.0, 0.0], [1.0, 0.0]], np.float32)
SQUARES = (PREDICTIONS - LABELS) ** 2


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


def _run(fetch: Any) -> Any:
    with tf.Session() as session:
        return session.run(fetch)


@pytest.mark.parametrize(
    ("reduction", "expected"),
    [
        (tf.losses.Reduction.NONE, SQUARES * [[2], [0]]), (tf.losses.Reduction.SUM, 2 * SQUARES[0].sum()),
        (tf.losses.Reduction.MEAN, SQUARES[0].mean()), (tf.losses.Reduction.SUM_OVER_BATCH_SIZE, SQUARES[0].sum() / 2),
        (tf.losses.Reduction.SUM_BY_NONZERO_WEIGHTS, SQUARES[0].sum()),
    ],
)  # fmt: skip
def test_each_reduction_divides_by_what_it_says(reduction: str, expected: Any) -> None:
    loss = tf.losses.mean_squared_error(LABELS, PREDICTIONS, np.array([[2.0], [0.0]], np.float32), reduction=reduction)
    assert _run(loss) == pytest.approx(expected, rel=1e-6)


def test_losses_are_collected_and_summed_with_those_of_regularization() -> None:
    first = tf.losses.absolute_difference(LABELS, PREDICTIONS)
    second = tf.losses.sparse_softmax_cross_entropy([0, 1], PREDICTIONS)
    tf.losses.mean_squared_error(LABELS, PREDICTIONS, loss_collection=None)
    tf.add_to_collection(tf.GraphKeys.REGULARIZATION_LOSSES, tf.constant(2.0))
    assert (first.name, second.name) == ("absolute_difference/value:0", "sparse_softmax_cross_entropy_loss/value:0")
    assert tf.losses.get_losses() == [first, second]
    total, parts = _run([tf.losses.get_total_loss(), [first, second]])
    assert total == pytest.approx(sum(parts) + 2, rel=1e-6)
    assert _run(tf.losses.get_regularization_loss()) == 2


def test_smoothed_labels_are_drawn_towards_equal_shares() -> None:
    smooth = tf.losses.softmax_cross_entropy(LABELS, PREDICTIONS, label_smoothing=0.2)
    plain = tf.losses.softmax_cross_entropy(LABELS * 0.8 + 0.1, PREDICTIONS)
    assert np.array_equal(*_run([smooth, plain]))


def test_weights_that_do_not_fit_are_errors_while_building_or_running() -> None:
    with pytest.raises(ValueError, match=r"weights can not be broadcast to values. values.rank=2. weights.rank=1"):
        tf.losses.mean_squared_error(LABELS, PREDICTIONS, np.ones(2, np.float32))
    with pytest.raises(ValueError, match=r"Mismatch at dim 0. values.shape=\[2 2\] weights.shape=\[3 1\]"):
        tf.losses.mean_squared_error(LABELS, PREDICTIONS, np.ones((3, 1), np.float32))
    weights = tf.placeholder(tf.float32)
    loss = tf.losses.mean_squared_error(LABELS, PREDICTIONS, weights)
    with tf.Session() as session:
        assert session.run(loss, {weights: 2.0}) == pytest.approx(2 * SQUARES.mean())
        with pytest.raises(tf.errors.InvalidArgumentError, match="weights can not be broadcast to values"):
            session.run(loss, {weights: np.ones(2)})


def test_missing_arguments_and_unknown_reductions_are_named() -> None:
    with pytest.raises(ValueError, match="labels must not be None"):
        tf.losses.huber_loss(None, PREDICTIONS)
    with pytest.raises(ValueError, match="You must specify 'axis'"):
        tf.losses.cosine_distance(LABELS, PREDICTIONS)
    with pytest.raises(ValueError, match="Invalid Reduction Key half"):
        tf.losses.compute_weighted_loss(PREDICTIONS, reduction="half")


@pytest.mark.parametrize(
    ("labels", "logits", "weights"), [([3, 1], [3, 3], None), ([None], [3, 3], None), (None, None, [3, 1])]
)
def test_weights_whose_rank_only_a_run_tells_lose_the_dimension_that_the_labels_have_not(
    labels: Any, logits: Any, weights: Any
) -> None:
    numbers, scores, factors = (
        tf.placeholder(tf.int32, labels),
        tf.placeholder(tf.float32, logits),
        tf.placeholder(tf.float32, weights),
    )
    loss = tf.losses.sparse_softmax_cross_entropy(numbers, scores, factors)
    given = np.array([2, 0, 1]).reshape([3, 1] if labels == [3, 1] else [3])
    with tf.Session() as session:
        found = session.run(loss, {numbers: given, scores: 10 * np.eye(3), factors: [[1.2], [3.4], [5.6]]})
    assert found == pytest.approx((1.2 + 3.4 + 5.6) * 10 / 3, rel=1e-4)
