"""Cases at the edges of ops that TensorFlow has an answer for: nothing to gather, nothing left to split."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.ops.strings.unicode import unicode_decode_node


@pytest.mark.parametrize("batches", [0, 2])
def test_rows_of_nothing_are_gathered_batch_by_batch(batches: int) -> None:
    params = tf.zeros([batches, 3, 4])
    with tf.Session() as session:
        found = session.run(tf.gather(params, np.zeros([batches, 0], np.int32), axis=1, batch_dims=1))
    assert found.shape == (batches, 0, 4)


@pytest.mark.parametrize(
    ("text", "splits", "parts"),
    [
        (b"a b c", 1, [b"a", b"b c"]),
        (b"ab", 1, [b"ab", b""]),
        (b"a b ", 2, [b"a", b"b", b""]),
        (b"a b", 3, [b"a", b"b"]),
        (b"", 1, []),
    ],
)
def test_what_is_left_behind_the_last_split_is_a_part_even_if_it_is_nothing(
    text: bytes, splits: int, parts: list[bytes]
) -> None:
    with tf.Session() as session:
        assert session.run(tf.strings.split([text], maxsplit=splits).values).tolist() == parts


@pytest.mark.parametrize("texts", ["a", ["a", "b"], [["a", "b"], ["c", "d"], ["e", "f"]]])
def test_the_splits_of_decoded_texts_are_counted_before_the_run(texts: Any) -> None:
    splits, _ = unicode_decode_node(tf.constant(texts), input_encoding="UTF-8")
    assert splits.shape.as_list() == [np.size(texts) + 1]
