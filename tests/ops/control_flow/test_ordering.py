from __future__ import annotations

import pytest

import weft as tf
from weft.framework.graphs.graph import Graph


def test_a_group_of_one_device_is_one_node() -> None:
    with Graph().as_default() as graph:
        x, y = tf.constant(1, name="x"), tf.constant(2, name="y")
        done = tf.group(x, [y])
        assert (done.type, done.name) == ("NoOp", "group_deps")
        assert [op.name for op in done.control_inputs] == ["x", "y"]
        assert len(graph.get_operations()) == 3


def test_a_group_gathers_device_by_device() -> None:
    with Graph().as_default():
        with tf.device("/job:ps"):
            a, b = tf.constant(1), tf.constant(2)
        with tf.device("/job:worker"):
            c = tf.constant(3)
        done = tf.group(a, b, c, name="g")
        assert [op.name for op in done.control_inputs] == ["g/NoOp", "g/NoOp_1"]
        assert [op.device for op in done.control_inputs] == ["/job:ps", "/job:worker"]


def test_groups_take_operations_and_tensors_only() -> None:
    with Graph().as_default(), pytest.raises(TypeError, match="expected Tensor arguments not"):
        tf.group(1)


def test_a_tuple_waits_for_all_of_its_tensors() -> None:
    with Graph().as_default():
        x, y = tf.constant(1, name="x"), tf.constant(2, name="y")
        first, missing, second = tf.tuple([x, None, y])
        assert missing is None
        assert (first.name, second.name) == ("tuple/control_dependency:0", "tuple/control_dependency_1:0")
        assert [op.name for op in first.op.control_inputs] == ["tuple/group_deps"]
        assert first.op.colocation_groups() == [b"loc:@x"]


def test_a_tuple_of_nothing_is_refused() -> None:
    with Graph().as_default(), pytest.raises(ValueError, match="Must have at least one Tensor"):
        tf.tuple([None])
