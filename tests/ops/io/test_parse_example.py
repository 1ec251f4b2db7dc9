"""parse_example and parse_single_example: dense, sparse, padded and missing features."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


def _feature(values: list[Any]) -> Any:
    if values and isinstance(values[0], bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=values))
    if values and isinstance(values[0], int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=values))
    return tf.train.Feature(float_list=tf.train.FloatList(value=values))


def _example(**features: list[Any]) -> bytes:
    made = {key: _feature(values) for key, values in features.items()}
    return tf.train.Example(features=tf.train.Features(feature=made)).SerializeToString()


def _batch(examples: list[bytes], features: Any, **kwargs: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.parse_example(examples, features, **kwargs))


def _single(example: bytes, features: Any, **kwargs: Any) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.parse_single_example(example, features, **kwargs))


def test_dense_features_have_their_shapes_and_defaults() -> None:
    features = {
        "x": tf.FixedLenFeature([2], tf.float32),
        "label": tf.FixedLenFeature([], tf.int64, default_value=-1),
        "name": tf.FixedLenFeature([1], tf.string, default_value=["?"]),
    }
    parsed = _batch([_example(x=[1.0, 2.0], label=[3], name=[b"n"]), _example(x=[3.0, 4.0])], features)
    assert parsed["x"].tolist() == [[1, 2], [3, 4]]
    assert parsed["label"].tolist() == [3, -1]
    assert parsed["name"].tolist() == [[b"n"], [b"?"]]


def test_shapes_are_known_while_building() -> None:
    with tf.Graph().as_default():
        features = {"x": tf.FixedLenFeature([2, 3], tf.float32), "v": tf.VarLenFeature(tf.int64)}
        parsed = tf.parse_example(tf.placeholder(tf.string, [5]), features)
        assert parsed["x"].shape.as_list() == [5, 2, 3]
        assert parsed["v"].indices.shape.as_list() == [None, 2]
        one = tf.parse_single_example(tf.placeholder(tf.string, []), features)
        assert one["x"].shape.as_list() == [2, 3]


def test_any_number_of_values_is_a_sparse_tensor() -> None:
    parsed = _batch([_example(v=[7, 8]), _example(), _example(v=[9])], {"v": tf.VarLenFeature(tf.int64)})["v"]
    assert parsed.indices.tolist() == [[0, 0], [0, 1], [2, 0]]
    assert parsed.values.tolist() == [7, 8, 9]
    assert parsed.dense_shape.tolist() == [3, 2]


def test_sequences_are_padded() -> None:
    features = {"s": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True, default_value=5)}
    parsed = _batch([_example(s=[1, 2, 3, 4]), _example(), _example(s=[6, 7])], features)["s"]
    assert parsed.tolist() == [[[1, 2], [3, 4]], [[5, 5], [5, 5]], [[6, 7], [5, 5]]]


def test_positions_and_values_make_a_sparse_tensor() -> None:
    features = {"s": tf.SparseFeature("ix", "val", tf.float32, 10)}
    parsed = _batch([_example(ix=[4, 2], val=[0.5, 1.5]), _example(ix=[9], val=[2.5])], features)["s"]
    assert parsed.indices.tolist() == [[0, 2], [0, 4], [1, 9]]
    assert parsed.values.tolist() == [1.5, 0.5, 2.5]
    assert parsed.dense_shape.tolist() == [2, 10]


@pytest.mark.parametrize("kwargs", [{}, {"example_names": "first"}])
def test_a_single_example_has_no_batch(kwargs: Any) -> None:
    features = {"x": tf.FixedLenFeature([2], tf.float32), "v": tf.VarLenFeature(tf.int64)}
    parsed = _single(_example(x=[1.0, 2.0], v=[3, 4]), features, **kwargs)
    assert parsed["x"].tolist() == [1, 2]
    assert parsed["v"].indices.tolist() == [[0], [1]]
    assert parsed["v"].dense_shape.tolist() == [2]


@pytest.mark.parametrize("parse", [lambda e, f: _batch([e], f), _single])
def test_a_feature_without_default_is_required(parse: Any) -> None:
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"Feature: x \(data type: float\) is required"):
        parse(_example(), {"x": tf.FixedLenFeature([2], tf.float32)})


def test_errors_name_the_example_of_a_batch() -> None:
    good, short = _example(x=[1.0, 2.0]), _example(x=[1.0])
    names = ["first", "second"]
    for feature, example, message in (
        (tf.FixedLenFeature([2], tf.float32), short, "Name: second, Key: x, Index: 1.  Number of float values != expected.  "
                                                     "Values size: 1 but output shape: [2]"),
        (tf.FixedLenFeature([2], tf.float32), _example(), "Name: second, Feature: x (data type: float) is required"),
        (tf.VarLenFeature(tf.float32), _example(x=[1]), "Name: second, Key: x, Index: 1.  Data types don't match. Expected "
                                                        "type: float, Actual type: int64"),
    ):  # fmt: skip
        with pytest.raises(tf.errors.InvalidArgumentError) as caught, tf.Session() as session:
            session.run(tf.parse_example([good, example], {"x": feature}, example_names=names))
        assert str(caught.value).startswith(message)


def test_wrong_types_numbers_and_bytes_are_refused() -> None:
    features = {"x": tf.FixedLenFeature([2], tf.float32)}
    with pytest.raises(tf.errors.InvalidArgumentError, match="Data types don't match"):
        _single(_example(x=[1, 2]), features)
    with pytest.raises(tf.errors.InvalidArgumentError, match="values != expected"):
        _single(_example(x=[1.0]), features)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse example input"):
        _single(b"\xff\xff no example", features)


@pytest.mark.parametrize(
    ("features", "message"),
    [
        ({}, "Missing"),
        ({"x": 3}, "Invalid feature"),
        ({"x": tf.VarLenFeature(None)}, "Missing type"),
        ({"x": tf.FixedLenFeature(None, tf.int64)}, "Missing shape"),
        ({"x": tf.FixedLenFeature([None], tf.int64)}, "need to be known"),
        ({"x": tf.FixedLenSequenceFeature([], tf.int64)}, "allow_missing"),
    ],
)
def test_features_are_checked_while_building(features: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        tf.parse_example(["x"], features)


def test_records_of_a_file_become_examples(tmp_path: Any) -> None:
    path = str(tmp_path / "examples")
    with tf.python_io.TFRecordWriter(path) as writer:
        for index in range(3):
            writer.write(_example(x=[float(index)] * 2))
    records = list(tf.python_io.tf_record_iterator(path))
    parsed = _batch(records, {"x": tf.FixedLenFeature([2], tf.float32)})["x"]
    np.testing.assert_array_equal(parsed[:, 0], [0, 1, 2])


def test_texts_are_told_as_bytes() -> None:
    value = tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"one"]))
    example = tf.train.Example(features=tf.train.Features(feature={"t": value})).SerializeToString()
    wrong = tf.parse_example([example], {"t": tf.FixedLenFeature([2], tf.string)}, example_names=["first"])
    message = r"Name: first, Key: t, Index: 0\.  Number of bytes values != expected\.  Values size: 1 but output shape: \[2\]"
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(wrong)


@pytest.mark.parametrize(
    ("values", "feature"),
    [
        ([5], tf.FixedLenFeature([], tf.int64)),
        ([5, -6], tf.FixedLenFeature([2, 1], tf.int64)),
        ([0.1, 2.5, 3.0], tf.FixedLenFeature([3], tf.float32)),
        ([b"a\0b\0"], tf.FixedLenFeature([], tf.string)),
        ([b"a\0", b""], tf.FixedLenFeature([1, 2], tf.string)),
        ([], tf.FixedLenFeature([0], tf.float32)),
        ([b"x"], tf.FixedLenFeature([2], tf.string, default_value=["d", "e"])),
        ([5], tf.FixedLenFeature([], tf.string)),
        ([5, 6], tf.FixedLenFeature([], tf.int64)),
        ([1, 2, 3], tf.FixedLenSequenceFeature([], tf.int64, allow_missing=True)),
    ],
)
def test_an_example_alone_is_parsed_as_one_of_a_batch(values: list[Any], feature: Any) -> None:
    outcomes = []
    for parse, given in ((_single, _example(x=values)), (_batch, [_example(x=values)])):
        try:
            made = parse(given, {"x": feature})["x"]
            outcomes.append(np.asarray(made[0] if parse is _batch else made).tolist())
        except tf.errors.InvalidArgumentError as error:
            outcomes.append(error.message.splitlines()[0].partition("Key: x")[2].partition(".  ")[2])
    assert outcomes[0] == outcomes[1]
