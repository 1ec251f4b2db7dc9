"""Strings keep the zero bytes that they end in, which NumPy's own strings do not: a serialized message may end in one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import weft as tf

_TEXT = b"ab\0"


def _first(dataset: tf.data.Dataset) -> Any:
    return tf.data.make_one_shot_iterator(dataset).get_next()


def _rows() -> tf.SparseTensor:
    return tf.SparseTensor([[0, 0]], [b"x"], [2, 1])


def _with_default(feature: Any) -> Any:
    return tf.parse_single_example(tf.train.Example().SerializeToString(), {"f": feature})["f"]


_MADE: dict[str, Callable[[], Any]] = {
    "slices": lambda: _first(tf.data.Dataset.from_tensor_slices([_TEXT, b""])),
    "slices of rows": lambda: _first(tf.data.Dataset.from_tensor_slices([[_TEXT], [b""]]))[0],
    "mapped": lambda: _first(tf.data.Dataset.from_tensor_slices([_TEXT[:2]]).map(lambda each: each + b"\0")),
    "padded": lambda: _first(tf.data.Dataset.from_tensor_slices([_TEXT]).padded_batch(1, []))[0],
    "generator": lambda: _first(tf.data.Dataset.from_generator(lambda: iter([_TEXT]), tf.string)),
    "default of a dense form": lambda: tf.sparse_tensor_to_dense(_rows(), default_value=_TEXT)[1, 0],
    "default of an empty row": lambda: tf.sparse_fill_empty_rows(_rows(), _TEXT)[0].values[1],
    "default of a column": lambda: tf.decode_csv([b"x,"], [[b""], [_TEXT]])[1][0],
    "default of a feature": lambda: _with_default(tf.FixedLenFeature([], tf.string, _TEXT)),
    "filled": lambda: tf.fill([2], _TEXT)[1],
}


@pytest.mark.parametrize("name", _MADE)
def test_it_is_whole(name: str) -> None:
    with tf.Session() as session:
        assert session.run(_MADE[name]()) == _TEXT


def test_a_padding_of_sequences_is_whole() -> None:
    message = tf.train.Example()
    message.features.feature["f"].bytes_list.value.append(b"x")
    feature = tf.FixedLenSequenceFeature([], tf.string, allow_missing=True, default_value=_TEXT)
    parsed = tf.parse_example([message.SerializeToString(), b""], {"f": feature})["f"]
    with tf.Session() as session:
        assert session.run(parsed).tolist() == [[b"x"], [_TEXT]]
