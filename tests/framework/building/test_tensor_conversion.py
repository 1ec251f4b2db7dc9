"""What programs pass for a tensor becomes one of the dtype that TensorFlow 1.x gives it, or is refused with the reason."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


@pytest.mark.parametrize(
    ("value", "dtype", "shape"),
    [
        (1, tf.int32, []), (2**40, tf.int64, []), (1.0, tf.float32, []), (True, tf.bool, []), ("a", tf.string, []),
        (b"a", tf.string, []), (1j, tf.complex128, []), ([1, 2], tf.int32, [2]), ([1, 2.5], tf.float32, [2]),
        ([True, 1], tf.int32, [2]), ((1, 2), tf.int32, [2]), ([], tf.float32, [0]), ([[]], tf.float32, [1, 0]),
        (range(3), tf.int32, [3]), ([2**40], tf.int64, [1]), (["a", b"\xff"], tf.string, [2]),
        (np.float64(1), tf.float64, []), (np.float16(1), tf.float16, []), (np.array([1, 2]), tf.int64, [2]),
        (np.array(["a", "b"]), tf.string, [2]), ([np.float64(1), 2], tf.float32, [2]), ([np.int64(3)], tf.int32, [1]),
        (tf.TensorShape([1, 2]), tf.int32, [2]), (tf.Dimension(3), tf.int32, []),
    ],
)  # fmt: skip
def test_the_dtype_follows_from_the_value(value: Any, dtype: tf.DType, shape: list[int]) -> None:
    tensor = tf.convert_to_tensor(value)
    assert tensor.dtype is dtype
    assert tensor.shape == shape


@pytest.mark.parametrize(
    ("value", "dtype"),
    [
        (1, tf.float32), (1, tf.int8), ([], tf.int32), (np.array([1, 2]), tf.float32), (np.array([1.5]), tf.int32),
        (tf.TensorShape([1, 2]), tf.int64), (1, tf.complex64), ("a", tf.string), (True, tf.bool),
        (True, tf.float32), ([True, 2], tf.int64),
    ],
)  # fmt: skip
def test_a_dtype_may_be_asked_for(value: Any, dtype: tf.DType) -> None:
    assert tf.convert_to_tensor(value, dtype).dtype is dtype


@pytest.mark.parametrize(
    ("value", "dtype", "error"),
    [
        (None, None, ValueError), ([1, None], None, TypeError), ([1, "a"], None, TypeError), ([[1], [1, 2]], None, ValueError),
        (object(), None, TypeError), ({1: 2}, None, TypeError), (np.datetime64("2020-01-01"), None, TypeError),
        (1.5, tf.int32, TypeError), ("a", tf.float32, TypeError), (1, tf.string, TypeError),
        (tf.TensorShape([1, None]), None, ValueError), (tf.Dimension(None), None, ValueError), (tf.float32, None, TypeError),
    ],
)  # fmt: skip
def test_what_cannot_be_a_tensor_is_refused(value: Any, dtype: tf.DType | None, error: type[Exception]) -> None:
    with pytest.raises(error):
        tf.convert_to_tensor(value, dtype)


def test_a_tensor_is_taken_as_it_is_and_never_cast() -> None:
    tensor = tf.constant(1.0)
    assert tf.convert_to_tensor(tensor) is tensor
    assert tf.convert_to_tensor(tensor, tf.float32) is tensor
    with pytest.raises(ValueError, match="Tensor conversion requested dtype int32 for Tensor with dtype float32"):
        tf.convert_to_tensor(tensor, tf.int32)


def test_lists_that_hold_tensors_are_packed() -> None:
    one = tf.constant(1.0)
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(tf.convert_to_tensor([one, 2])), [1, 2])
        np.testing.assert_array_equal(session.run(tf.convert_to_tensor([[one, 2], [3, one]])), [[1, 2], [3, 1]])


def test_a_preferred_dtype_is_used_where_it_can_be() -> None:
    assert tf.convert_to_tensor(5, preferred_dtype=tf.float32).dtype is tf.float32
    assert tf.convert_to_tensor("a", preferred_dtype=tf.float32).dtype is tf.string


def test_the_name_is_that_of_the_constant() -> None:
    assert tf.convert_to_tensor(1.0, name="mine").name == "mine:0"


class Money:
    def __init__(self, amount: float) -> None:
        self.amount = amount


class Broken:
    pass


class Shy:
    pass


def test_a_class_may_have_a_conversion_of_its_own() -> None:
    def convert(value: Money, dtype: Any = None, name: Any = None, as_ref: bool = False) -> tf.Tensor:
        return tf.constant(value.amount, name=name)

    tf.register_tensor_conversion_function(Money, convert)
    with tf.Session() as session:
        assert session.run(tf.add(Money(2.0), 1.0)) == 3.0


def test_a_conversion_must_give_a_tensor() -> None:
    tf.register_tensor_conversion_function(Broken, lambda value, dtype=None, name=None, as_ref=False: 5)
    with pytest.raises(RuntimeError, match="returned non-Tensor: 5"):
        tf.convert_to_tensor(Broken())


def test_a_conversion_may_leave_a_value_to_the_next_one() -> None:
    tf.register_tensor_conversion_function(
        Shy, lambda value, dtype=None, name=None, as_ref=False: tf.constant("last"), priority=200
    )
    tf.register_tensor_conversion_function(Shy, lambda value, dtype=None, name=None, as_ref=False: NotImplemented)
    assert tf.convert_to_tensor(Shy()).dtype is tf.string


def test_what_cannot_be_registered_is_refused() -> None:
    with pytest.raises(TypeError, match="base_type must be a type or a tuple of types"):
        tf.register_tensor_conversion_function(3, lambda value: value)
    with pytest.raises(TypeError, match="conversion_func must be callable"):
        tf.register_tensor_conversion_function(Money, 3)
