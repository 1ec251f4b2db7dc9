"""Forms of arguments that TensorFlow 1.15 takes although its documentation names others; the numbers are its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf

_PAIR = [[1.0, 2.0], [3.0, 4.0]]
_SAMPLES = [1.0, 2.0, 3.0, 4.0]
_SIZES = [1, 4, 4, 1]


def _image() -> Any:
    return tf.constant([[[0.0], [1.0]], [[2.0], [3.0]]])


def _sizes_after(output_shape: Any) -> Any:
    return tf.shape(tf.nn.conv_transpose(tf.ones([1, 2, 2, 1]), tf.ones([2, 2, 1, 1]), output_shape, 2))


def _gathered(batch_dims: Any) -> Any:
    return tf.gather_nd(np.arange(8).reshape(2, 2, 2), [[[1]], [[0]]], batch_dims=batch_dims)


def _reduced(axis: Any) -> Any:
    return tf.sparse.reduce_sum(tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 2]), axis=axis)


def _reduced_sparse(axis: Any) -> Any:
    return tf.sparse.reduce_max_sparse(tf.SparseTensor([[0, 0], [1, 1]], [1, 2], [2, 2]), axis=axis).values


_TURNED = [[[1.0], [3.0]], [[0.0], [2.0]]]
_GATHERED = [[[2, 3]], [[4, 5]]]
_FRAMES = [[1.0, 2.0], [3.0, 4.0]]
_FORMS: list[tuple[str, Callable[[], Any], Any]] = [
    ("keepdims a number", lambda: tf.norm([[3.0, 4.0]], keepdims=1), [[5.0]]),  # type: ignore[arg-type]
    ("an incomplete beta of infinite parameters", lambda: tf.betainc([0.5, np.inf], [np.inf, 2.0], [0.0, 1.0]), [0.0, 1.0]),
    ("predictions of another float", lambda: tf.nn.in_top_k(np.array([[0.1, 0.9]]), np.array([1]), 1), [True]),
    ("a TensorShape of sizes", lambda: _sizes_after(tf.TensorShape(_SIZES)), _SIZES),
    ("a variable of sizes", lambda: _sizes_after(tf.Variable(_SIZES)), _SIZES),
    ("an int64 array of sizes", lambda: _sizes_after(np.array(_SIZES)), _SIZES),
    ("a variable of turns", lambda: tf.image.rot90(_image(), k=tf.Variable(1)), _TURNED),  # type: ignore[arg-type]
    ("an array of one gamma", lambda: tf.image.adjust_gamma(_image(), np.array([2.0])), [[[0.0], [1.0]], [[4.0], [9.0]]]),
    ("a float tensor of rows", lambda: tf.eye(tf.constant(2.0)), [[1.0, 0.0], [0.0, 1.0]]),
    ("a float feed of rows", lambda: tf.eye(tf.placeholder_with_default(1.0, [])), [[1.0]]),
    ("a float tensor of sparse rows", lambda: tf.sparse.eye(tf.constant(2.0)).values, [1.0, 1.0]),
    ("batch_dims a float", lambda: _gathered(1.0), _GATHERED),
    ("batch_dims a constant", lambda: _gathered(tf.constant(1)), _GATHERED),
    ("axes a truth value", lambda: tf.tensordot(_PAIR, _PAIR, True), [[7.0, 10.0], [15.0, 22.0]]),
    ("axis a truth value", lambda: _reduced(True), [1, 2]),
    ("axis a Dimension", lambda: _reduced([tf.Dimension(1)]), [1, 2]),
    ("axis a list of constants", lambda: _reduced([tf.constant(1)]), [1, 2]),
    ("axis a variable", lambda: _reduced(tf.Variable(1)), [1, 2]),
    ("no axes", lambda: _reduced([]), [[1, 0], [0, 2]]),
    ("no axes, sparse", lambda: _reduced_sparse(()), [1, 2]),
    ("a list of nbins", lambda: tf.histogram_fixed_width_bins([2.0, 3.0], [0.0, 5.0], nbins=[5]), [2, 3]),
    ("a column of ends", lambda: tf.histogram_fixed_width_bins([2.0, 3.0], [[0.0], [5.0]], nbins=5), [2, 3]),
    ("a constant axis", lambda: tf.signal.frame(_SAMPLES, 2, 2, axis=tf.constant(-1)), _FRAMES),
    ("a variable length", lambda: tf.signal.frame(_SAMPLES, tf.Variable(2), 2), _FRAMES),
    ("no batch, greedy", lambda: tf.nn.ctc_greedy_decoder(tf.zeros([2, 0, 3]), tf.zeros([0], tf.int32))[0][0].values, []),
    ("no batch, beams", lambda: tf.nn.ctc_beam_search_decoder(tf.zeros([2, 0, 3]), tf.zeros([0], tf.int32))[0][0].values, []),
]


@pytest.mark.parametrize(("make", "expected"), [form[1:] for form in _FORMS], ids=[form[0] for form in _FORMS])
def test_a_form_that_tensorflow_takes_is_taken(make: Callable[[], Any], expected: Any) -> None:
    made = make()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        assert sess.run(made).tolist() == expected


def test_all_dimensions_go_where_the_rank_is_known_in_a_run_only() -> None:
    shape = tf.placeholder(tf.int64, [None])
    total = tf.sparse.reduce_sum(tf.SparseTensor(tf.constant([[0, 0], [1, 1]], tf.int64), tf.constant([1, 2]), shape))
    with tf.Session() as sess:
        assert sess.run(total, {shape: [2, 2]}) == 3


def test_what_is_no_number_at_building_is_no_batch_dims() -> None:
    for given in (None, tf.placeholder(tf.int32, []), tf.Variable(1)):
        with pytest.raises(TypeError, match="batch_dims must be an int"):
            _gathered(given)


def test_decoders_refuse_logits_without_steps() -> None:
    found = tf.nn.ctc_greedy_decoder(tf.zeros([0, 2, 3]), [0, 0])[1]
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="max_time is 0"):
        sess.run(found)


def test_checks_of_plain_numbers_leave_no_nodes() -> None:
    tf.image.adjust_gamma(tf.placeholder(tf.float32, [2, 2, 1], "pixels"), 2.0)
    names = [node.name for node in tf.get_default_graph().get_operations()]
    assert names == [
        "pixels",
        "adjust_gamma/pow/y",
        "adjust_gamma/pow",
        "adjust_gamma/mul/x",
        "adjust_gamma/mul",
        "adjust_gamma/Identity",
    ]


def test_a_family_is_name_enough_for_a_summary() -> None:
    for summary in (tf.summary.scalar, tf.summary.histogram):
        with tf.Graph().as_default(), tf.Session() as sess:
            assert tf.Summary.FromString(sess.run(summary("", 1.0, family="f"))).value[0].tag == "f/f"


def test_a_blank_counts_from_the_last_class_where_their_number_comes_with_the_run() -> None:
    logits = np.random.RandomState(0).randn(5, 1, 4).astype(np.float32)
    fed = tf.placeholder(tf.float32, None)
    labels = tf.constant([[1, 3]])
    losses = [tf.nn.ctc_loss_v2(labels, given, [2], [5], blank_index=-2) for given in (logits, fed)]
    with tf.Session() as sess:
        known, unknown = sess.run(losses, {fed: logits})
    assert known == pytest.approx(unknown, rel=1e-6)
