"""Gradients that weft takes by differentiating a kernel are written in TensorFlow's ops, and are the same."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf
from tests.ops.tensorflow_forms.test_elements import KNOWN


def _weighted(*values: Any) -> Any:
    """The sum of all elements, each times a number of its own."""
    flat = tf.concat([tf.reshape(value, [-1]) for value in values], 0)
    return tf.reduce_sum(flat * np.linspace(-1, 1, int(flat.shape[0]), dtype=np.float32))


def _spectra(x: Any) -> Any:
    lengths = (4, 7)
    return _weighted(
        *(tf.abs(tf.signal.rfft(x, [length])) ** 2 for length in lengths),
        *(tf.signal.irfft(tf.complex(x, x * x), [length]) for length in lengths),
        tf.abs(tf.signal.rfft2d(x)) ** 2,
        tf.signal.irfft3d(tf.complex(x, 2 * x), [2, 3, 7]),
    )


def _pictures(x: Any) -> Any:
    images = tf.reshape(x, [1, 6, 5, 1])
    boxes = tf.sigmoid(tf.reshape(x, [-1])[:8])
    return _weighted(
        tf.image.resize_nearest_neighbor(images, [4, 7], align_corners=True),
        tf.image.crop_and_resize(images, tf.reshape(boxes, [2, 4]), [0, 0], [2, 3]),
        tf.extract_image_patches(images, [1, 2, 3, 1], [1, 2, 1, 1], [1, 1, 1, 1], "SAME"),
        tf.nn.dilation2d(images, tf.reshape(x, [-1])[:4, None, None], [1, 2, 1, 1], [1, 1, 1, 1], "SAME"),
    )


def _pictures_twice(x: Any) -> Any:
    """Of the square of the gradients of what is resized, as a penalty of gradients is."""
    images = tf.reshape(x, [1, 6, 5, 1])
    made = [tf.image.resize_bilinear(images, [9, 7]), tf.image.resize_bicubic(images, [4, 8], align_corners=True)]
    return _weighted(*(tf.gradients(tf.reduce_sum(each**3), images)[0] ** 2 for each in made))


def _sparse(x: Any) -> Any:
    values = tf.reshape(x, [-1])
    sparse = tf.SparseTensor([[0, 0], [0, 2], [2, 3]], values[:3], [3, 4])
    dense = tf.reshape(values[3:15], [3, 4])
    return _weighted((sparse * dense).values, (sparse * dense[0]).values, (sparse / (dense[:, :1] + 2)).values)


def _bessel(x: Any) -> Any:
    return _weighted(tf.math.bessel_i1e(tf.concat([x, tf.zeros_like(x)], 0)))


def _exponentials(x: Any) -> Any:
    return _weighted(tf.linalg.expm(x[:, :, :3] * np.array([8.0, 0.5], np.float32)[:, None, None])) * 1e-2


def _singular_values(x: Any) -> Any:
    s, u, v = tf.linalg.svd(tf.matrix_transpose(x))
    return _weighted(tf.linalg.svd(x, compute_uv=False), s, tf.abs(u), tf.abs(v), tf.linalg.svd(x)[0])


def _orthogonal(x: Any) -> Any:
    thin = tf.matrix_transpose(x)
    unknown = tf.placeholder_with_default(thin, [None, None, None])
    r = tf.linalg.qr(unknown)[1]
    r.set_shape([2, 3, 3])
    return _weighted(*tf.linalg.qr(thin), r, *tf.linalg.qr(x[:, :, :3]), tf.linalg.qr(x[:, :, :3], full_matrices=True)[1])


def _lower_and_upper(x: Any) -> Any:
    square = x[:, :, :3]
    return _weighted(tf.linalg.lu(square)[0], tf.linalg.lu(square + 2 * tf.eye(3))[0] ** 2)


def _running_sums(x: Any) -> Any:
    wide = x * 30
    ends = [tf.math.cumulative_logsumexp(wide, 2, exclusive=True, reverse=True)[..., :-1],
            tf.math.cumulative_logsumexp(wide, 1, exclusive=True)[:, 1:]]  # fmt: skip
    return _weighted(tf.math.cumulative_logsumexp(wide, 1), tf.math.cumulative_logsumexp(wide, -1, reverse=True), *ends)


_PROGRAMS = [
    _running_sums,
    _spectra,
    _pictures,
    _sparse,
    _bessel,
    _exponentials,
    _singular_values,
    _orthogonal,
    _lower_and_upper,
]


@pytest.mark.parametrize("program", _PROGRAMS, ids=lambda each: each.__name__)
def test_a_kernels_derivative_is_written_in_tensorflows_ops(program: Callable[[Any], Any]) -> None:
    x = tf.placeholder(tf.float32, [2, 3, 5], name="x")
    tf.identity(tf.gradients(program(x), x)[0], name="gradient")
    fed = {"x:0": np.random.RandomState(1).uniform(-1, 1, [2, 3, 5])}
    with tf.Session() as session:
        own = session.run("gradient:0", fed)
    written = tf.get_default_graph().as_graph_def()
    assert {node.op for node in written.node} - KNOWN == set()
    with tf.Graph().as_default() as again, tf.Session(graph=again) as session:
        tf.import_graph_def(written, name="")
        np.testing.assert_allclose(session.run("gradient:0", fed), own, rtol=1e-4, atol=1e-5)


def test_rows_that_are_summed_keep_the_sizes_that_stand_in_the_graph() -> None:
    table = tf.get_variable("table", initializer=tf.constant(np.arange(12, dtype=np.float32).reshape(6, 2)))
    loss = tf.reduce_sum(tf.gather(table, [1, 3, 1]) ** 2)
    train = tf.contrib.opt.LazyAdamOptimizer(0.1).minimize(loss)
    start = tf.global_variables_initializer()
    with tf.Session() as session:
        session.run(start)
        session.run(train)
        own = session.run("table:0")
    written = tf.get_default_graph().as_graph_def(add_shapes=True)
    assert {node.op for node in written.node} - KNOWN == set()
    with tf.Graph().as_default() as again, tf.Session(graph=again) as session:
        tf.import_graph_def(written, name="")
        session.run(start.name)
        session.run(train.name)
        np.testing.assert_allclose(session.run("table:0"), own, rtol=1e-5)
        for node in written.node:
            if shapes := node.attr["_output_shapes"].list.shape:
                outputs = again.get_operation_by_name(node.name).outputs
                assert all(
                    each.shape.is_compatible_with(tf.TensorShape(dims)) for each, dims in zip(outputs, shapes, strict=True)
                )
