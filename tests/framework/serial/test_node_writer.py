"""Nodes as they are written for TensorFlow."""

from __future__ import annotations

import weft as tf


def test_what_takes_a_read_that_waits_for_an_update_waits_for_it_too() -> None:
    step = tf.get_variable("step", initializer=0, use_resource=False)
    with tf.control_dependencies([step.assign_add(1, name="update").op]):
        read = step.read_value()
    tf.cast(read, tf.float32, name="late")
    tf.cast(step, tf.float32, name="early")
    inputs = {node.name: list(node.input) for node in tf.get_default_graph().as_graph_def().node}
    assert inputs["late"] == ["read", "^update"]
    assert inputs["early"] == ["step/read"]
