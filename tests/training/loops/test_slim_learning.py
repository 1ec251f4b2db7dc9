"""slim.learning: training in one call."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import weft as tf

learning = tf.contrib.slim.learning


def least_squares(**options: Any) -> Any:
    """The train op of a line through two points; expected losses in this file are TensorFlow 1.15.5's."""
    x, y = tf.constant([[1.0, 2.0], [3.0, 4.0]]), tf.constant([[1.0], [0.0]])
    w = tf.get_variable("w", [2, 1], initializer=tf.ones_initializer())
    b = tf.get_variable("b", [1], initializer=tf.zeros_initializer())
    loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    return learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.01), **options)


CHANGED = {"clip_gradient_norm": 1.0, "summarize_gradients": True, "gradient_multipliers": {"w": 2.0}}


def test_training_ends_with_a_checkpoint_from_which_the_next_goes_on(tmp_path: Path) -> None:
    for steps, loss in ((5, 24.600695), (9, 22.775436)):
        with tf.Graph().as_default() as graph:
            train_op = least_squares(**CHANGED)
        traced = 3 if steps == 9 else None
        options = {"number_of_steps": steps, "trace_every_n_steps": traced, "save_interval_secs": 0}
        found = learning.train(train_op, str(tmp_path), graph=graph, **options)
        assert found == pytest.approx(loss, rel=1e-5)
        assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / f"model.ckpt-{steps}")
    (trace,) = tmp_path.glob("tf_trace-*.json")
    assert json.loads(trace.read_text())["traceEvents"]


def test_the_train_op_has_tensorflows_names_and_joins_its_collection() -> None:
    train_op = least_squares(**CHANGED)
    assert train_op.name == "train_op/control_dependency:0"
    assert tf.get_collection("train_op")[-1] is train_op
    names = [each.op.name for each in tf.get_collection("summaries")]
    assert names == [f"summarize_grads/{v}_gradient{end}" for v in "wb" for end in ("", "_norm")]
    nodes = {op.name for op in tf.get_default_graph().get_operations()}
    assert {"multiply_grads/mul", "clip_grads/clip_by_norm", "clip_grads/clip_by_norm_1"} <= nodes


def test_slims_summaries_of_gradients_have_a_name_below_the_variable() -> None:
    v, w = tf.get_variable("v", [2]), tf.get_variable("w", [])
    made = learning.add_gradients_summaries([(v * 2.0, v), (None, w)])
    assert [each.op.name for each in made] == ["v/gradient", "v/gradient_norm"]


def test_gradients_are_multiplied_and_clipped_one_by_one() -> None:
    dense, table = tf.get_variable("dense", [2]), tf.get_variable("table", [3, 1])
    slices = tf.IndexedSlices(tf.constant([[3.0], [4.0]]), tf.constant([0, 2]))
    pairs = [(tf.constant([0.3, 0.4]), dense), (slices, table)]
    multiplied = learning.multiply_gradients(pairs, {dense: 4.0, "table": tf.constant(0.5)})
    clipped = learning.clip_gradient_norms([*multiplied, (None, dense)], 1.0)
    with tf.Session() as session:
        values = session.run([multiplied[0][0], multiplied[1][0].values, clipped[0][0], clipped[1][0].values])
    for value, wanted in zip(values, ([1.2, 1.6], [[1.5], [2.0]], [0.6, 0.8], [[0.6], [0.8]]), strict=True):
        np.testing.assert_allclose(value, wanted, rtol=1e-6)
    assert clipped[2] == (None, dense)


def test_update_ops_run_with_each_step_and_init_fn_before_the_first() -> None:
    v, count = tf.get_variable("v", initializer=3.0), tf.get_variable("count", initializer=0.0, trainable=False)
    tf.add_to_collection(tf.GraphKeys.UPDATE_OPS, tf.assign_add(count, 1.0))
    preset = v.assign(10.0)
    train_op = learning.create_train_op(v * 2.0, tf.train.GradientDescentOptimizer(0.5))
    seen: list[Any] = []

    def step(session: Any, op: Any, global_step: Any, kwargs: dict[str, Any]) -> Any:
        done = learning.train_step(session, op, global_step, kwargs)
        seen.append((session.run([count, v]), bool(done[1]), sorted(kwargs)))
        return done

    learning.train(train_op, None, step, number_of_steps=2, init_fn=lambda session: session.run(preset))
    keys = ["should_log", "should_stop", "summary_writer"]
    assert seen == [([1.0, 9.0], False, keys), ([2.0, 8.0], True, keys)]


def test_the_end_of_the_input_ends_training(tmp_path: Path) -> None:
    x = tf.train.limit_epochs(tf.constant(1.0), 3)
    train_op = learning.create_train_op(tf.get_variable("v", initializer=3.0) * x, tf.train.GradientDescentOptimizer(0.1))
    assert learning.train(train_op, str(tmp_path), number_of_steps=40, save_interval_secs=0) is not None
    assert tf.train.latest_checkpoint(str(tmp_path)) == str(tmp_path / "model.ckpt-3")


def test_a_loss_that_is_no_number_ends_training() -> None:
    loss = tf.log(tf.get_variable("v", initializer=-3.0))
    train_op = learning.create_train_op(loss, tf.train.GradientDescentOptimizer(0.1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf or nan"):
        learning.train(train_op, None, number_of_steps=4)


def test_a_session_that_was_aborted_is_made_again() -> None:
    train_op = least_squares()
    failures = [tf.errors.AbortedError(None, None, "restarted")]

    def step(*arguments: Any) -> Any:
        if failures:
            raise failures.pop()
        return learning.train_step(*arguments)

    assert learning.train(train_op, None, step, number_of_steps=3) == pytest.approx(6.30731, rel=1e-5)


def test_replicas_train_in_step(tmp_path: Path) -> None:
    v = tf.get_variable("v", initializer=3.0)
    optimizer = tf.train.SyncReplicasOptimizer(tf.train.GradientDescentOptimizer(0.1), 1, total_num_replicas=1)
    train_op = learning.create_train_op(tf.square(v), optimizer)
    learning.train(train_op, str(tmp_path), number_of_steps=3, sync_optimizer=optimizer, save_interval_secs=0)
    reader = tf.train.NewCheckpointReader(tf.train.latest_checkpoint(str(tmp_path)))
    assert reader.get_tensor("v") == pytest.approx(3.0 * 0.8**3, rel=1e-5)
    assert reader.get_tensor("global_step") == 3


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ({"summary_op": None}, "Cannot provide summary_op because logdir=None"),
        ({"saver": object()}, "Cannot provide saver because logdir=None"),
        ({"trace_every_n_steps": 3}, "Cannot provide trace_every_n_steps because logdir=None"),
        ({"number_of_steps": 0}, "`number_of_steps` must be either None or a positive number."),
        ({"sync_optimizer": object()}, "must be a tf.train.SyncReplicasOptimizer"),
        ({"sync_optimizer": object(), "startup_delay_steps": 1}, "startup_delay_steps must be zero"),
        ({"train_op": None}, "train_op cannot be None."),
    ],
)
def test_arguments_that_exclude_each_other_are_refused(arguments: dict[str, Any], text: str) -> None:
    with pytest.raises(ValueError, match=text):
        learning.train(**{"train_op": tf.constant(1.0), "logdir": None, **arguments})


def test_nothing_to_train_is_refused() -> None:
    fixed = tf.get_variable("fixed", [], trainable=False)
    optimizer = tf.train.GradientDescentOptimizer(0.1)
    with pytest.raises(AssertionError, match="no variable to train"):
        learning.create_train_op(fixed * 1.0, optimizer)
    with pytest.raises(AssertionError, match="'fixed' is not trainable"):
        learning.create_train_op(fixed * 1.0, optimizer, variables_to_train=[fixed])
    for pairs, factors, text in (((), {"a": 1}, "must be a list"), ([], {}, "is empty"), ([], [1], "must be a dict"),
                                 ([(None, fixed)], {fixed: 1.0}, "`None` gradient")):  # fmt: skip
        with pytest.raises(ValueError, match=text):
            learning.multiply_gradients(pairs, factors)
