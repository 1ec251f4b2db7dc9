from __future__ import annotations

import numpy as np
import pytest

import weft as tf
from weft.ops.strings.number_text import NumberError, numbers_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (b"1.5", 1.5), (b" -2 ", -2.0), (b"+5", 5.0), (b"1E+5", 1e5), (b".5", 0.5), (b"5.", 5.0), (b"nAn", np.nan),
        (b"-inf", -np.inf), (b"1e400", np.inf), (b" ", 0.0), (b"0x1F", 31.0), (b"-0X10", -16.0),
        # Between two float32, just below and just above the middle, which a float64 cannot tell from it.
        (b"1.00000017881393432617187499", np.nextafter(np.float32(1), np.float32(2))),
        (b"1.00000017881393432617187501", np.float32(1.0000002)),
        (b"3.4028235677973366e38", np.finfo(np.float32).max),
    ],
)  # fmt: skip
def test_floats_are_those_of_tensorflow(text: bytes, value: float) -> None:
    np.testing.assert_array_equal(numbers_of([b"1", text], tf.float32), np.array([1, value], np.float32), strict=True)


@pytest.mark.parametrize("text", [b"", b"1_0", b"infinity", b"0x1p3", b"0x", b"1e", b"1 2", b"1\x00", b"++5"])
def test_texts_that_are_no_floats_are_named(text: bytes) -> None:
    with pytest.raises(NumberError) as caught:
        numbers_of([b"1", b"2", text], tf.float64)
    assert caught.value.index == 2


@pytest.mark.parametrize("text", [b"", b" ", b"+5", b"1_0", b"1.0", b"0x1", b"2147483648", b"1" * 5000])
def test_texts_that_are_no_integers_are_named(text: bytes) -> None:
    with pytest.raises(NumberError) as caught:
        numbers_of([b"1", text, b"3"], tf.int32)
    assert caught.value.index == 1


def test_integers_may_stand_between_spaces() -> None:
    assert numbers_of([b" 7 ", b"-0", b"007", b"\t-2147483648\n"], tf.int32).tolist() == [7, 0, 7, -(2**31)]
