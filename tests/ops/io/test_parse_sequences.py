"""parse_sequence_example, and its node of TensorFlow 2: what TensorFlow gives for the same batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pytest

import weft as tf
from weft.framework.building.aliases import Array
from weft.ops.io.parse_sequences import parse_sequence_example_v2


def _feature(values: Sequence[Any]) -> Any:
    if values and isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if values and isinstance(values[0], float):
        return tf.train.Feature(float_list=tf.train.FloatList(value=values))
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def _example(context: Mapping[str, Sequence[Any]], lists: Mapping[str, Sequence[Sequence[Any]]]) -> bytes:
    features = tf.train.Features(feature={key: _feature(values) for key, values in context.items()})
    steps = {key: tf.train.FeatureList(feature=[_feature(each) for each in rows]) for key, rows in lists.items()}
    data: bytes = tf.train.SequenceExample(
        context=features, feature_lists=tf.train.FeatureLists(feature_list=steps)
    ).SerializeToString()
    return data


_BATCH = [
    _example({"n": [3], "s": [b"a", b"bb"]}, {"t": [[1, 2], [3, 4], [5, 6]], "v": [[0.5], [1.5, 2.5]], "w": [[b"x"], [b"y"]]}),
    _example({"n": [4]}, {"t": [[7, 8]], "v": [[1.0, 2.0, 3.0]]}),
    _example({"n": [5], "s": [b"q"]}, {"t": [], "v": [], "w": [[b"k"]]}),
]
_CONTEXT = {"n": tf.FixedLenFeature([], tf.int64), "s": tf.VarLenFeature(tf.string)}
_LISTS = {
    "t": tf.FixedLenSequenceFeature([2], tf.int64),
    "v": tf.VarLenFeature(tf.float32),
    "w": tf.FixedLenSequenceFeature([], tf.string, allow_missing=True),
}


def _keys(*names: str) -> Array:
    return np.array([name.encode() for name in names], object)


def test_a_batch_has_contexts_lists_and_lengths() -> None:
    parsed = tf.io.parse_sequence_example(_BATCH, _CONTEXT, _LISTS)
    with tf.Session() as session:
        context, lists, lengths = session.run(parsed)
    assert context["n"].tolist() == [3, 4, 5]
    assert context["s"].indices.tolist() == [[0, 0], [0, 1], [2, 0]]
    assert context["s"].dense_shape.tolist() == [3, 2]
    assert lists["t"].tolist() == [[[1, 2], [3, 4], [5, 6]], [[7, 8], [0, 0], [0, 0]], [[0, 0]] * 3]
    assert lists["v"].indices.tolist() == [[0, 0, 0], [0, 1, 0], [0, 1, 1], [1, 0, 0], [1, 0, 1], [1, 0, 2]]
    assert lists["v"].dense_shape.tolist() == [3, 2, 3]
    assert lists["w"].tolist() == [[b"x", b"y"], [b"", b""], [b"k", b""]]
    assert {key: value.tolist() for key, value in lengths.items()} == {"t": [3, 1, 0], "w": [2, 0, 1]}


def test_the_shapes_are_known_as_far_as_they_can_be() -> None:
    context, lists, lengths = tf.io.parse_sequence_example(tf.placeholder(tf.string, [None]), _CONTEXT, _LISTS)
    assert context["n"].shape.as_list() == [None]
    assert lists["t"].shape.as_list() == [None, None, 2]
    assert lengths["w"].shape.as_list() == [None]


@pytest.mark.parametrize(("lists", "said"), [
    ({"w": tf.FixedLenSequenceFeature([], tf.string)}, "Name: two, Feature list 'w' is required but could not be found"),
    ({"t": tf.FixedLenSequenceFeature([3], tf.int64)}, "Number of int64 values != expected"),
])  # fmt: skip
def test_what_an_example_lacks_is_told_with_its_name(lists: Mapping[str, object], said: str) -> None:
    parsed = tf.io.parse_sequence_example(_BATCH, None, lists, ["one", "two", "three"])
    with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError, match=said):
        session.run(parsed)


def test_ragged_features_have_values_and_splits() -> None:
    outputs = parse_sequence_example_v2(
        tf.constant(_BATCH), _keys(), _keys(), _keys(), _keys("s"), _keys(), _keys(), _keys("v"), np.zeros(0, bool), [],
        context_ragged_value_types=[tf.string], context_ragged_split_types=[tf.int32],
        feature_list_ragged_value_types=[tf.float32], feature_list_ragged_split_types=[tf.int64],
    )  # fmt: skip
    with tf.Session() as session:
        found = [each.tolist() for part in session.run(outputs) for each in part]
    assert found == [[b"a", b"bb", b"q"], [0, 2, 2, 3], [0.5, 1.5, 2.5, 1.0, 2.0, 3.0], [0, 2, 3, 3], [0, 1, 3, 6]]


def test_one_example_has_no_row() -> None:
    *_, dense, lengths, _, _, _ = parse_sequence_example_v2(
        tf.constant(_BATCH[0]), _keys(), _keys(), _keys(), _keys(), _keys(), _keys("t"), _keys(), np.array([False]), [],
        Nfeature_list_dense=1, feature_list_dense_types=[tf.int64], feature_list_dense_shapes=[(2,)],
    )  # fmt: skip
    with tf.Session() as session:
        steps, length = session.run([dense[0], lengths[0]])
    assert steps.tolist() == [[1, 2], [3, 4], [5, 6]]
    assert length == 3
