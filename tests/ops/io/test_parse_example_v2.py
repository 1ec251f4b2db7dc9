"""ParseExampleV2 by its node: a batch, one example, ragged features."""

from __future__ import annotations

import numpy as np

import weft as tf
from weft.framework.building.aliases import Array
from weft.ops.io.parse_example_v2 import parse_example_v2


def _example(x: list[int], s: list[bytes]) -> bytes:
    features = {
        "x": tf.train.Feature(int64_list=tf.train.Int64List(value=x)),
        "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=s)),
    }
    data: bytes = tf.train.Example(features=tf.train.Features(feature=features)).SerializeToString()
    return data


def _keys(*names: str) -> Array:
    return np.array([name.encode() for name in names], object)


_BATCH = [_example([1, 2], [b"a"]), _example([3, 4], []), _example([5, 6], [b"b", b"c"])]


def test_a_batch_has_sparse_and_dense_features() -> None:
    outputs = parse_example_v2(
        tf.constant(_BATCH), _keys(), _keys("s"), _keys("x"), _keys(), [np.zeros(0, np.int64)], Tdense=[tf.int64],
        num_sparse=1, sparse_types=[tf.string], ragged_value_types=[], ragged_split_types=[], dense_shapes=[(2,)],
    )  # fmt: skip
    with tf.Session() as session:
        (indices,), (values,), (shape,), (dense,), _, _ = session.run(outputs)
    assert indices.tolist() == [[0, 0], [2, 0], [2, 1]]
    assert values.tolist() == [b"a", b"b", b"c"]
    assert shape.tolist() == [3, 2]
    assert dense.tolist() == [[1, 2], [3, 4], [5, 6]]


def test_one_example_has_no_row() -> None:
    outputs = parse_example_v2(
        tf.constant(_BATCH[2]), _keys(), _keys("s"), _keys("x"), _keys(), [np.zeros(0, np.int64)], Tdense=[tf.int64],
        num_sparse=1, sparse_types=[tf.string], ragged_value_types=[], ragged_split_types=[], dense_shapes=[(2,)],
    )  # fmt: skip
    with tf.Session() as session:
        (indices,), (values,), (shape,), (dense,), _, _ = session.run(outputs)
    assert (indices.tolist(), values.tolist(), shape.tolist(), dense.tolist()) == ([[0], [1]], [b"b", b"c"], [2], [5, 6])


def test_a_ragged_feature_has_values_and_splits() -> None:
    *_, values, splits = parse_example_v2(
        tf.constant(_BATCH), _keys(), _keys(), _keys(), _keys("s"), [], Tdense=[], num_sparse=0, sparse_types=[],
        ragged_value_types=[tf.string], ragged_split_types=[tf.int32], dense_shapes=[],
    )  # fmt: skip
    with tf.Session() as session:
        found, at = session.run([values[0], splits[0]])
    assert found.tolist() == [b"a", b"b", b"c"]
    assert at.tolist() == [0, 1, 1, 3]
    assert at.dtype == np.int32
