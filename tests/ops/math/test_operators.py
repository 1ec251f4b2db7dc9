"""Python's operators on tensors."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as graph:
        yield graph


def _made(graph: tf.Graph) -> list[tuple[str, str]]:
    return [(op.name, op.type) for op in graph.get_operations() if op.type != "Placeholder"]


@pytest.mark.parametrize(
    ("operate", "made"),
    [
        (lambda x: x + 1, [("add/y", "Const"), ("add", "AddV2")]),
        (lambda x: 1 - x, [("sub/x", "Const"), ("sub", "Sub")]),
        (lambda x: x * x, [("mul", "Mul")]),
        (lambda x: x / 2, [("truediv/y", "Const"), ("truediv", "RealDiv")]),
        (lambda x: x // 2, [("floordiv/y", "Const"), ("floordiv", "FloorDiv")]),
        (lambda x: x % 2, [("mod/y", "Const"), ("mod", "FloorMod")]),
        (lambda x: x**2, [("pow/y", "Const"), ("pow", "Pow")]),
        (lambda x: -x, [("Neg", "Neg")]),
        (abs, [("Abs", "Abs")]),
        (lambda x: x < 1, [("Less/y", "Const"), ("Less", "Less")]),
        (lambda x: x >= 1, [("GreaterEqual/y", "Const"), ("GreaterEqual", "GreaterEqual")]),
    ],
)
def test_operator_names_its_nodes_as_tensorflow_does(graph: tf.Graph, operate: Any, made: Any) -> None:
    operate(tf.placeholder(tf.float32, [2]))
    assert _made(graph) == made


def test_division_of_integers_casts_to_float64_in_its_scope(graph: tf.Graph) -> None:
    result = tf.placeholder(tf.int32, [2]) / 2
    assert result.dtype is tf.float64
    assert _made(graph)[1:] == [("truediv/Cast", "Cast"), ("truediv/Cast_1", "Cast"), ("truediv", "RealDiv")]


def test_division_of_short_integers_casts_to_float32() -> None:
    assert (tf.placeholder(tf.int16, [2]) / 2).dtype is tf.float32


def test_exclusive_or_of_booleans_is_one_scope(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.bool, [2])
    assert (x ^ True).name == "xor:0"
    assert all(name.startswith("xor") for name, _ in _made(graph))


def test_other_side_takes_the_type_of_the_tensor() -> None:
    x = tf.placeholder(tf.float64, [2])
    for result in (x + 1, 1 + x, x * np.float32(2), np.arange(2) - x, operator.add([1, 2], x)):
        assert result.dtype is tf.float64


def test_array_on_the_left_leaves_the_operation_to_the_tensor() -> None:
    result = np.ones(2, np.float32) + tf.placeholder(tf.float32, [2])
    assert isinstance(result, tf.Tensor)


def test_float_beside_an_integer_tensor_is_a_type_error() -> None:
    with pytest.raises(TypeError, match="has type float32 that does not match type int32"):
        tf.placeholder(tf.int32) + 1.5


def test_tensors_of_different_types_are_a_type_error() -> None:
    with pytest.raises(TypeError, match="that does not match type float32 of argument 'x'"):
        tf.placeholder(tf.float32) + tf.placeholder(tf.int32)
    with pytest.raises(TypeError, match="x and y must have the same dtype"):
        tf.placeholder(tf.float32) / tf.placeholder(tf.int32)


def test_shapes_that_do_not_broadcast_are_a_value_error() -> None:
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 3 and 4"):
        tf.placeholder(tf.float32, [2, 3]) + tf.placeholder(tf.float32, [2, 4])


def test_equality_is_identity() -> None:
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    assert x == x
    assert x != y


def test_object_with_its_own_reflected_operator_is_asked() -> None:
    class Other:
        def __radd__(self, tensor: Any) -> str:
            return "mine"

    assert tf.placeholder(tf.float32) + Other() == "mine"
