"""contrib.kernel_methods' classifier trains to the numbers of TensorFlow 1.15.5."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

_drawn = np.random.RandomState(0)
_POINTS = _drawn.randn(200, 2).astype(np.float32)
_CLASSES = (np.abs(_POINTS).sum(axis=1) > 1).astype(int)
_kernel_methods = tf.contrib.kernel_methods


def _input_fn() -> Any:
    return {"point": tf.constant(_POINTS)}, tf.constant(_CLASSES)


def _column() -> Any:
    return tf.contrib.layers.real_valued_column("point", dimension=2)


def test_a_mapped_column_separates_what_a_line_does_not(tmp_path: Path) -> None:
    mapper = _kernel_methods.RandomFourierFeatureMapper(2, 50)
    estimator = _kernel_methods.KernelLinearClassifier(
        optimizer=tf.train.GradientDescentOptimizer(1.0), kernel_mappers={_column(): [mapper]}, model_dir=str(tmp_path)
    )
    estimator.fit(input_fn=_input_fn, steps=50)
    metrics = estimator.evaluate(input_fn=_input_fn, steps=1)
    # TensorFlow 1.15.5's of the same points, whose weights begin with zeros.
    expected = {"loss": 0.3839, "accuracy": 0.835, "auc": 0.97895, "labels/prediction_mean": 0.7199}
    assert {name: metrics[name] for name in expected} == pytest.approx(expected, abs=1e-4)
    assert estimator.get_variable_names() == ["global_step", "linear/bias_weight", "linear/point_MAPPED/weight"]
    assert list(estimator.predict_classes(input_fn=_input_fn))[:6] == [1, 1, 1, 1, 0, 1]
    first = next(iter(estimator.predict(input_fn=_input_fn)))
    assert sorted(first) == ["classes", "logistic", "logits", "probabilities"]
    assert first["probabilities"] == pytest.approx(next(iter(estimator.predict_proba(input_fn=_input_fn))))


def test_a_column_may_stand_mapped_by_several_and_as_it_is(tmp_path: Path) -> None:
    mappers = [_kernel_methods.RandomFourierFeatureMapper(2, 20, seed=seed) for seed in (1, 2)]
    column = _column()
    estimator = _kernel_methods.KernelLinearClassifier([column], str(tmp_path), n_classes=3, kernel_mappers={column: mappers})
    estimator.fit(input_fn=_input_fn, steps=2)
    assert estimator.get_variable_value("linear/point_MAPPED/weight").shape == (40, 3)
    assert estimator.get_variable_value("linear/point/weight").shape == (2, 3)


def test_what_cannot_be_mapped_is_told() -> None:
    with pytest.raises(ValueError, match="at least one of feature_columns, kernel_mappers"):
        _kernel_methods.KernelLinearClassifier()
    with pytest.raises(ValueError, match=r"Invalid kernel mappers\. Those of column 'point' have 'gauss'"):
        _kernel_methods.KernelLinearClassifier(kernel_mappers={_column(): ["gauss"]})
