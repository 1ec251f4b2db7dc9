"""Numbers at places of one text are those that each text alone is read as, or are left to that."""

from __future__ import annotations

import random

import numpy as np
import pytest

import weft as tf
from weft.framework.types.dtypes import DType
from weft.ops.strings.number_places import PADDING, numbers_at
from weft.ops.strings.number_text import numbers_of

KINDS = (tf.float32, tf.float64, tf.int32, tf.int64)


def _read(texts: list[bytes], kind: DType) -> np.ndarray | None:
    sizes = np.array([len(text) for text in texts])
    return numbers_at(PADDING + b"|".join(texts) + b"|", np.cumsum(sizes + 1) + len(PADDING) - 1, sizes, kind)


def _number(source: random.Random) -> bytes:
    whole = str(source.randrange(10 ** source.randrange(1, 12)))
    behind = source.choice(["", ".", f".{source.randrange(10 ** source.randrange(1, 9))}"])
    text = source.choice(["", "-", "+"]) + source.choice([whole + behind, f".{whole}", whole])
    return text.encode()


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_plain_numbers_are_what_they_are_alone(kind: DType) -> None:
    source, read = random.Random(3), 0
    for _ in range(2000):
        texts = [_number(source) for _ in range(source.randrange(1, 3))]
        values = _read(texts, kind)
        if values is not None:
            read += 1
            np.testing.assert_array_equal(values, numbers_of(texts, kind), strict=True)
    assert read > 200


@pytest.mark.parametrize("kind", [tf.float32, tf.int64], ids=lambda kind: kind.name)
@pytest.mark.parametrize("text", [b"", b"-", b"1e5", b" 1", b"--1", b"1-", b"nan", b"0x1F", b"1_0", b"1" * 16, b"1" * 17])
def test_what_is_not_plain_is_left(text: bytes, kind: DType) -> None:
    assert _read([b"1", text], kind) is None


@pytest.mark.parametrize("text", [b".", b"-.", b"1..2", b"1.2.3", b"16777217"])
def test_floats_that_are_not_plain_or_halfway_between_two_are_left(text: bytes) -> None:
    assert _read([text], tf.float32) is None


@pytest.mark.parametrize("text", [b"1.0", b"+1", b"2147483648", b"-2147483649"])
def test_integers_that_are_not_plain_or_too_large_are_left(text: bytes) -> None:
    assert _read([text], tf.int32) is None


def test_the_sign_of_zero_is_kept() -> None:
    values = _read([b"-0", b"-.0", b"0"], tf.float32)
    assert values is not None
    assert np.signbit(values).tolist() == [True, True, False]
