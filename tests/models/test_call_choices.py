"""Choices while building, and how many windows there are."""

from __future__ import annotations

import pytest

import weft as tf
from weft.models.functional.call_choices import conv_output_length, smart_cond


def test_a_known_predicate_chooses_while_building() -> None:
    assert [smart_cond(pred, lambda: "yes", lambda: "no") for pred in (True, 0, tf.constant(True))] == ["yes", "no", "yes"]
    pred = tf.placeholder(tf.bool, [])
    chosen = smart_cond(pred, true_fn=lambda: tf.constant(1), false_fn=lambda: tf.constant(2))
    with tf.Session() as session:
        assert [session.run(chosen, {pred: value}) for value in (True, False)] == [1, 2]
    with pytest.raises(TypeError, match="must be callable"):
        smart_cond(True, lambda: 1)


# As TensorFlow 1.15 has it: layers.utils.conv_output_length(10, 3, padding, 2, dilation).
@pytest.mark.parametrize(
    ("padding", "dilation", "expected"), [("same", 1, 5), ("valid", 1, 4), ("valid", 2, 3), ("full", 1, 6)]
)
def test_windows_along_a_dimension(padding: str, dilation: int, expected: int) -> None:
    assert conv_output_length(10, 3, padding, 2, dilation) == expected
    assert conv_output_length(None, 3, padding, 2, dilation) is None
