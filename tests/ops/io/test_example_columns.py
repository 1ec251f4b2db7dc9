"""Batches of examples read at once: what they give is what each example gives alone."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from google.protobuf.message import DecodeError

import weft as tf
from weft.ops.io import example_layout
from weft.ops.io.example_columns import columns_of
from weft.ops.io.header_table import BYTES, FLOATS, INTEGERS, PADDING

FEATURES = {
    "count": tf.FixedLenFeature([], tf.int64, default_value=-7),
    "pair": tf.FixedLenFeature([2], tf.float32, default_value=[0.5, 1.5]),
    "image": tf.FixedLenFeature([4, 10], tf.float32),
    "text": tf.FixedLenFeature([], tf.string, default_value="none"),
    "steps": tf.FixedLenSequenceFeature([2], tf.int64, allow_missing=True, default_value=3),
    "words": tf.VarLenFeature(tf.string),
    "numbers": tf.VarLenFeature(tf.int64),
    "parts": tf.VarLenFeature(tf.float32),
    "nowhere": tf.VarLenFeature(tf.string),
}
LISTS = {"count": "int64_list", "steps": "int64_list", "numbers": "int64_list", "text": "bytes_list", "words": "bytes_list"}


def _values(source: random.Random) -> dict[str, list[Any]]:
    return {
        "count": [source.choice([0, 127, 128, 2**62, -1, -(2**63)])],
        "pair": [source.random(), source.random()],
        "image": [source.random() for _ in range(40)],
        "text": [source.randbytes(source.choice([0, 1, 5, 200]))],
        "steps": [source.randrange(300) for _ in range(2 * source.randrange(3))],
        "words": [source.randbytes(source.randrange(4)) for _ in range(source.choice([0, 1, 2, 3, 20]))],
        "numbers": [source.randrange(-5, 10 ** source.randrange(1, 15)) for _ in range(source.randrange(5))],
        "parts": [source.random() for _ in range(source.randrange(40))],
        "unwanted": [source.random()],
    }


def _example(source: random.Random) -> bytes:
    """An example in one of several orders, some features of which are missing or empty."""
    values = list(_values(source).items())
    if source.random() < 0.2:
        source.shuffle(values)
    example = tf.train.Example()
    for key, numbers in values:
        if key == "image" or source.random() > 0.1:
            getattr(example.features.feature[key], LISTS.get(key, "float_list")).value.extend(numbers)
    return bytes(example.SerializeToString())


def _parse(examples: list[bytes]) -> Any:
    with tf.Graph().as_default(), tf.Session() as session:
        return session.run(tf.parse_example(examples, FEATURES))


def _padded(value: Any, shape: tuple[int, ...], filler: int) -> Any:
    return np.pad(value, [(0, size - found) for size, found in zip(shape, value.shape, strict=True)], constant_values=filler)


def test_a_batch_is_what_its_examples_are_alone() -> None:
    source = random.Random(7)
    examples = [_example(source) for _ in range(60)]
    batch = _parse(examples)
    with tf.Graph().as_default(), tf.Session() as session:
        text = tf.placeholder(tf.string, [1])
        parsed = tf.parse_example(text, FEATURES)
        alone = [session.run(parsed, {text: [example]}) for example in examples]
    for key in FEATURES:
        if isinstance(batch[key], tf.SparseTensorValue):
            rows = np.concatenate([np.stack([np.full(len(one[key].values), row), one[key].indices[:, 1]], 1)
                                   for row, one in enumerate(alone)])  # fmt: skip
            np.testing.assert_array_equal(batch[key].indices, rows)
            assert batch[key].values.tolist() == [value for one in alone for value in one[key].values.tolist()]
            assert batch[key].dense_shape.tolist() == [60, max(one[key].dense_shape[1] for one in alone)]
        else:
            pieces = [_padded(one[key], (1, *batch[key].shape[1:]), 3) for one in alone]
            np.testing.assert_array_equal(batch[key], np.concatenate(pieces), strict=True)


def _integers(*values: int) -> bytes:
    example = tf.train.Example()
    example.features.feature["x"].int64_list.value.extend(values)
    return bytes(example.SerializeToString())


def test_the_first_wrong_example_of_a_batch_is_named() -> None:
    features = {"x": tf.FixedLenFeature([], tf.int64)}
    examples, names = [_integers(i) for i in range(20)], [f"n{i}" for i in range(22)]
    for bad, message in ((_integers(1, 2), "Values size: 2"), (b"\xff", "Could not parse"), (b"", "is required")):
        with (
            tf.Graph().as_default(),
            tf.Session() as session,
            pytest.raises(tf.errors.InvalidArgumentError, match=f"Name: n12, .*{message}"),
        ):
            session.run(tf.parse_example([*examples[:12], bad, *examples[12:], bad], features, example_names=names))


def test_features_of_another_kind_are_no_columns() -> None:
    assert columns_of([_integers(5)] * 9, [(b"x", FLOATS)]) is None
    (column,) = columns_of([_integers(5)] * 9, [(b"x", INTEGERS)]) or []
    assert column.values.tolist() == [5] * 9


def test_numbers_that_are_not_packed_are_read_too() -> None:
    # An Int64List whose numbers 5 and 300 have a tag each.
    example = b"\x0a\x0e\x0a\x0c\x0a\x01x\x12\x07\x1a\x05\x08\x05\x08\xac\x02"
    assert example_layout.learn(example) is None
    (column,) = columns_of([example, _integers(1)] * 5, [(b"x", INTEGERS)]) or []
    assert (column.values.tolist(), column.counts.tolist()) == ([5, 300, 1] * 5, [2, 1] * 5)


@pytest.mark.parametrize("seed", range(4))
def test_damaged_records_are_found_or_read_as_the_parser_reads_them(seed: int) -> None:
    source = random.Random(seed)
    wanted = [(b"count", INTEGERS), (b"parts", FLOATS), (b"words", BYTES)]
    for _ in range(40):
        records = [_example(source) for _ in range(8)]
        damaged = bytearray(records[3])
        damaged[source.randrange(len(damaged))] = source.randrange(256)
        records[3] = bytes(damaged)
        found = columns_of(records, wanted)
        try:
            features = tf.train.Example.FromString(records[3]).features.feature
        except DecodeError:
            continue
        if found is not None:
            for (key, _), column in zip(wanted, found, strict=True):
                values = getattr(features[key.decode()], LISTS.get(key.decode(), "float_list")).value
                before = int(column.counts[:3].sum())
                assert column.counts[3] == len(values)
                np.testing.assert_array_equal(
                    column.values[before : before + len(values)], np.array(values, column.values.dtype)
                )


def test_a_layout_finds_the_records_that_have_it() -> None:
    records = [_integers(i) for i in (1, 2, 3)] + [
        _integers(*range(200)),
        _integers(300),
        b"",
        b"\x0a\x00",
        bytes(len(_integers(1))),
    ]
    layout = example_layout.learn(records[0])
    assert layout is not None
    ends = np.cumsum([len(record) for record in records])
    starts = ends - np.array([len(record) for record in records])
    fits, (places,) = example_layout.locate(layout, b"".join([*records, PADDING]), starts, ends)
    assert fits.tolist() == [True, True, True, False, True, False, False, False]
    assert places.sizes[fits].tolist() == [1, 1, 1, 2]


@pytest.mark.parametrize("limit", [2**6, 2**7 + 2, 2**20, 2**56, 2**63])
def test_single_numbers_of_any_width_are_what_they_are_alone(limit: int) -> None:
    source = random.Random(limit)
    numbers = [source.randrange(limit) for _ in range(40)] + [0, 127, 128, limit - 1]
    examples = []
    for number in numbers:
        example = tf.train.Example()
        example.features.feature["id"].int64_list.value.append(number)
        examples.append(bytes(example.SerializeToString()))
    (column,) = columns_of(examples, [(b"id", INTEGERS)]) or ()
    assert column.values.tolist() == numbers
    assert column.counts.tolist() == [1] * len(numbers)


def test_records_that_differ_in_lengths_and_in_what_is_missing_have_one_layout() -> None:
    def record(words: list[bytes], count: int | None) -> bytes:
        # Keys in one order, each in every record, some without a value.
        entries = b"".join(
            _field(0x0A, _field(0x0A, key) + _field(0x12, value))
            for key, value in (
                (b"words", _field(BYTES, b"".join(_field(0x0A, word) for word in words))),
                (b"count", b"" if count is None else _field(INTEGERS, _field(0x0A, bytes((count,))))),
            )
        )
        return _field(0x0A, entries)

    records = [record([b"w" * (row % 7)] * (row % 12), row if row % 3 else None) for row in range(40)]
    layouts = [example_layout.learn(each) for each in records]
    joined = layouts[0]
    for each in layouts:
        assert joined is not None
        assert each is not None
        joined = example_layout.unified(joined, each)
    words, counts = columns_of(records, [(b"words", BYTES), (b"count", INTEGERS)]) or []
    assert words.counts.tolist() == [row % 12 for row in range(40)]
    assert words.values.tolist() == [b"w" * (row % 7) for row in range(40) for _ in range(row % 12)]
    assert counts.present.tolist() == [row % 3 > 0 for row in range(40)]
    assert counts.values.tolist() == [row for row in range(40) if row % 3]


@pytest.mark.parametrize("count", [1, 33, 40, 63, 70])
def test_records_of_many_features_beside_others_are_what_they_are_alone(count: int) -> None:
    def record(row: int, width: int) -> bytes:
        example = tf.train.Example()
        for number in range(count):
            example.features.feature[f"f{number:02}"].float_list.value.extend([float(row + number)] * width)
        return bytes(example.SerializeToString(deterministic=True))

    # The lengths of the others, read as those of the first, lead far away.
    records = [record(row, 1) for row in range(20)] + [record(row, 29) for row in range(20, 23)] + [record(23, 1)]
    wanted = [(f"f{number:02}".encode(), FLOATS) for number in (0, count - 1)]
    found = columns_of(records, wanted) or []
    for column, number in zip(found, (0, count - 1), strict=True):
        assert column.counts.tolist() == [1] * 20 + [29] * 3 + [1]
        assert column.values.tolist() == [row + number for row in range(24) for _ in range(column.counts[row])]


def _field(tag: int, data: bytes) -> bytes:
    """A length-delimited field."""
    size = len(data)
    return bytes((tag, size) if size < 0x80 else (tag, size & 0x7F | 0x80, size >> 7)) + data
