"""Operators of a size that only a run tells: what is checked where the program asks for it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import weft as tf
from tests.ops.both_ways import own_graph as own_graph

_Make = Callable[..., "tf.linalg.LinearOperator"]
_KINDS: tuple[_Make, ...] = (tf.linalg.LinearOperatorIdentity, tf.linalg.LinearOperatorZeros)


@pytest.mark.parametrize("make", _KINDS)
@pytest.mark.parametrize(
    ("size", "message"), [(-2, "num_rows must be non-negative"), ([2], "num_rows must be a 0-D Tensor")]
)  # fmt: skip
def test_a_size(make: _Make, size: object, message: str) -> None:
    given = tf.placeholder(tf.int32)
    dense = make(given, assert_proper_shapes=True).to_dense()
    with tf.Session() as session:
        assert session.run(dense, {given: 2}).shape == (2, 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(dense, {given: size})


@pytest.mark.parametrize("make", _KINDS)
@pytest.mark.parametrize(
    ("batch", "message"), [([-2], "batch_shape must be non-negative"), (2, "batch_shape must be a 1-D Tensor")]
)  # fmt: skip
def test_the_shape_of_a_batch(make: _Make, batch: object, message: str) -> None:
    given = tf.placeholder(tf.int32)
    dense = make(2, batch_shape=given, assert_proper_shapes=True).to_dense()
    with tf.Session() as session:
        assert session.run(dense, {given: [3]}).shape == (3, 2, 2)
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            session.run(dense, {given: batch})


@pytest.mark.parametrize("make", [*_KINDS, lambda size, **more: tf.linalg.LinearOperatorScaledIdentity(size, 2.0, **more)])
def test_what_is_multiplied(make: _Make) -> None:
    given = tf.placeholder(tf.float32)
    product = make(2, assert_proper_shapes=True).matmul(given)
    with tf.Session() as session:
        assert session.run(product, {given: np.ones([2, 3])}).shape == (2, 3)
        with pytest.raises(tf.errors.InvalidArgumentError, match="Dimensions are not compatible"):
            session.run(product, {given: np.ones([3, 3])})


@pytest.mark.parametrize("make", _KINDS)
def test_a_variable_that_assignments_change_is_no_size(make: _Make) -> None:
    with pytest.raises(TypeError, match="num_rows cannot be reference type"):
        make(tf.Variable(2))


def test_complex_operators_are_told_to_be_self_adjoint_or_not() -> None:
    makes = (tf.linalg.LinearOperatorDiag, lambda values: tf.linalg.LinearOperatorScaledIdentity(2, values))
    with tf.Session() as session:
        for make in makes:
            session.run(make(np.array([1 + 0j, 2], np.complex64)).assert_self_adjoint())
            with pytest.raises(tf.errors.InvalidArgumentError, match="not self-adjoint"):
                session.run(make(np.array([1 + 1j, 2], np.complex64)).assert_self_adjoint())
