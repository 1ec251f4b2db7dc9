"""WALSMatrixFactorization trains to the numbers of TensorFlow 1.15.5, which were asked of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

_MATRIX = np.array([[1, 0, 2, 0], [0, 3, 0, 1], [2, 0, 1, 0]], np.float32)
_ROWS = np.cos(np.arange(6.0).reshape(3, 2)).astype(np.float32)
_COLUMNS = np.sin(np.arange(8.0).reshape(4, 2) + 1).astype(np.float32)


def _sparse(matrix: Any) -> Any:
    return tf.SparseTensor(np.argwhere(matrix), matrix[matrix != 0], matrix.shape)


def _input_fn(**further: Any) -> Callable[[], Any]:
    def input_fn() -> Any:
        features = {"input_rows": _sparse(_MATRIX), "input_cols": _sparse(_MATRIX.T)}
        return {**features, **{name: tf.constant(value) for name, value in further.items()}}, None

    return input_fn


def _wals(tmp_path: Path) -> Any:
    return tf.contrib.factorization.WALSMatrixFactorization(
        3, 4, 2, row_init=_ROWS, col_init=_COLUMNS, max_sweeps=5, regularization_coeff=0.1, model_dir=str(tmp_path)
    )


def test_training_ends_after_its_sweeps_with_tensorflows_factors(tmp_path: Path) -> None:
    wals = _wals(tmp_path)
    wals.fit(input_fn=_input_fn())
    assert wals.get_variable_value("completed_sweeps") == 5
    assert wals.get_variable_value("global_step") == 5
    (rows,) = wals.get_row_factors()
    np.testing.assert_allclose(rows, [[-1.46277, 1.78771], [2.09115, 0.46398], [-0.07599, 1.84272]], atol=1e-3)
    assert [each.shape for each in wals.get_col_factors()] == [(4, 2)]
    np.testing.assert_allclose(wals.evaluate(input_fn=_input_fn(project_row=True), steps=1)["loss"], 2.3971925, rtol=1e-4)
    np.testing.assert_allclose(wals.evaluate(input_fn=_input_fn(project_row=False), steps=1)["loss"], 2.7750773, rtol=1e-4)
    np.testing.assert_allclose(
        list(wals.get_projections(_input_fn(project_row=False))),
        [[0.42069, 0.98281], [1.21276, 0.74593], [-0.44876, 0.60983], [0.40425, 0.24864]], atol=1e-3,
    )  # fmt: skip
    lighter = list(wals.get_projections(_input_fn(project_row=True, projection_weights=[0.1, 0.1, 0.1])))
    assert np.abs(lighter).sum() < np.abs(rows).sum()


def test_labels_of_a_matrix_are_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="has no labels"):
        _wals(tmp_path).fit(input_fn=lambda: (_input_fn()()[0], tf.constant([1])))


def test_several_workers_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"chief": ["a:1"], "worker": ["b:1"], "ps": ["c:1"]}
    monkeypatch.setenv("TF_CONFIG", json.dumps({"cluster": cluster, "task": {"type": "worker", "index": 0}}))
    with pytest.raises(ValueError, match="single worker replica"):
        tf.contrib.factorization.WALSMatrixFactorization(3, 4, 2, model_dir=str(tmp_path), config=tf.estimator.RunConfig())
