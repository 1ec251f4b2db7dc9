"""Factors by weighted alternating least squares are those of TensorFlow 1.15.5; the numbers were asked of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

_MATRIX = np.array([[1, 0, 2, 0], [0, 3, 0, 1], [2, 0, 1, 0]], np.float32)
_ROWS = np.cos(np.arange(6.0).reshape(3, 2)).astype(np.float32)
_COLUMNS = np.sin(np.arange(8.0).reshape(4, 2) + 1).astype(np.float32)


def _model(**kwargs: Any) -> Any:
    return tf.contrib.factorization.WALSModel(3, 4, 2, **{"row_init": _ROWS, "col_init": _COLUMNS, **kwargs})


def _sparse(matrix: Any) -> Any:
    return tf.SparseTensor(np.argwhere(matrix), matrix[matrix != 0], matrix.shape)


def _swept(model: Any, sweeps: int, then: Callable[[Any], Any]) -> Any:
    """Losses of the rows and of the columns in each sweep; what `then` fetches after them."""
    rows, columns = model.update_row_factors(_sparse(_MATRIX)), model.update_col_factors(_sparse(_MATRIX))
    wanted = then(model)
    losses = []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        session.run(model.initialize_op)
        session.run(model.worker_init)
        for _ in range(sweeps):
            session.run(model.row_update_prep_gramian_op)
            session.run(model.initialize_row_update_op)
            losses.append(session.run(rows[2:]))
            session.run(rows[1])
            session.run(model.col_update_prep_gramian_op)
            session.run(model.initialize_col_update_op)
            losses.append(session.run(columns[2:]))
            session.run(columns[1])
        session.run(model.row_update_prep_gramian_op)
        session.run(model.initialize_row_update_op)
        return losses, session.run(wanted)


def _factors(model: Any) -> Any:
    return model.row_factors, model.col_factors


_WEIGHTED = (
    [(6.331277, 5.493606, 15.2), (0.95420325, 5.3239174, 15.2), (1.309644, 2.709748, 15.2), (0.7746952, 2.678133, 15.2)],
    [[-2.0185, 2.52064], [3.32213, 0.18076], [0.27363, 1.63909]],
    [[0.51908, 0.86325], [0.87462, 0.41804], [-0.14605, 0.6652], [0.29154, 0.13935]],
)
_EVEN = (
    [(1.3276833, 0.0, 1.2), (0.84310454, 0.0, 1.2), (0.48436308, 0.0, 1.2), (0.16992532, 0.0, 1.2)],
    [[-0.41848, 0.77667], [2.37203, -1.77405], [0.0621, 0.72786]],
    [[1.86066, 2.47249], [1.39631, 0.22064], [1.47024, 2.07453], [0.46544, 0.07355]],
)


@pytest.mark.parametrize(
    ("kwargs", "expected"),
    [
        ({"regularization": 0.1, "row_weights": [1, 2, 0.5], "col_weights": 2.0}, _WEIGHTED),
        ({"row_weights": None, "col_weights": None}, _EVEN),
    ],
    ids=["weighted", "even"],
)
def test_sweeps_lower_the_loss_as_in_tensorflow(kwargs: dict[str, Any], expected: Any) -> None:
    losses, ((rows,), (columns,)) = _swept(_model(**kwargs), 2, _factors)
    np.testing.assert_allclose(losses, expected[0], rtol=1e-4)
    np.testing.assert_allclose(rows, expected[1], atol=1e-3)
    np.testing.assert_allclose(columns, expected[2], atol=1e-3)


def test_shards_and_no_copies_make_no_difference() -> None:
    sharded = _model(
        regularization=0.1, row_weights=[[1, 2], [0.5]], col_weights=2.0, num_row_shards=2, num_col_shards=3,
        row_init=[_ROWS[:2], _ROWS[2:]], col_init=lambda: [_COLUMNS[:2], _COLUMNS[2:3], _COLUMNS[3:]],
        use_factors_weights_cache=False, use_gramian_cache=False,
    )  # fmt: skip
    losses, (rows, columns) = _swept(sharded, 2, _factors)
    np.testing.assert_allclose(losses, _WEIGHTED[0], rtol=1e-4)
    np.testing.assert_allclose(np.concatenate(rows), _WEIGHTED[1], atol=1e-3)
    np.testing.assert_allclose(np.concatenate(columns), _WEIGHTED[2], atol=1e-3)


def test_a_part_of_the_rows_is_updated_alone_and_transposed() -> None:
    part = _MATRIX * np.array([[0], [1], [0]], np.float32)

    def wanted(model: Any) -> Any:
        update = model.update_row_factors(_sparse(part.T), transpose_input=True)
        with tf.control_dependencies([update[1]]):
            return tf.identity(model.row_factors[0]), update[0]

    _, (rows, new) = _swept(_model(), 1, wanted)
    assert new.shape == (1, 2)
    np.testing.assert_allclose(rows[1:2], new)


def test_rows_that_the_model_does_not_have_are_projected() -> None:
    def wanted(model: Any) -> Any:
        twice = _sparse(np.concatenate([_MATRIX, _MATRIX]))
        return model.project_row_factors(twice), model.project_row_factors(twice, projection_weights=[1.0] * 6)

    _, (one, many) = _swept(_model(), 1, wanted)
    assert one.shape == (6, 2)
    np.testing.assert_allclose(one[:3], one[3:], rtol=1e-5)
    np.testing.assert_allclose(one, many)


def test_variables_have_tensorflows_names() -> None:
    _model(num_row_shards=2, row_init="random", row_weights=1.0, use_scoped_vars=True)
    assert [each.op.name for each in tf.global_variables()] == [
        "row_weights/row_weights_shard_0", "row_weights/row_weights_shard_1", "col_weights/col_weights_shard_0",
        "row_factors/row_factors_shard_0", "row_factors/row_factors_shard_1", "col_factors/col_factors_shard_0", "row_gramian",
        "col_gramian",
    ]  # fmt: skip
    assert [each.op.name.removeprefix("transient_vars/") for each in tf.local_variables()] == [
        "row_factors_cache_shard_0", "row_factors_cache_shard_1", "col_factors_cache_shard_0", "row_wt_cache_shard_0",
        "row_wt_cache_shard_1", "col_wt_cache_shard_0", "row_gramian_cache", "col_gramian_cache",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("kwargs", "told"),
    [
        ({"row_weights": None}, "both None, or neither"),
        ({"row_weights": -1}, "Invalid weight initialization argument -1"),
        ({"row_weights": [1.0, 2.0]}, "kept in 1 shards, but 2 values"),
        ({"num_col_shards": 2, "col_init": [_COLUMNS]}, "kept in 2 shards, but 1 values"),
    ],
)
def test_weights_and_factors_that_do_not_fit_are_refused(kwargs: dict[str, Any], told: str) -> None:
    with pytest.raises(ValueError, match=told):
        _model(**kwargs)


def test_a_dense_matrix_is_refused() -> None:
    with pytest.raises(TypeError, match="sp_input must be a SparseTensor"):
        _model().update_row_factors(tf.constant(_MATRIX))
