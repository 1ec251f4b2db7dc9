"""Records read all at once are what they are one by one, or are left to that."""

from __future__ import annotations

import random

import numpy as np
import pytest

import weft as tf
from weft.ops.io.csv_columns import columns_of, values_of
from weft.ops.io.csv_grid import read_grid

KINDS = [tf.float32, tf.int32, tf.string, tf.float64, tf.float32]
DEFAULTS = [
    np.array([7.5], np.float32), np.array([-1], np.int32), np.array([b"none"], object), np.array([], np.float64),
    np.array([0.0], np.float32),
]  # fmt: skip


def _record(source: random.Random, delimiter: str) -> bytes:
    fields = [
        source.choice(["", f"{source.uniform(-9, 9):.4f}"]) if source.random() < 0.2 else f"{source.uniform(-99, 99):.3f}",
        str(source.randrange(-5, 1000)),
        source.choice(["", "a", "name 1", "été"]),
        repr(source.random())[: source.randrange(3, 19)],
        source.choice(["1", "1e3", "-.5"]),
    ]
    return delimiter.join(fields).encode()


@pytest.mark.parametrize("delimiter", [",", "\t", "|"])
@pytest.mark.parametrize("chosen", [[], [1, 3]])
def test_a_grid_is_what_its_records_are(delimiter: str, chosen: list[int]) -> None:
    source = random.Random(5)
    kinds, defaults = ([KINDS[i] for i in chosen], [DEFAULTS[i] for i in chosen]) if chosen else (KINDS, DEFAULTS)
    for count in (1, 2, 50):
        records = [_record(source, delimiter) for _ in range(count)]
        grid = read_grid(records, delimiter.encode(), True, chosen, kinds, defaults)
        texts = columns_of(records, delimiter.encode(), True, len(kinds), chosen)
        assert grid is not None
        assert texts is not None
        for values, column, kind, default in zip(grid, texts, kinds, defaults, strict=True):
            np.testing.assert_array_equal(values, values_of(column, b"", kind, default), strict=True)


@pytest.mark.parametrize(
    "records",
    [[], [b""], [b"1,2", b"3"], [b"1", b"2,3,4"], [b'1,"2"'], [b"1,2\n"], [b"1,x"], [b"1,"]],
    ids=["none", "empty", "short", "unlike", "quoted", "line", "word", "required"],
)
def test_what_is_not_plain_is_left(records: list[bytes]) -> None:
    assert read_grid(records, b",", True, [], [tf.int32] * 2, [np.array([], np.int32)] * 2) is None


def test_quotes_are_letters_where_they_hold_nothing_together() -> None:
    (column,) = read_grid([b'a"b'], b",", False, [], [tf.string], [np.array([], object)]) or ()
    assert column.tolist() == [b'a"b']


def test_a_digit_may_be_the_delimiter() -> None:
    first, second = read_grid([b"102", b"203"], b"0", True, [], [tf.int32] * 2, [np.array([], np.int32)] * 2) or ()
    assert (first.tolist(), second.tolist()) == ([1, 2], [2, 3])
