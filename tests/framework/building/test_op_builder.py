"""A node is built of tensors and values whose types fit its declaration; what does not fit is told while building."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.building import op_builder
from weft.framework.building.graph_functions import inside_function
from weft.framework.registry import op_registry


def one() -> tf.Tensor:
    return tf.constant(1.0)


@pytest.mark.parametrize(
    ("build", "error", "message"),
    [
        (lambda: tf.add(one(), tf.constant(1)), TypeError, "has type int32 that does not match type float32 of argument 'x'"),
        (lambda: tf.add(one(), "x"), TypeError, "Expected float32, got 'x' of type 'str' instead"),
        (lambda: tf.add(tf.constant(1), 1.5), TypeError, "Expected int32, got 1.5 of type 'float' instead"),
        (lambda: one() + None, ValueError, "None values not supported"),
        (lambda: tf.log(tf.constant(1)), TypeError, "has DataType int32 not in list of allowed values"),
        (lambda: tf.logical_and(one(), one()), TypeError, "has type float32 that does not match expected type of bool"),
        (lambda: tf.stack([one(), tf.constant(1)]), TypeError, "don't all match"),
        (lambda: tf.add_n([]), ValueError, "at least one Tensor"),
        (lambda: tf.matmul(tf.ones([2, 3]), tf.ones([2, 3])), ValueError, r"for 'MatMul' \(op: 'MatMul'\) with input shapes: "),
        (lambda: tf.add(tf.ones([2]), tf.ones([3])), ValueError, "Dimensions must be equal, but are 2 and 3 for 'Add'"),
        (lambda: tf.reshape(tf.ones([4]), [3]), ValueError, "Cannot reshape a tensor with 4 elements"),
        (lambda: tf.string_join([1.0]), TypeError, "Expected string, got 1.0"),
    ],
)
def test_a_mistake_is_told_while_building(build: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        build()


def test_an_update_needs_a_variable() -> None:
    with pytest.raises(TypeError, match="requires that input 'ref' be a mutable tensor"):
        op_builder.build(op_registry.lookup("Assign"), [one(), 1.0], {}, None)


def test_constants_of_inputs_are_named_after_node_and_argument() -> None:
    total = tf.add(tf.placeholder(tf.float32), 1.0, name="total")
    assert [tensor.op.name for tensor in total.op.inputs] == ["Placeholder", "total/y"]


def test_a_node_takes_the_name_of_its_type_without_one() -> None:
    assert tf.negative(one()).op.name == "Neg"


def test_an_update_lives_with_its_variable_whatever_the_scope_says() -> None:
    with tf.device("/job:ps/task:1"):
        variable = tf.Variable(1.0, name="v", use_resource=False)
    with tf.device("/job:worker"):
        update = variable.assign_add(1.0)
    assert update.op.device == "/job:ps/task:1"
    assert update.op.colocation_groups() == [b"loc:@v"]


def test_attributes_are_checked() -> None:
    definition = op_registry.lookup("MatMul")
    matrix = tf.ones([2, 2])
    with pytest.raises(TypeError, match="MatMul got an unexpected attribute 'upside_down'"):
        op_builder.build(definition, [matrix, matrix], {"upside_down": True}, None)
    with pytest.raises(TypeError, match="Expected DataType for argument 'dtype' not"):
        tf.placeholder("no type")
    with pytest.raises(TypeError, match=r"attribute 'dtype' .* is needed and was not given"):
        op_builder.build(op_registry.lookup("Placeholder"), [], {}, None)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda x: tf.cumsum(x, exclusive=1), "Expected bool for argument 'exclusive' not 1"),
        (lambda x: tf.cumsum(x, reverse="yes"), "Expected bool for argument 'reverse' not 'yes'"),
        (lambda x: tf.check_numerics(x, None), "'message'"),
        (lambda x: tf.check_numerics(x, 3), "Expected string for argument 'message' not 3"),
        (lambda x: tf.as_string(x, width="2"), "Expected int for argument 'width' not '2'"),
        (lambda x: tf.as_string(x, width=tf.float64), "Expected int for argument 'width' not tf.float64"),
        (lambda x: tf.nn.lrn(tf.ones([1, 2, 2, 1]), bias="1"), "Expected float for argument 'bias' not '1'"),
        (
            lambda x: tf.nn.max_pool(tf.ones([1, 2, 2, 1]), [1, 2, 2, 1], ["1"] * 4, "SAME"),
            "Expected int for argument 'strides'",
        ),
    ],
)
def test_an_attribute_of_another_kind_is_refused(make: Callable[[tf.Tensor], object], message: str) -> None:
    with pytest.raises(TypeError, match=message):
        make(tf.constant([1.0, 2.0]))


def test_attributes_are_brought_to_their_plain_form() -> None:
    matrix = tf.ones([2, 2])
    op = op_builder.build(op_registry.lookup("MatMul"), [matrix, matrix], {"transpose_a": np.bool_(True)}, "m")
    assert op.attrs["transpose_a"] is True
    assert op.get_attr("T") is tf.float32
    assert tf.placeholder("float", [None, tf.Dimension(2)]).op.attrs["shape"] == (None, 2)


@pytest.mark.parametrize(
    "make",
    [
        one,
        lambda: one().op,
        lambda: tf.SparseTensor([[0]], [1.0], [1]),
        lambda: tf.IndexedSlices(tf.ones([1, 2]), tf.constant([0])),
        lambda: tf.get_variable("v", [], use_resource=True),
        lambda: tf.get_variable("v", []),
    ],
)
def test_what_a_name_scope_is_given_settles_its_graph(make: Callable[[], Any]) -> None:
    with tf.Graph().as_default() as graph:
        value = make()
    with tf.Graph().as_default():
        other = one()
        with tf.name_scope("part", values=[value]) as scope:
            assert tf.get_default_graph() is graph
            assert tf.constant(1.0).op.name == f"{scope}Const"
        with pytest.raises(ValueError, match="must be from the same graph as"), tf.name_scope("part", values=[value, other]):
            pass


def test_only_bodies_of_functions_are_inside_of_one() -> None:
    found = [inside_function()]

    def ask(x: tf.Tensor) -> tf.Tensor:
        found.append(inside_function())
        return x

    def branch(x: tf.Tensor) -> tf.Tensor:
        return tf.cond(x > 0, lambda: ask(x), lambda: x)

    branch(tf.constant(1))
    tf.while_loop(lambda i: i < 2, lambda i: ask(i) + 1, [0])
    tf.data.Dataset.range(2).map(branch)
    assert found == [False, False, False, True]
