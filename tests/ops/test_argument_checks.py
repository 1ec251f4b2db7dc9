"""Arguments that ops refuse while the graph is built, and the scope of merged summaries."""

from __future__ import annotations

import pytest

import weft as tf


def test_fill_takes_a_scalar_only():
    with pytest.raises(ValueError, match="Shape must be rank 0 but is rank 2"):
        tf.fill([2], tf.zeros([2, 3]))


def test_print_takes_a_list_of_data():
    with pytest.raises(TypeError, match="Expected list for 'data' argument to 'Print' Op, not x"):
        tf.Print(tf.zeros([2]), "x")


def test_merged_summaries_are_named_within_a_scope():
    tf.summary.scalar("loss", 1.0)
    assert tf.summary.merge_all().name == "Merge/MergeSummary:0"
    assert tf.summary.merge_all().name == "Merge_1/MergeSummary:0"
