"""What the CTC loss and its decoders make of labels and lengths at the edges is TensorFlow 1.15's; the numbers are its own."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

_LOGITS = np.random.RandomState(0).randn(5, 1, 3).astype(np.float32)


@pytest.mark.parametrize(("labels", "loss"), [([0, 1], 1.5568573), ([0, 2, 2], 1.1645526), ([0, 4], 1.1645526)])
def test_labels_end_at_the_first_that_is_the_blank_or_beyond(labels: list[int], loss: float) -> None:
    values = tf.placeholder(tf.int32, [None])
    made = tf.nn.ctc_loss(tf.SparseTensor([[0, at] for at in range(len(labels))], values, [1, 3]), _LOGITS, [4])
    with tf.Session() as sess:
        assert sess.run(made, {values: labels}).tolist() == pytest.approx([loss], rel=1e-5)


@pytest.mark.parametrize(
    ("labels", "text"),
    [
        (
            [4, 0],
            r"Saw a non-null label \(index >= num_classes - 1\) following a null label, batch: 0 .* labels: 4,0",
        ),
        ([0, -1], r"All labels must be nonnegative integers, batch: 0 labels: 0,-1"),
    ],
)
def test_other_labels_are_refused(labels: list[int], text: str) -> None:
    made = tf.nn.ctc_loss(tf.SparseTensor([[0, 0], [0, 1]], labels, [1, 2]), _LOGITS, [4])
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=text):
        sess.run(made)


def test_as_many_labels_as_indices_are_given() -> None:
    with pytest.raises(ValueError, match="Dimensions must be equal, but are 2 and 3"):
        tf.raw_ops.CTCLoss(inputs=_LOGITS, labels_indices=[[0, 0], [0, 1]], labels_values=[0, 1, 1], sequence_length=[4])


def test_a_sequence_of_less_than_no_steps_has_none() -> None:
    length = tf.placeholder(tf.int32, [1])
    decoded, scores = tf.nn.ctc_greedy_decoder(_LOGITS, length)
    paths, _ = tf.nn.ctc_beam_search_decoder(_LOGITS, length, 5, 2)
    with tf.Session() as sess:
        found = sess.run([decoded[0].values, scores], {length: [-1]})
        assert [found[0].tolist(), found[1].tolist()] == [[], [[0.0]]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Less leaves in the beam search than requested"):
            sess.run(paths[1].values, {length: [-1]})


def test_the_loss_has_no_second_derivative() -> None:
    inputs = tf.constant(_LOGITS)
    loss = tf.nn.ctc_loss(tf.SparseTensor([[0, 0]], [1], [1, 1]), inputs, [4])
    [first] = tf.gradients(loss, inputs)
    with pytest.raises(LookupError, match="Gradient explicitly disabled"):
        tf.gradients(first, inputs)


def test_a_beam_that_holds_fewer_paths_than_asked_for_is_refused() -> None:
    found = tf.nn.ctc_beam_search_decoder(_LOGITS, [4], beam_width=2, top_paths=3)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="requested more paths than the beam search"):
        sess.run(found)
