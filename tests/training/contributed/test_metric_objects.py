"""Metrics as objects, by the names of tf.contrib.eager.metrics. The numbers of nodes are TensorFlow 1.15.5's."""

from __future__ import annotations

import pytest

import weft as tf

metrics = tf.contrib.eager.metrics

# What is called on what, the value behind two calls, and the seed that TensorFlow gives a random node behind the result.
CALLS = {
    "mean": (metrics.Mean, lambda: (tf.constant([1.0, 2.0, 6.0]),), 3.0, 17),
    "weighted mean": (metrics.Mean, lambda: (tf.constant([1.0, 2.0, 6.0]), tf.constant([1.0, 0.0, 1.0])), 3.5, 18),
    "mean of numbers": (lambda: metrics.Mean("loss", tf.float32, use_global_variables=True), lambda: (3.0,), 3.0, 16),
    "accuracy": (metrics.Accuracy, lambda: (tf.constant([1, 2, 3]), tf.constant([1, 2, 0])), 2 / 3, 18),
    "weighted accuracy": (
        lambda: metrics.Accuracy("a b"),
        lambda: (tf.constant([1, 2, 3]), tf.constant([1, 2, 0]), tf.constant([1.0, 2.0, 1.0])),
        0.75,
        19,
    ),
    "accuracy of classes": (
        metrics.CategoricalAccuracy,
        lambda: (tf.constant([[0.0, 1.0], [1.0, 0.0]]), tf.constant([[0.2, 0.8], [0.3, 0.7]])),
        0.5,
        18,
    ),
    "accuracy above a threshold": (
        lambda: metrics.BinaryAccuracy(0.5),
        lambda: (tf.constant([0.0, 1.0]), tf.constant([0.5, 0.3])),
        0.5,
        18,
    ),
    "accuracy of numbers of classes": (
        metrics.SparseAccuracy,
        lambda: (tf.constant([0, 1]), tf.constant([[0.2, 0.8], [0.3, 0.7]])),
        0.5,
        18,
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_a_metric_sums_up_what_it_is_called_on(name: str) -> None:
    make, batch, value, seed = CALLS[name]
    tf.set_random_seed(1)
    metric = make()
    update = metric(*batch())
    result = metric.result()
    assert tf.get_seed(None)[1] == seed
    assert result.op.name == "truediv"
    with tf.Session() as session:
        session.run(metric.init_variables())
        session.run(update)
        session.run(update)
        assert session.run(result) == pytest.approx(value)


def test_variables_are_local_ones_of_the_metrics_name() -> None:
    metric = metrics.Accuracy("a b")
    assert metric.variables == []
    update = metric(tf.constant([1, 2]), tf.constant([1, 0]))
    assert [each.name for each in update] == ["StatefulPartitionedCall:0", "StatefulPartitionedCall:1"]
    assert metric.variables == tf.local_variables() == tf.get_collection(tf.GraphKeys.METRIC_VARIABLES)
    assert [each.name for each in metric.variables] == ["a_b/numer:0", "a_b/denom:0"]
    assert (metric.name, repr(metric)) == ("a b", "<tf.contrib.eager.metrics.Accuracy 'a b'>")
    assert not tf.trainable_variables()


def test_metrics_of_one_name_share_a_scope_and_are_refused() -> None:
    metrics.Mean()(1.0)
    with pytest.raises(ValueError, match="Variable Mean/numer already exists"):
        metrics.Mean()(1.0)


def test_shapes_and_other_kinds_are_refused() -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match="Shapes of labels and predictions are unequal"):
        metrics.Accuracy()(tf.constant([1, 2, 3]), tf.constant([1, 2]))
    mean, other = metrics.Mean(), metrics.Mean("other")
    mean(1.0)
    other(1.0)
    with pytest.raises(ValueError, match="variables in the same order"):
        mean.aggregate([other])
    with pytest.raises(TypeError, match="must be the same type"):
        mean.aggregate([metrics.SparseAccuracy()])
    with pytest.raises(RuntimeError, match="except in build"):
        mean.add_variable("more")


class Total(metrics.Metric):
    def build(self, values: tf.Tensor) -> None:
        self.total = self.add_variable("total", (), tf.float32, tf.zeros_initializer)

    def call(self, values: tf.Tensor) -> tf.Tensor:
        self.total.assign_add(tf.reduce_sum(values))
        return values

    def result(self) -> tf.Tensor:
        return self.total.value()


def test_a_program_has_metrics_of_its_own_that_a_checkpoint_saves(tmp_path) -> None:
    metric = Total()
    update = metric(tf.constant([1.0, 2.0]))
    checkpoint = tf.train.Checkpoint(metric=metric)
    with tf.Session() as session:
        session.run(metric.init_variables())
        session.run(update)
        path = checkpoint.save(str(tmp_path / "model"), session=session)
        session.run(update)
        assert session.run(metric.value()) == 6.0
        checkpoint.restore(path).run_restore_ops(session)
        assert session.run(metric.result()) == 3.0
    saved = [name for name, _ in tf.train.list_variables(path)]
    assert "metric/total/.ATTRIBUTES/VARIABLE_VALUE" in saved


def test_what_a_subclass_lacks_is_told() -> None:
    for wrong, word in ((lambda: metrics.Metric("a")(1.0), "build"), (lambda: metrics.Metric("b").result(), "result")):
        with pytest.raises(NotImplementedError, match=rf"Metrics must define a {word}\(\) member function"):
            wrong()
