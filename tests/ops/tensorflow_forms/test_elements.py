"""Graphs that are written have TensorFlow's ops alone, and do the same as what they stand for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.tensorflow_forms.written import KNOWN, assert_the_same_in

INDICES = [[1, 0], [0, 2], [0, 1]]


def _sparse(values: Any) -> tf.SparseTensor:
    return tf.SparseTensor(INDICES, values, [2, 3])


def _reordered(x: Any) -> Any:
    return tf.reduce_sum(tf.sparse.reorder(_sparse(x)).values * [1.0, 2.0, 3.0])


def _joined(x: Any) -> Any:
    return tf.reduce_sum(tf.sparse.concat(1, [_sparse(x), _sparse(x * x)]).values * np.arange(6, dtype=np.float32))


def _summed(x: Any) -> Any:
    return tf.reduce_sum(tf.sparse.reduce_sum(_sparse(x), 1) * [1.0, 10.0]) + tf.sparse.reduce_sum(_sparse(x)) * 3.0


def _selected(x: Any) -> Any:
    rows = tf.RaggedTensor.from_row_splits(x, [0, 2, 2, 3])
    return tf.reduce_sum(tf.gather(rows, [2, 0, 0]).values * [1.0, 2.0, 3.0, 4.0, 5.0])


def _transformed(x: Any) -> Any:
    turned = tf.signal.fft(tf.complex(x, x * x))
    back = tf.signal.ifft2d(tf.expand_dims(turned * turned, 0))
    return tf.reduce_sum(tf.abs(turned)) + tf.reduce_sum(tf.math.real(back))


PROGRAMS = [_reordered, _joined, _summed, _selected, _transformed]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda each: each.__name__)
def test_a_gradient_is_written_in_tensorflows_ops(program: Callable[[Any], Any]) -> None:
    x = tf.placeholder(tf.float32, [3], name="x")
    gradient = tf.convert_to_tensor(tf.gradients(program(x), x)[0])
    assert_the_same_in(KNOWN, gradient, {"x:0": [1.0, 2.0, -3.0]})


def test_a_pictures_quality_is_written_in_tensorflows_ops() -> None:
    image = np.arange(300, dtype=np.uint8).reshape(10, 10, 3)
    assert_the_same_in(KNOWN, tf.image.adjust_jpeg_quality(tf.placeholder_with_default(image, [10, 10, 3]), 40))
