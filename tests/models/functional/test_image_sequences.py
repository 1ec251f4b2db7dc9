"""Images as sequences of columns, and back."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

layers = tf.contrib.layers
IMAGES = np.random.default_rng(0).normal(size=(2, 3, 4, 5))


@pytest.mark.parametrize(("layout", "order"), [("NHWC", (0, 1, 2, 3)), ("NCHW", (0, 3, 1, 2))])
def test_a_column_is_a_step(layout: str, order: tuple[int, ...]) -> None:
    given = tf.placeholder(tf.float64, [None, None, 4, 5] if layout == "NHWC" else [None, 5, 3, 4])
    sequence = layers.images_to_sequence(given, data_format=layout, outputs_collections=layout)
    assert sequence.shape.as_list() == [4, None, 5]
    assert tf.get_collection(layout) == [sequence]
    with tf.Session() as session:
        found = session.run(sequence, {given: IMAGES.transpose(order)})
    np.testing.assert_array_equal(found, IMAGES.transpose(2, 0, 1, 3).reshape(4, 6, 5))


def test_sequences_become_the_images_again() -> None:
    sequence = layers.images_to_sequence(tf.constant(IMAGES))
    last, first = layers.sequence_to_images(sequence, 3), layers.sequence_to_images(sequence, 3, "channels_first")
    assert (last.shape.as_list(), first.shape.as_list()) == ([2, 3, 4, 5], [2, 5, 3, 4])
    with tf.Session() as session:
        np.testing.assert_array_equal(session.run(last), IMAGES)
        np.testing.assert_array_equal(session.run(first), IMAGES.transpose(0, 3, 1, 2))


def test_another_layout_is_refused() -> None:
    with pytest.raises(ValueError, match=r"data_format has to be either NCHW or NHWC\. It is 'NWHC'"):
        layers.images_to_sequence(IMAGES, data_format="NWHC")
