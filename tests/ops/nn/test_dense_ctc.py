"""The CTC loss of dense labels and any blank is TensorFlow 1.15's; the numbers are its own."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

_LOGITS = np.random.RandomState(0).randn(5, 2, 4).astype(np.float32)
_SPARSE = ([[0, 0], [0, 1], [1, 0]], [1, 2, 1], [2, 2])


def _loss(*args: object, **kwargs: object) -> list[float]:
    with tf.Session() as sess:
        found: list[float] = sess.run(tf.nn.ctc_loss_v2(*args, **kwargs)).tolist()  # type: ignore[arg-type]
    return found


def test_dense_labels_count_up_to_their_length() -> None:
    labels = tf.constant([[1, 2, 1], [3, 3, 0]])
    assert _loss(labels, _LOGITS, [3, 2], [5, 4]) == pytest.approx([6.273013, 6.2873564], rel=1e-5)
    unique = tf.nn.ctc_unique_labels(labels)
    with_unique = _loss(labels, _LOGITS, [3, 2], [5, 4], unique=unique, blank_index=0)
    assert with_unique == pytest.approx([6.273013, 6.2873564], rel=1e-5)
    last = tf.constant([[1, 2, 1], [2, 2, 0]])
    assert _loss(last, _LOGITS, [3, 2], [5, 4], blank_index=-1) == pytest.approx([6.961835, 4.876124], rel=1e-5)


def test_sparse_labels_need_the_blank_to_be_told() -> None:
    labels = tf.SparseTensor(*_SPARSE)
    assert _loss(labels, _LOGITS, None, [5, 4], blank_index=0) == pytest.approx([3.8038669, 2.249353], rel=1e-5)
    batch_first = _LOGITS.transpose(1, 0, 2)
    assert _loss(labels, batch_first, None, [5, 4], logits_time_major=False, blank_index=-1) == pytest.approx(
        [4.803097, 4.7003236], rel=1e-5
    )
    with pytest.raises(ValueError, match=r"blank_index must be given when using SparseTensor labels\."):
        tf.nn.ctc_loss_v2(labels, _LOGITS, None, [5, 4])
    with pytest.raises(ValueError, match="blank_index must be one of the 4 classes, got 4"):
        tf.nn.ctc_loss_v2(labels, _LOGITS, None, [5, 4], blank_index=4)
    with pytest.raises(ValueError, match="label_length must be given"):
        tf.nn.ctc_loss_v2(tf.constant([[1]]), _LOGITS, None, [5, 4])


def test_gradients_come_back_in_the_order_of_the_classes() -> None:
    logits = tf.constant(_LOGITS)
    loss = tf.nn.ctc_loss_v2(tf.constant([[1, 2, 1], [3, 3, 0]]), logits, tf.constant([3, 2]), tf.constant([5, 4]))
    with tf.Session() as sess:
        found = sess.run(tf.gradients(tf.reduce_sum(loss), logits)[0])
    np.testing.assert_allclose(found[0].ravel()[:5], [-0.159214, -0.462872, 0.137234, 0.484852, 0.475658], atol=1e-5)


def test_repeats_are_left_out_and_unique_labels_found() -> None:
    with tf.Session() as sess:
        left, lengths = sess.run(tf.nn.collapse_repeated([[1, 1, 2, 2, 1], [0, 0, 0, 3, 3]], [5, 4]))
        unique, places = sess.run(tf.nn.ctc_unique_labels([[1, 2, 1], [3, 3, 0]]))
    assert (left.tolist(), lengths.tolist()) == ([[1, 2, 1], [0, 3, 0]], [3, 2])
    assert (unique.tolist(), places.tolist()) == ([[1, 2, 0], [3, 0, 0]], [[0, 1, 0], [0, 0, 1]])


def test_a_row_without_labels_is_all_blanks() -> None:
    labels = tf.constant([[1, 2], [1, 2]])
    assert _loss(labels, np.zeros([5, 2, 4], np.float32), [0, 2], [5, 5]) == pytest.approx([6.931472, 3.3761237], rel=1e-5)
    logits = tf.constant(_LOGITS)
    for major in (True, False):
        given = logits if major else tf.transpose(logits, [1, 0, 2])
        loss = tf.nn.ctc_loss_v2(labels, given, [0, 2], [3, 5], logits_time_major=major, blank_index=0)
        by_hand = -tf.reduce_sum(tf.nn.log_softmax(logits)[:3, 0, 0])
        gradients = [tf.gradients(each, logits)[0][:, 0] for each in (loss, by_hand)]
        with tf.Session() as sess:
            found, expected = sess.run([loss[0], by_hand])
            of_loss, of_hand = sess.run(gradients)
        assert found == pytest.approx(expected, rel=1e-5)
        np.testing.assert_allclose(of_loss, of_hand, atol=1e-5)
