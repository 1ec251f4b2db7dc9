"""What draws random numbers in a branch or a loop is written so that TensorFlow keeps their order."""

from __future__ import annotations

from typing import Any

import weft as tf


def _drawn(_: Any) -> Any:
    return tf.random_uniform([], seed=3)


def _attrs(kind: str) -> Any:
    (node,) = (node for node in tf.get_default_graph().as_graph_def().node if node.op in (kind, f"Stateless{kind}"))
    return node.attr


def test_a_loop_that_draws_is_lowered_and_has_one_iteration_at_a_time() -> None:
    tf.map_fn(_drawn, tf.ones([3]))
    attrs = _attrs("While")
    assert attrs["_lower_using_switch_merge"].b
    assert attrs["parallel_iterations"].i == 1


def test_so_is_one_that_records_and_draws_within_a_branch() -> None:
    weight = tf.Variable(2.0)
    made = tf.map_fn(lambda x: tf.cond(x > 0.0, lambda: x * weight * _drawn(x), lambda: x), tf.ones([3]))
    tf.gradients(made, weight)
    attrs = next(node.attr for node in tf.get_default_graph().as_graph_def().node if node.op == "While")
    assert attrs["_lower_using_switch_merge"].b
    assert attrs["parallel_iterations"].i == 1


def test_a_branch_that_draws_is_lowered() -> None:
    tf.cond(tf.placeholder(tf.bool, []), lambda: _drawn(None), lambda: tf.constant(1.0))
    assert _attrs("If")["_lower_using_switch_merge"].b


def test_a_loop_that_does_not_draw_stays_as_it_was_asked_for() -> None:
    tf.map_fn(lambda x: x * 2.0, tf.ones([3]), parallel_iterations=4)
    attrs = _attrs("While")
    assert "_lower_using_switch_merge" not in attrs
    assert attrs["parallel_iterations"].i == 4


def test_arrays_of_elements_of_a_known_rank_have_it_from_the_beginning() -> None:
    array = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[None, 6])
    _, made = tf.while_loop(lambda i, _: i < 2, lambda i, made: (i + 1, made.write(i, tf.ones([2, 6]))), [0, array])
    stacked = made.stack()
    with tf.Graph().as_default() as again:
        tf.import_graph_def(stacked.graph.as_graph_def(), name="")
        (first,) = (op.outputs[0] for op in again.get_operations() if op.type == "Fill")
        with tf.Session() as session:
            assert [each.shape for each in session.run([first, stacked.name])] == [(0, 0, 6), (2, 2, 6)]
