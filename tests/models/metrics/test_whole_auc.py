"""The area under a curve whose thresholds are all predictions. All numbers are TensorFlow 1.15.5's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

_METRICS = tf.contrib.metrics
_LABELS = [[1, 0, 1, 1, 0, 0], [0, 0, 1, 1, 0, 1], [1, 1, 1, 1, 1, 1]]
_PREDICTIONS = np.float32([[0.9, 0.2, 0.4, 0.8, 0.4, 0.1], [0.3, 0.8, 0.6, 0.9, 0.2, 0.2], [0.5, 0.4, 0.3, 0.2, 0.9, 0.8]])
_WEIGHTS = np.float32([[1, 2, 1, 0.5, 1, 1], [1, 1, 3, 1, 1, 0.25], [0.1] * 6])


def _batches(build: Callable[..., Any], labels: Any = _LABELS) -> tuple[list[Any], list[Any], Any]:
    """The updates' and the values' results after each batch, and the value after all as the first batch is fed again."""
    fed = [tf.placeholder(tf.int32, [None]), tf.placeholder(tf.float32, [None]), tf.placeholder(tf.float32, [None])]
    value, update = build(*fed)
    updates, values = [], []
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        for batch in zip(labels, _PREDICTIONS, _WEIGHTS, strict=True):
            feeds = dict(zip(fed, batch, strict=True))
            updates.append(session.run(update, feeds))
            values.append(session.run(value, feeds))
        return updates, values, session.run(value, dict(zip(fed, (_LABELS[0], _PREDICTIONS[0], _WEIGHTS[0]), strict=True)))


@pytest.mark.parametrize(
    ("curve", "is_weighted", "expected"),
    [
        ("ROC", False, [0.94444444, 0.80555556, 0.77083333]),
        ("ROC", True, [0.95, 0.87566138, 0.86637512]),
        ("PR", False, [0.95833333, 0.83206169, 0.87555367]),
        ("PR", True, [0.94285714, 0.84835014, 0.85210228]),
    ],
)
def test_the_area_is_that_of_all_predictions_so_far(curve: str, is_weighted: bool, expected: list[float]) -> None:
    _, values, _ = _batches(
        lambda labels, predictions, weights: _METRICS.streaming_dynamic_auc(
            labels, predictions, curve, weights=weights if is_weighted else None
        )
    )
    np.testing.assert_allclose(values, expected, atol=1e-7)


@pytest.mark.parametrize(
    ("options", "is_weighted", "expected", "after"),
    [
        (
            {},
            False,
            [[0.9444444, 0.47461256, 0.9968838], [0.8055556, 0.43891948, 0.95640826], [0, 0, 0]],
            [0.7708333, 0.46730787, 0.92804223],
        ),
        (
            {"alpha": 0.8},
            True,
            [[0.95, 0.7382059, 0.99224937], [0.8756614, 0.6701262, 0.96065253], [0, 0, 0]],
            [0.86637515, 0.664929, 0.95492136],
        ),
        (
            {"logit_transformation": False},
            False,
            [[0.9444444, 0.7904551, 1.0984337], [0.8055556, 0.544454, 1.0666572], [0, 0, 0]],
            [0.7708333, 0.5334205, 1.0082461],
        ),
    ],
)
def test_the_area_has_an_interval(
    options: dict[str, Any], is_weighted: bool, expected: list[list[float]], after: list[float]
) -> None:
    updates, values, last = _batches(
        lambda labels, predictions, weights: _METRICS.auc_with_confidence_intervals(
            labels, predictions, weights if is_weighted else None, **options
        )
    )
    # The last batch has one label only, and light weights; it is taken in.
    assert updates == [True, True, not is_weighted]
    np.testing.assert_allclose(values, expected, atol=1e-6)
    np.testing.assert_allclose(last, after, atol=1e-6)
    assert last._fields == ("auc", "lower", "upper")


def test_one_label_alone_has_no_area() -> None:
    _, values, _ = _batches(lambda labels, predictions, _: _METRICS.streaming_dynamic_auc(labels, predictions), [[1] * 6] * 3)
    assert values == [0.0] * 3


@pytest.mark.parametrize("name", ["streaming_dynamic_auc", "auc_with_confidence_intervals"])
def test_what_the_metrics_do_not_take_is_told(name: str) -> None:
    metric = getattr(_METRICS, name)
    with pytest.raises(ValueError, match=r"Shapes \(\d,\) and \(\d,\) are incompatible"):
        metric(tf.constant([1, 0, 1]), tf.constant([0.1, 0.2]))
    _, update = metric(tf.constant([2, 0]), tf.constant([0.1, 0.2]))
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        with pytest.raises(tf.errors.InvalidArgumentError, match="labels must be 0 or 1, at least one is >1"):
            session.run(update)
        assert [len(each) for each in session.run(tf.local_variables())] == [0] * len(tf.local_variables())


def test_curves_and_levels_are_checked() -> None:
    with pytest.raises(ValueError, match="curve must be either ROC or PR, x unknown"):
        _METRICS.streaming_dynamic_auc([1, 0], [0.1, 0.2], "x")
    with pytest.raises(ValueError, match=r"alpha must be between 0 and 1; currently 1\.00"):
        _METRICS.auc_with_confidence_intervals([1, 0], [0.1, 0.2], alpha=1.0)


def test_predictions_may_be_doubles_and_weights_one_number() -> None:
    one, _ = _METRICS.auc_with_confidence_intervals(
        tf.constant([1, 0, 1]), tf.constant([0.9, 0.2, 0.1], tf.float64), 2.0, updates_collections=["updates"]
    )
    [update] = tf.get_collection("updates")
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(update)
        assert session.run(one.auc) == pytest.approx(0.5, abs=1e-6)


def test_results_have_tensorflows_names() -> None:
    area, update = _METRICS.streaming_dynamic_auc([1, 0], [0.1, 0.2])
    assert (area.name, update.name) == ("dynamic_auc/cond/Merge:0", "dynamic_auc/group_deps")
    data, updated = _METRICS.auc_with_confidence_intervals([1, 0], [0.1, 0.2], name="mine")
    assert [each.name for each in (*data, updated)] == [
        "mine/cond_1/Merge:0",
        "mine/cond_1/Merge_1:0",
        "mine/cond_1/Merge_2:0",
        "mine/cond/Merge:0",
    ]
