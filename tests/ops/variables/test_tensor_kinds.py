"""What standalone Keras asks of TensorFlow's inner names: what is a tensor, and on which device nodes are made."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from weft.python.framework import ops

import weft as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def test_tensors_of_all_kinds_are_tensor_like_and_variables_are_dense() -> None:
    tensor, variable = tf.constant(1.0), tf.Variable(1.0)
    sparse = tf.SparseTensor([[0]], [1.0], [1])
    assert [isinstance(each, ops._TensorLike) for each in (tensor, sparse, variable, 1.0)] == [True, True, False, False]
    assert [ops.is_dense_tensor_like(each) for each in (tensor, variable, sparse, 1.0)] == [True, True, False, False]
    assert ops._as_graph_element(variable).name == "Variable:0"
    assert ops._as_graph_element(1.0) is None


def test_a_registered_type_is_dense() -> None:
    class Named:
        name = property(lambda self: "n")
        dtype = property(lambda self: tf.float32)

    class Nameless:
        dtype = property(lambda self: tf.float32)

    assert not ops.is_dense_tensor_like(Named())
    ops.register_dense_tensor_like_type(Named)
    assert ops.is_dense_tensor_like(Named())
    with pytest.raises(TypeError, match="Nameless does not define a `name` property"):
        ops.register_dense_tensor_like_type(Nameless)


def test_a_graph_tells_the_device_on_which_nodes_are_made() -> None:
    class Told:
        device = None

        def _set_device(self, device: object) -> None:
            self.device = str(device)

    def told() -> str | None:
        op = Told()
        tf.get_default_graph()._apply_device_functions(op)
        return op.device

    assert told() is None
    with tf.device("/job:ps"), tf.device("/device:CPU:0"):
        assert told() == "/job:ps/device:CPU:0"
        with tf.device(lambda op: "/device:CPU:1"):
            assert told() == "/job:ps/device:CPU:1"


def test_a_shape_has_its_dimensions_under_the_inner_name() -> None:
    assert [each.value for each in tf.TensorShape([None, 3])._dims] == [None, 3]
    assert tf.TensorShape(None)._dims is None
