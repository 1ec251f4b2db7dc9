from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.graphs.graph import Graph
from weft.testing.op_checks import evaluate


def test_a_list_that_holds_a_tensor_becomes_a_tensor() -> None:
    with Graph().as_default() as graph:
        i = tf.placeholder(tf.int32, [], name="i")
        packed = tf.convert_to_tensor([[i, 1], [2, i]])
        assert packed.name == "packed:0"
        assert packed.shape.as_list() == [2, 2]
        np.testing.assert_array_equal(evaluate([packed], {i: np.int32(7)})[0], [[7, 1], [2, 7]])
        assert "packed/0/1" in [op.name for op in graph.get_operations()]


def test_a_shape_may_mix_tensors_and_numbers() -> None:
    with Graph().as_default():
        i = tf.placeholder(tf.int32, [])
        assert tf.reshape(tf.placeholder(tf.float32), [i, 2]).shape.as_list() == [None, 2]


def test_a_list_of_tensors_of_two_types_is_refused() -> None:
    with Graph().as_default(), pytest.raises(TypeError, match="Cannot convert a list containing a tensor of dtype"):
        tf.convert_to_tensor([tf.constant(1), tf.constant(1.5)])


def test_stacking_numbers_makes_a_constant() -> None:
    with Graph().as_default():
        assert tf.stack([1, 2]).op.type == "Const"
        assert tf.stack([tf.constant(1), 2]).op.type == "Pack"


def test_concat_of_one_tensor_is_an_identity_in_its_scope() -> None:
    with Graph().as_default():
        assert tf.concat([tf.constant([1])], 0).name == "concat/concat:0"
        assert tf.concat([tf.constant([1]), tf.constant([2])], 0).name == "concat_1:0"


def _ones(*shape: int) -> Any:
    return tf.ones(shape)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (lambda: tf.concat([_ones(2, 3), _ones(3, 2)], 0), "Dimension 0 in both shapes must be equal, but are 3 and 2"),
        (lambda: tf.concat([_ones(2, 3), _ones(3)], 0), "Shape must be rank 2 but is rank 1"),
        (lambda: tf.stack([_ones(2, 3), _ones(3)]), "Shapes must be equal rank, but are 2 and 1"),
        (lambda: tf.stack([_ones(3), _ones(3)], 5), r"axis = 5 not in \[-2, 2\)"),
        (lambda: tf.unstack(tf.placeholder(tf.float32)), "Cannot infer num from shape <unknown>"),
        (lambda: tf.unstack(_ones(2, 3), num=3), "Dimension must be 3 but is 2"),
        (lambda: tf.split(_ones(3, 3), 2), "Dimension size must be evenly divisible by 2 but is 3"),
        (lambda: tf.split(_ones(3, 3), [1, 1]), r"can't split axis of size 3 into pieces of size \[1,1\]"),
    ],
)
def test_shapes_that_do_not_fit_are_refused_while_building(build: Any, text: str) -> None:
    with Graph().as_default(), pytest.raises(ValueError, match=text):
        build()


def test_split_knows_its_sizes() -> None:
    with Graph().as_default():
        x = tf.placeholder(tf.float32, [4, None])
        assert [part.shape.as_list() for part in tf.split(x, 2)] == [[2, None], [2, None]]
        assert [part.shape.as_list() for part in tf.split(x, [1, -1])] == [[1, None], [3, None]]


def test_tensors_of_a_list_take_the_type_that_is_asked_for() -> None:
    with Graph().as_default(), tf.Session() as session:
        i, f = tf.constant(3), tf.constant(2.5)
        rows = tf.concat([tf.constant([[1]], tf.int64), [[i]]], 0)
        assert (rows.dtype, session.run(rows).tolist()) == (tf.int64, [[1], [3]])
        assert session.run(tf.convert_to_tensor([f, 1], tf.int32)).tolist() == [2, 1]
        assert session.run(tf.convert_to_tensor([[i], [f]], tf.float64)).tolist() == [[3.0], [2.5]]
        assert session.run(tf.add(tf.constant([1, 2], tf.int64), [i, i])).tolist() == [4, 5]
        with pytest.raises(TypeError):
            tf.convert_to_tensor([i, f], tf.int32)
        with pytest.raises(TypeError):
            tf.convert_to_tensor([f, 1.5], tf.string)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (
            lambda x: tf.concat([x, _ones(2, 2)], 0),
            r"ConcatOp : Dimensions of inputs should match: shape\[0\] = \[1,3\] vs. shape\[1\] = \[2,2\]",
        ),
        (lambda x: tf.split(x, tf.placeholder_with_default([1, 1], [2]), 1), "Determined shape must .* specified.  Got: 2"),
        (lambda x: tf.matmul(x, x), r"In\[0\] mismatch In\[1\] shape: 3 vs. 1: \[1,3\] \[1,3\] 0 0"),
    ],
)
def test_shapes_that_a_run_tells_are_refused_in_tensorflows_words(build: Any, text: str) -> None:
    with Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32)
        with pytest.raises(tf.errors.InvalidArgumentError, match=text):
            session.run(build(x), {x: [[1.0, 2.0, 3.0]]})


@pytest.mark.parametrize(
    ("build", "types"),
    [
        (lambda: tf.concat([[1], [2.5]], 0), "'ConcatV2' Op have types [int32, float32]"),
        (lambda: tf.stack([tf.constant(1), "a"]), "'Pack' Op have types [int32, string]"),
    ],
)
def test_values_of_several_types_are_refused_with_the_types_of_all(build: Any, types: str) -> None:
    with Graph().as_default(), pytest.raises(TypeError, match=f"of {re.escape(types)} that don't all match"):
        build()
