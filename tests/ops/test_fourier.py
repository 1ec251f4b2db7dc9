"""Transforms of real numbers that are longer or shorter than what they are given."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

_VALUES = np.array([[1.0, -2.0, 3.0], [0.5, 4.0, -1.0]], np.float32)


@pytest.mark.parametrize("shape", [(2, 3), (None, None), None])
@pytest.mark.parametrize("length", [2, 3, 4, 7])
def test_a_transform_longer_than_its_input_takes_zeros_for_the_rest(shape: tuple[int, ...] | None, length: int) -> None:
    values = tf.placeholder(tf.float32, shape)
    made = tf.signal.rfft(values, [length])
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(made, {values: _VALUES}), np.fft.rfft(_VALUES, length), rtol=1e-5)


def test_real_and_complex_types_of_a_transform_belong_together() -> None:
    with pytest.raises(ValueError, match="Wrong types for a real transform: complex128 and float32"):
        tf.raw_ops.RFFT(input=_VALUES, fft_length=[3], Tcomplex=tf.complex128)


def test_a_transform_of_nothing_is_empty() -> None:
    with tf.Session() as session:
        assert session.run(tf.signal.fft(np.zeros((2, 0), np.complex64))).shape == (2, 0)


@pytest.mark.parametrize(
    ("shape", "lengths", "expected"),
    [((0, 2, 2), (2, 0, 2), (2, 0, 2)), ((2, 2, 0), (2, 2, 2), (2, 2, 2)), ((0, 2, 2, 2), (0, 2, 2), (0, 0, 2, 2))],
)
def test_real_transforms_of_nothing_are_of_their_lengths_which_may_be_zero(
    shape: tuple[int, ...], lengths: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    real = tf.raw_ops.IRFFT3D(input=np.zeros(shape, np.complex64), fft_length=lengths)
    half = tf.raw_ops.RFFT3D(input=np.zeros(shape, np.float32), fft_length=lengths)
    with tf.Session() as session:
        assert session.run(real).tolist() == np.zeros(expected, np.float32).tolist()
        found = session.run(half)
    assert found.shape == (*expected[:-1], expected[-1] // 2 + 1)
    assert found.dtype == np.complex64


def test_something_has_no_transform_of_length_zero() -> None:
    made = tf.raw_ops.IRFFT(input=np.ones(3, np.complex64), fft_length=[0])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match="number of FFT data points"):
        session.run(made)
