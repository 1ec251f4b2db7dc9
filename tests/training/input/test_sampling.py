"""Examples taken by chance. What names, shapes, errors and frequencies are was asked of TensorFlow 1.15.5."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import weft as tf

_SAMPLES = tf.contrib.training


def _run(fetches: Any, count: int = 1) -> list[Any]:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        coordinator = tf.train.Coordinator()
        threads = tf.train.start_queue_runners(session, coordinator)
        try:
            return [session.run(fetches) for _ in range(count)]
        finally:
            coordinator.request_stop()
            session.close()
            coordinator.join(threads, stop_grace_period_secs=10)


def _names(tensors: Sequence[Any]) -> list[str]:
    return [each.name for each in tensors]


@pytest.mark.parametrize("many", [False, True])
def test_examples_are_taken_with_the_probability_that_they_are_given(many: bool) -> None:
    tf.set_random_seed(1)
    x = tf.random_uniform([5] if many else [])
    made = _SAMPLES.rejection_sample([x, x * 2], lambda parts: tf.cast(parts[0] > 0.5, tf.float32), 8, enqueue_many=many)
    number = "_1" if many else ""
    assert _names(made) == [f"rejection_sample/batch{number}:0", f"rejection_sample/batch{number}:1"]
    first, second = (np.concatenate(each) for each in zip(*_run(made, 5), strict=True))
    assert (first > 0.5).all()
    assert (second == 2 * first).all()


def test_a_probability_above_one_is_an_error_where_it_is_checked() -> None:
    x = tf.random_uniform([])
    made = _SAMPLES.rejection_sample([x], lambda parts: parts[0] + 5.0, 4, runtime_checks=True)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Condition x <= y did not hold element-wise"):
        _run(made)


@pytest.mark.parametrize(("initial", "many"), [(None, False), ([0.1, 0.9], True)])
def test_classes_come_as_often_as_told(initial: list[float] | None, many: bool, capfd: pytest.CaptureFixture[str]) -> None:
    tf.set_random_seed(2)
    x = tf.random_uniform([4] if many else [])
    data, labels = _SAMPLES.stratified_sample(
        [x, x * 2], tf.cast(x < 0.9, tf.int32), [0.25, 0.75], 8, init_probs=initial, enqueue_many=many
    )
    assert [*_names(data), labels.name] == [f"stratified_sample/batch_1:{number}" for number in range(3)]
    assert _names(tf.global_variables()) == ([] if initial else ["stratified_sample/class_count:0"])
    runs = _run([data, labels], 40)
    # The first ones were drawn, and lay ready, before many classes had been counted.
    found = np.concatenate([each for _, each in runs[20:]])
    assert abs(found.mean() - 0.75) < 0.15
    assert all(((parts[0] < 0.9) == (each == 1)).all() for parts, each in runs)
    # 0.6 of the examples are rejected.
    assert ("Proportion of examples rejected by sampler is high.[1 0.33" in capfd.readouterr().err) or initial is None


@pytest.mark.parametrize(
    ("label", "target", "initial", "text"),
    [
        (0, [0.5, 0.6], None, "Condition x < y did not hold"),
        (0, [0.5, 0.5], [0.5, 0.6], "Condition x < y did not hold"),
        (0, [-0.5, 1.5], None, "Condition x >= 0 did not hold"),
        (0, [0.5, 0.5], [1.0, 0.0], "All classes with zero initial probability must also have zero target probability"),
        (7, [0.5, 0.5], None, "Condition x < y did not hold"),
        (-1, [0.5, 0.5], [0.5, 0.5], "Condition x >= 0 did not hold"),
    ],
)
def test_what_no_sample_can_be_is_an_error(label: int, target: Any, initial: Any, text: str) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        _run(_SAMPLES.stratified_sample([tf.zeros([])], tf.constant(label), target, 4, init_probs=initial))


def test_what_does_not_fit_is_refused_while_it_is_built() -> None:
    with pytest.raises(ValueError, match="Probability parameters must have the same length"):
        _SAMPLES.stratified_sample([tf.zeros([])], tf.constant(0), [0.5, 0.5], 4, init_probs=[0.2, 0.3, 0.5])
    with pytest.raises(ValueError, match="are not compatible"):
        _SAMPLES.stratified_sample([tf.zeros([3])], tf.zeros([2], tf.int32), [0.5, 0.5], 4, enqueue_many=True)
    with pytest.raises(ValueError, match="must have rank at least 1"):
        _SAMPLES.rejection_sample([tf.zeros([])], lambda parts: 1.0, 4, enqueue_many=True)
    with pytest.raises(ValueError, match="must have rank 1"):
        _SAMPLES.resample_at_rate([tf.zeros([2])], tf.zeros([1, 2]))


def test_a_class_that_never_comes_may_be_wanted_never() -> None:
    _, labels = _SAMPLES.stratified_sample([tf.zeros([])], tf.constant(0), [1.0, 0.0], 4, init_probs=[1.0, 0.0])
    assert _run(labels)[0].tolist() == [0, 0, 0, 0]


def test_examples_come_as_often_as_their_rates_say() -> None:
    numbers = np.arange(900)
    rates = np.array([0.0, 1.0, 2.5], np.float32)[numbers % 3]
    made = _SAMPLES.resample_at_rate([tf.constant(numbers), tf.constant(10 * numbers)], tf.constant(rates), seed=4)
    assert _names(made) == ["resample_at_rate/GatherV2:0", "resample_at_rate/GatherV2_1:0"]
    with tf.Session() as session:
        found, beside = session.run(made)
    counts = np.bincount(found, minlength=900).reshape(-1, 3)
    assert np.abs(counts.mean(0) - [0, 1, 2.5]).max() < 0.3
    assert np.abs(counts.var(0) - [0, 1, 2.5]).max() < 0.8
    assert (np.diff(found) >= 0).all()
    assert (beside == 10 * found).all()


def test_weights_count_beside_their_mean_so_far() -> None:
    x, weights = tf.constant([10.0, 20.0, 30.0]), tf.placeholder(tf.float32, [3])
    (made,), rates = _SAMPLES.weighted_resample([x], weights, 2.0, mean_decay=0.5, seed=5)
    assert [made.name, rates.name] == ["weighted_resample/GatherV2_1:0", "weighted_resample/GatherV2:0"]
    assert sorted(_names(tf.global_variables())) == [
        "estimate_mean/estimate_mean/estimated_mean/biased:0", "estimate_mean/estimate_mean/estimated_mean/local_step:0",
        "estimate_mean/estimated_mean:0",
    ]  # fmt: skip
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        first = session.run([made, rates], {weights: [0.0, 3.0, 6.0]})
        assert set(zip(first[0].tolist(), first[1].tolist(), strict=True)) <= {(20.0, 2.0), (30.0, 4.0)}
        # The mean of 3 and 6, of which the later one counts twice.
        second = session.run([made, rates], {weights: [5.0, 5.0, 8.0]})
        assert np.allclose(second[1], [{10.0: 2.0, 20.0: 2.0, 30.0: 3.2}[each] for each in second[0].tolist()])
