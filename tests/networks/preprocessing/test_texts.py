"""Texts as numbers of words."""

from __future__ import annotations

import pytest

import weft as tf

text = tf.keras.preprocessing.text


def test_hashes_by_md5_are_those_of_tensorflow_and_other_names_are_refused() -> None:
    # What TensorFlow 1.15.5 gives.
    assert text.hashing_trick("The cat sat on the mat", 50, "md5") == [43, 32, 29, 3, 43, 29]
    assert text.hashing_trick("a b", 50, len) == [2, 2]
    with pytest.raises(ValueError, match="sha1"):
        text.hashing_trick("a b", 50, "sha1")
