"""Tensors and operations as programs hold them."""

from __future__ import annotations

import pytest

import weft as tf


def test_programs_hang_attributes_of_their_own_on_tensors_and_operations() -> None:
    tensor = tf.constant(1.0)
    for holder in (tensor, tensor.op):
        vars(holder)["scope"] = "conv"
        assert getattr(holder, "scope") == "conv"  # noqa: B009


def test_a_tensor_is_made_of_an_operation() -> None:
    with pytest.raises(TypeError, match="op needs to be an Operation: 3"):
        tf.Tensor(3, 0, tf.float32)  # type: ignore[arg-type]


def test_slices_are_negated():
    slices = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 3]))
    with tf.Session() as session:
        assert session.run((-slices).values).tolist() == [-1.0, -2.0]
    assert (-slices).indices is slices.indices


def test_a_constants_value_is_shown_as_its_proto() -> None:
    value = tf.constant([[1, 2]]).op.get_attr("value")
    assert (value.dtype, tf.make_ndarray(value).tolist()) == (tf.int32.as_datatype_enum, [[1, 2]])


def test_a_node_def_has_the_attributes_that_the_op_had_in_tensorflow_1() -> None:
    pooled = tf.nn.max_pool(tf.zeros([1, 4, 4, 1]), 2, 2, "VALID")
    assert sorted(pooled.op.node_def.attr) == ["T", "data_format", "ksize", "padding", "strides"]
    handle = tf.get_variable("resource", [2], use_resource=True).handle
    assert not {"debug_name", "allowed_devices"} & set(handle.op.node_def.attr)


def test_an_input_that_is_no_tensor_is_named() -> None:
    with pytest.raises(ValueError, match=r"dense tensor: \[\[1, 2\], \[3\]\] - got shape \[2\], but wanted \[2, 2\]"):
        tf.constant([[1, 2], [3]])
    with pytest.raises(TypeError, match="Expected DataType for argument 'dtype' not 'floa'"):
        tf.placeholder("floa")
    with pytest.raises(TypeError, match="Error converting shape to a TensorShape: A string has ambiguous TensorShape"):
        tf.placeholder(tf.float32, "3")


def test_an_operation_is_printed_with_its_attributes_by_name() -> None:
    told = str(tf.placeholder(tf.float32, [None, 2], name="x").op)
    assert told.startswith('name: "x"\nop: "Placeholder"\nattr {\n  key: "dtype"\n')
    assert told.index('key: "dtype"') < told.index('key: "shape"')


def test_programs_rewire_an_input_by_tensorflows_name() -> None:
    x, y = tf.constant(2.0), tf.constant(3.0)
    square = tf.square(x)
    square.op._update_input(0, y)
    assert list(square.op.inputs) == [y]
    assert x.consumers() == []
    with tf.Session() as session:
        assert session.run(square) == 9.0


def test_an_input_that_cannot_be_is_refused() -> None:
    with tf.Graph().as_default():
        foreign = tf.constant(1.0)
    square = tf.square(tf.constant(2.0))
    with pytest.raises(tf.errors.OutOfRangeError, match=r"Input index \[1\] is greater than the number of total inputs \[1\]"):
        square.op._update_input(1, tf.constant(1.0))
    with pytest.raises(ValueError, match="must be from the same graph as 'Square'"):
        square.op._update_input(0, foreign)


def test_a_shape_as_a_tuple() -> None:
    shapes = [tf.constant(1), tf.constant([[1, 2]]), tf.placeholder(tf.float32, [None, 2]), tf.placeholder(tf.float32)]
    assert [each._shape_tuple() for each in shapes] == [(), (1, 2), (None, 2), None]
