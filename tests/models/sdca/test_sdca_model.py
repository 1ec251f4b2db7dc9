"""Linear models that dual coordinate ascent trains end where TensorFlow 1.15's do, whatever example comes first."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

import weft as tf

_DENSE = np.float32([[0.5, 0.1], [0.9, 0.4], [0.2, 0.8], [0.7, 0.7], [0.1, 0.3], [0.8, 0.0]])
_FEATURES = np.array([0, 1, 2, 0, 1, 2, 0, 3])
_OWNERS = np.array([0, 0, 1, 2, 3, 3, 4, 5])
_LABELS = np.float32([1, 1, 0, 1, 0, 0])

# Loss, L1 and L2: the regularized loss, and the weights of dense and of sparse features.
_FOUND = [
    ("logistic_loss", 0.0, 1.0, 0.54970, [0.317, -0.1005, -0.3814, 0.5291, 0.6732, -0.4508]),
    ("logistic_loss", 0.1, 2.0, 0.62472, [0.1828, -0.0, -0.1822, 0.2578, 0.3928, -0.194]),
    ("squared_loss", 0.0, 1.0, 0.24331, [0.7881, 0.0404, 0.1563, 0.6959, 0.8318, -0.3152]),
    ("squared_loss", 0.1, 2.0, 0.39904, [0.6509, 0.1277, 0.1422, 0.5152, 0.6881, -0.1402]),
    ("hinge_loss", 0.0, 1.0, 0.43601, [0.2785, -0.4138, -0.7247, 1.0, 0.9149, -1.0]),
    ("hinge_loss", 0.1, 2.0, 0.65795, [0.3558, -0.1363, -0.45, 0.45, 0.7343, -0.45]),
    ("smooth_hinge_loss", 0.0, 1.0, 0.54688, [0.232, -0.2419, -0.3855, 0.6469, 0.592, -0.5928]),
    ("smooth_hinge_loss", 0.1, 2.0, 0.72573, [0.1621, -0.0933, -0.2605, 0.3846, 0.437, -0.3432]),
    ("poisson_loss", 0.0, 1.0, 0.74171, [0.1925, -0.3943, -0.3809, 0.5424, 0.4855, -0.6246]),
    ("poisson_loss", 0.1, 2.0, 0.83294, [0.1281, -0.1376, -0.2586, 0.3541, 0.3798, -0.3431]),
]


@pytest.fixture(autouse=True)
def _graph() -> Iterator[None]:
    with tf.Graph().as_default():
        yield


def _examples() -> dict[str, object]:
    return {
        "sparse_features": [tf.contrib.linear_optimizer.SparseFeatureColumn(_OWNERS, _FEATURES)],
        "dense_features": [tf.constant(_DENSE)],
        "example_labels": tf.constant(_LABELS),
        "example_weights": tf.constant(np.float32([1, 2, 1, 0.5, 1, 1])),
        "example_ids": tf.constant([f"example {number}" for number in range(6)]),
    }


def _trained(loss: str, l1: float, l2: float, parts: int = 1, **options: object) -> tuple[float, float, np.ndarray]:
    examples = _examples()
    if "hinge" not in loss and loss != "logistic_loss":
        examples["example_labels"] = tf.constant(_LABELS * 2)
    cut = tf.fixed_size_partitioner(parts)
    sparse = list(tf.get_variable("sparse", [4], initializer=tf.zeros_initializer(), partitioner=cut))
    dense = tf.get_variable("dense", [2], initializer=tf.zeros_initializer())
    model = tf.contrib.linear_optimizer.SdcaModel(
        examples,
        {"sparse_features_weights": [sparse if parts > 1 else sparse[0]], "dense_features_weights": [dense]},
        {"loss_type": loss, "symmetric_l1_regularization": l1, "symmetric_l2_regularization": l2, **options},
    )
    step = model.update_weights(model.minimize(tf.train.get_or_create_global_step()))
    measures = model.regularized_loss(examples), model.approximate_duality_gap()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        for _ in range(40):
            session.run(step)
        values = session.run([dense, *sparse])
        return *session.run(measures), np.concatenate(values)


@pytest.mark.parametrize(("loss", "l1", "l2", "regularized", "weights"), _FOUND)
def test_the_ascent_ends_where_tensorflows_does(
    loss: str, l1: float, l2: float, regularized: float, weights: list[float]
) -> None:
    found, gap, values = _trained(loss, l1, l2, adaptive=False)
    assert found == pytest.approx(regularized, abs=1e-4)
    assert gap < 1e-3
    np.testing.assert_allclose(values, weights, atol=5e-3)


def test_examples_that_lack_most_come_more_often() -> None:
    loss, gap, values = _trained("logistic_loss", 0.1, 2.0, adaptive=True)
    assert loss == pytest.approx(0.62472, abs=1e-4)
    assert gap < 1e-3
    np.testing.assert_allclose(values, [0.1828, 0, -0.1822, 0.2578, 0.3928, -0.194], atol=5e-3)


def test_partitioned_weights_and_several_tables_change_nothing() -> None:
    loss, _, values = _trained("squared_loss", 0.1, 1.0)
    with tf.Graph().as_default():
        other, _, others = _trained("squared_loss", 0.1, 1.0, parts=3, num_table_shards=2, adaptive=False)
    assert other == pytest.approx(loss, abs=1e-4)
    np.testing.assert_allclose(others, values, atol=5e-3)


def test_what_is_lacking_or_unknown_is_told() -> None:
    model = tf.contrib.linear_optimizer.SdcaModel
    options = {"loss_type": "squared_loss", "symmetric_l1_regularization": 0.0, "symmetric_l2_regularization": 1.0}
    weights = {"sparse_features_weights": [], "dense_features_weights": []}
    with pytest.raises(ValueError, match="must all be specified"):
        model({}, weights, options)
    with pytest.raises(ValueError, match="Unsupported loss_type: 'cubic'; one of logistic_loss"):
        model(_examples(), weights, {**options, "loss_type": "cubic"})
    with pytest.raises(ValueError, match="example_ids must be specified"):
        model({**_examples(), "example_ids": None}, weights, options)
    with pytest.raises(ValueError, match=r"symmetric_l1_regularization should be non-negative. Found \(-1\)"):
        model(_examples(), weights, {**options, "symmetric_l1_regularization": -1})
    with pytest.raises(ValueError, match="dense_features must be a list"):
        model({**_examples(), "dense_features": tf.zeros([6, 2])}, weights, options)


def test_labels_that_a_loss_does_not_have_are_told() -> None:
    examples = {**_examples(), "example_labels": tf.constant(_LABELS - 3)}
    dense, sparse = tf.Variable(tf.zeros([2])), tf.Variable(tf.zeros([4]))
    options = {"loss_type": "hinge_loss", "symmetric_l1_regularization": 0.0, "symmetric_l2_regularization": 1.0}
    weights = {"sparse_features_weights": [sparse], "dense_features_weights": [dense]}
    step = tf.contrib.linear_optimizer.SdcaModel(examples, weights, options).minimize()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Only labels of 0\.0 or 1\.0 are supported right now"):
            session.run(step)
