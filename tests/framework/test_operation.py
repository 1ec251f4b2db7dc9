"""Tensors and operations as programs hold them."""

from __future__ import annotations

import weft as tf


def test_programs_hang_attributes_of_their_own_on_tensors_and_operations() -> None:
    tensor = tf.constant(1.0)
    for holder in (tensor, tensor.op):
        vars(holder)["scope"] = "conv"
        assert getattr(holder, "scope") == "conv"  # noqa: B009


def test_slices_are_negated():
    slices = tf.IndexedSlices(tf.constant([1.0, 2.0]), tf.constant([0, 3]))
    with tf.Session() as session:
        assert session.run((-slices).values).tolist() == [-1.0, -2.0]
    assert (-slices).indices is slices.indices
