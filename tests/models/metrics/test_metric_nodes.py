"""Metrics have as many nodes as TensorFlow 1.15's, and its names: random nodes behind them get its seeds."""

from __future__ import annotations

import pytest

import weft as tf

metrics, contributed = tf.metrics, tf.contrib.metrics


def floats(*shape):
    return tf.placeholder(tf.float32, shape)


def longs(*shape):
    return tf.placeholder(tf.int64, shape)


def bools(*shape):
    return tf.placeholder(tf.bool, shape)


def rows():
    return tf.SparseTensor(longs(None, 2), longs(None), longs(2))


# What is built, and the seed that TensorFlow 1.15.5 gives a random node behind it.
SEEDS = {
    "accuracy of weights of any rank": (lambda: metrics.accuracy(floats(None), floats(None), tf.placeholder(tf.float32)), 172),
    "root_mean_squared_error of any rank": (
        lambda: metrics.root_mean_squared_error(tf.placeholder(tf.float32), tf.placeholder(tf.float32)),
        77,
    ),
    "mean_relative_error": (lambda: metrics.mean_relative_error(floats(None), floats(None), floats(None)), 33),
    "auc": (lambda: metrics.auc(floats(None), floats(None)), 180),
    "auc of a known size": (lambda: metrics.auc(floats(4), floats(4)), 174),
    "auc of a size, weighted": (lambda: metrics.auc(bools(4), floats(4), floats(4)), 182),
    "auc weighted": (lambda: metrics.auc(floats(None), floats(None), floats(None)), 256),
    "auc weighted by a number": (lambda: metrics.auc(floats(None), floats(None), 2.0), 198),
    "auc of PR": (lambda: metrics.auc(bools(None), floats(None), curve="PR"), 183),
    "auc of PR, carefully": (
        lambda: metrics.auc(bools(None), floats(None), curve="PR", summation_method="careful_interpolation"),
        277,
    ),
    "true_positives": (lambda: metrics.true_positives(floats(None), floats(None)), 22),
    "true_positives weighted": (lambda: metrics.true_positives(floats(None), floats(None), floats(None)), 30),
    "precision": (lambda: metrics.precision(floats(None), floats(None)), 51),
    "recall weighted": (lambda: metrics.recall(bools(None), bools(None), floats(None)), 64),
    "precision_at_thresholds": (lambda: metrics.precision_at_thresholds(bools(None), floats(None), [0.2, 0.5]), 102),
    "false_negatives_at_thresholds": (
        lambda: metrics.false_negatives_at_thresholds(bools(4), floats(4), [0.2, 0.5], floats(4)),
        86,
    ),
    "sensitivity_at_specificity": (lambda: metrics.sensitivity_at_specificity(bools(4), floats(4), 0.5), 171),
    "specificity_at_sensitivity": (lambda: metrics.specificity_at_sensitivity(bools(4), floats(4), 0.5), 189),
    "mean_iou": (lambda: metrics.mean_iou(longs(None, 3), longs(None, 3), 3), 146),
    "mean_iou of int32, weighted": (
        lambda: metrics.mean_iou(*(tf.placeholder(tf.int32, [4]) for _ in "lp"), 3, floats(4)),
        143,
    ),
    "mean_per_class_accuracy": (lambda: metrics.mean_per_class_accuracy(longs(None), longs(None), 3), 31),
    "mean_per_class_accuracy of matrices": (
        lambda: metrics.mean_per_class_accuracy(longs(None, 3), longs(None, 3), 3, floats(None, 3)),
        40,
    ),
    "precision_at_k": (lambda: metrics.precision_at_k(longs(None, 1), floats(None, 6), 2), 38),
    "precision_at_k of one label each": (lambda: metrics.precision_at_k(longs(None), floats(None, 6), 2), 40),
    "precision_at_k of a class": (lambda: metrics.precision_at_k(longs(None, 1), floats(None, 6), 2, class_id=1), 122),
    "recall_at_k weighted": (lambda: metrics.recall_at_k(longs(None, 1), floats(None, 6), 2, weights=floats(None)), 169),
    "recall_at_k weighted by a number": (lambda: metrics.recall_at_k(longs(None, 1), floats(None, 6), 2, weights=2.0), 172),
    "recall_at_k of sparse labels": (lambda: metrics.recall_at_k(rows(), floats(None, 6), 2), 63),
    "recall_at_k of a class in sparse labels": (lambda: metrics.recall_at_k(rows(), floats(None, 6), 2, class_id=1), 125),
    "recall_at_top_k": (lambda: metrics.recall_at_top_k(longs(None, 1), longs(None, 2)), 35),
    "average_precision_at_k": (lambda: metrics.average_precision_at_k(longs(None, 1), floats(None, 6), 2), 98),
    "average_precision_at_k weighted": (
        lambda: metrics.average_precision_at_k(longs(None, 1), floats(None, 6), 2, floats(None)),
        171,
    ),
    "average_precision_at_k of sparse labels": (lambda: metrics.average_precision_at_k(rows(), floats(None, 6), 2), 118),
    "cohen_kappa": (lambda: contributed.cohen_kappa(longs(None), longs(None), 3), 164),
    "count": (lambda: contributed.count(floats(None)), 12),
    "pearson_correlation weighted": (
        lambda: contributed.streaming_pearson_correlation(floats(None), floats(None), floats(None)),
        480,
    ),
    "curve_points": (lambda: contributed.streaming_curve_points(bools(None), floats(None)), 77),
    "precision_at_recall": (lambda: contributed.precision_at_recall(bools(None), floats(None), 0.5), 141),
    "recall_at_precision": (lambda: contributed.recall_at_precision(bools(None), floats(None), 0.5), 127),
    "recall_at_precision, strictly": (
        lambda: contributed.recall_at_precision(bools(None), floats(None), 0.5, strict_mode=True),
        167,
    ),
    "dynamic_auc": (lambda: contributed.streaming_dynamic_auc(longs(None), floats(None)), 300),
    "dynamic_auc of PR, weighted": (
        lambda: contributed.streaming_dynamic_auc(bools(4), floats(4), "PR", weights=floats(4)),
        374,
    ),
    "auc_with_confidence_intervals": (lambda: contributed.auc_with_confidence_intervals(longs(None), floats(None)), 711),
    "auc_with_confidence_intervals of any rank, weighted": (
        lambda: contributed.auc_with_confidence_intervals(
            *(tf.placeholder(tf.float32) for _ in "lpw"), logit_transformation=False
        ),
        743,
    ),
    "precision_recall_at_equal_thresholds": (
        lambda: contributed.precision_recall_at_equal_thresholds(bools(None), floats(None)),
        113,
    ),
    "false_positive_rate": (lambda: contributed.streaming_false_positive_rate(floats(None), floats(None)), 51),
    "false_positive_rate_at_thresholds": (
        lambda: contributed.streaming_false_positive_rate_at_thresholds(floats(None), bools(None), [0.3]),
        55,
    ),
}


@pytest.mark.parametrize("name", SEEDS)
def test_a_random_node_behind_a_metric_gets_tensorflows_seed(name: str) -> None:
    build, seed = SEEDS[name]
    tf.set_random_seed(5)
    build()
    tf.random_uniform([1])
    *_, node = (each for each in tf.get_default_graph().get_operations() if each.type == "RandomUniform")
    assert node.get_attr("seed2") == seed


def names_of(made):
    return [each.name for each in made]


def test_results_and_variables_have_tensorflows_names() -> None:
    assert names_of(metrics.mean_iou(longs(4), longs(4), 3)) == ["mean_iou/Select_1:0", "mean_iou/AssignAdd:0"]
    careful = metrics.auc(bools(4), floats(4), curve="PR", summation_method="careful_interpolation")
    assert names_of(careful) == ["auc/interpolate_pr_auc:0", "auc/interpolate_pr_auc_1:0"]
    ranked = metrics.average_precision_at_k(longs(None, 1), floats(None, 6), 2)
    assert names_of(ranked) == ["average_precision_at_2/mean:0", "average_precision_at_2:0"]
    assert names_of(contributed.count(floats(4))) == ["count/Identity:0", "count/AssignAdd:0"]
    assert names_of(tf.local_variables()[-3:]) == [
        "average_precision_at_2/max_1:0",
        "average_precision_at_2/total:0",
        "count/count:0",
    ]
    contributed.f1_score(bools(4), floats(4))
    last = ["f1/true_positives:0", "f1/false_negatives:0", "f1/false_positives:0"]
    assert names_of(tf.local_variables()[-3:]) == last


def after(update: tf.Tensor, value: tf.Tensor) -> object:
    with tf.Session() as sess:
        sess.run(tf.local_variables_initializer())
        sess.run(update)
        return sess.run(value)


def test_classes_that_are_chosen_twice_count_once() -> None:
    value, update = metrics.precision_at_top_k(tf.constant([[1]], tf.int64), tf.constant([[1, 2, 2]], tf.int64))
    assert after(update, value) == 0.5


def test_dense_labels_that_are_no_class_are_none() -> None:
    labels = tf.constant([[0, 7]], tf.int64)
    value, update = metrics.average_precision_at_k(labels, tf.constant([[0.9, 0.5, 0.1]]), 2)
    assert after(update, value) == 1.0


def test_sparse_labels_that_are_no_class_count_as_not_found() -> None:
    sparse = tf.SparseTensor([[0, 0], [0, 1]], tf.constant([0, 7], tf.int64), [1, 2])
    value, update = metrics.average_precision_at_k(sparse, tf.constant([[0.9, 0.5, 0.1]]), 2)
    assert after(update, value) == 0.5


def test_the_last_of_thresholds_that_are_as_near_is_taken() -> None:
    value, update = metrics.specificity_at_sensitivity(
        [True, False, False], tf.constant([0.9, 0.2, 0.6]), 1.0, num_thresholds=11
    )
    assert after(update, value) == 1.0


def test_weights_of_decisions_have_the_rank_of_the_decisions() -> None:
    with pytest.raises(ValueError, match="must have rank in"):
        metrics.true_positives(floats(4, 3), floats(4, 3), floats(4, 3, 1, 1))


def test_points_of_a_curve_are_of_any_predictions() -> None:
    points, update = contributed.streaming_curve_points([True, False], tf.constant([2.0, -1.0]), num_thresholds=3)
    assert after(update, points).tolist() == [[0.0, 1.0]] * 3
