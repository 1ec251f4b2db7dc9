"""Summaries by their names of before TensorFlow 1.0 are in tf.contrib.deprecated."""

from __future__ import annotations

import weft as tf


def test_tags_are_given_and_all_are_merged() -> None:
    old = tf.contrib.deprecated
    assert old.merge_all_summaries() is None
    old.scalar_summary(["a", "b"], [1.0, 2.0])
    old.histogram_summary("h", [1.0, 2.0])
    old.image_summary("i", tf.zeros([2, 3, 3, 1]))
    old.audio_summary("s", tf.zeros([1, 5, 1]), 8000.0)
    merged = old.merge_all_summaries()
    assert merged.name == "MergeSummary/MergeSummary:0"
    with tf.Session() as sess:
        found = tf.Summary.FromString(sess.run(merged))
    assert [each.tag for each in found.value] == ["a", "b", "h", "i/image/0", "i/image/1", "s/audio/0"]
