"""Dilated convolutions are written as TensorFlow's layers write them, whose kernels on CPUs have no dilation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf


def _values(*shape: int) -> np.ndarray[Any, Any]:
    return np.random.RandomState(len(shape)).uniform(-1, 1, shape).astype(np.float32)


def _flat(x: Any) -> Any:
    same = tf.nn.convolution(x, _values(3, 2, 3, 4), "SAME", dilation_rate=[2, 3])
    return tf.nn.convolution(same, _values(2, 3, 4, 2), "VALID", dilation_rate=[3, 1])


def _deep(x: Any) -> Any:
    return tf.nn.conv3d(tf.reshape(x, [2, 3, 3, 8, 3]), _values(2, 2, 2, 3, 2), [1] * 5, "SAME", dilations=[1, 2, 1, 2, 1])


def _depthwise(x: Any) -> Any:
    return tf.nn.depthwise_conv2d(x, _values(3, 3, 3, 2), [1] * 4, "SAME", rate=[2, 2])


def _turned(x: Any) -> Any:
    return tf.nn.atrous_conv2d_transpose(x, _values(3, 3, 5, 3), [2, 13, 12, 5], 2, "VALID")


@pytest.mark.parametrize("program", [_flat, _deep, _depthwise, _turned], ids=lambda each: each.__name__)
@pytest.mark.parametrize("known", [True, False], ids=["known sizes", "unknown sizes"])
def test_a_dilated_convolution_is_written_without_dilation(program: Callable[[Any], Any], known: bool) -> None:
    x = tf.placeholder(tf.float32, [2, 9, 8, 3] if known else [None, None, None, 3], name="x")
    made = program(x)
    tf.identity_n([made, tf.gradients(made**2, x)[0]], name="both")
    fed = {"x:0": _values(2, 9, 8, 3)}
    with tf.Session() as session:
        own = session.run(["both:0", "both:1"], fed)
    written = tf.get_default_graph().as_graph_def()
    assert all(set(node.attr["dilations"].list.i) <= {1} for node in written.node if "dilations" in node.attr)
    tf.reset_default_graph()
    tf.import_graph_def(written, name="")
    with tf.Session() as session:
        for found, expected in zip(session.run(["both:0", "both:1"], fed), own, strict=True):
            np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)


def test_gradients_of_filters_are_written_without_dilation() -> None:
    filters = tf.placeholder(tf.float32, [3, 3, 3, 2], name="filters")
    made = tf.nn.convolution(_values(2, 9, 8, 3), filters, "SAME", dilation_rate=[2, 2])
    deep = tf.nn.depthwise_conv2d(_values(2, 9, 8, 3), filters, [1] * 4, "VALID", rate=[3, 2])
    tf.identity(tf.gradients([made**2, deep**2], filters)[0], name="gradient")
    fed = {"filters:0": _values(3, 3, 3, 2)}
    with tf.Session() as session:
        own = session.run("gradient:0", fed)
    written = tf.get_default_graph().as_graph_def()
    assert all(set(node.attr["dilations"].list.i) <= {1} for node in written.node if "dilations" in node.attr)
    tf.reset_default_graph()
    tf.import_graph_def(written, name="")
    with tf.Session() as session:
        np.testing.assert_allclose(session.run("gradient:0", fed), own, rtol=1e-4, atol=1e-4)
