from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.checkpoint.coding import crc32c, fixed32, mask_crc, read_fixed32, read_varint, unmask_crc, varint, varints


@given(st.integers(0, 2**64 - 1), st.binary(max_size=3))
def test_a_varint_comes_back_with_the_offset_after_it(value: int, before: bytes) -> None:
    data = before + varint(value) + b"\x80rest"
    assert read_varint(data, len(before)) == (value, len(before) + len(varint(value)))


def test_varints_have_the_known_bytes() -> None:
    assert varints((0, 127, 128, 300)) == b"\x00\x7f\x80\x01\xac\x02"


@pytest.mark.parametrize("data", [b"", b"\x80", b"\x80" * 11])
def test_an_incomplete_varint_is_an_error(data: bytes) -> None:
    with pytest.raises(ValueError, match="no complete varint at 0"):
        read_varint(data, 0)


def test_the_checksum_is_crc32c() -> None:
    assert crc32c(b"123456789") == 0xE3069283


def test_a_checksum_goes_on_over_arrays_that_are_not_copied() -> None:
    data = np.frombuffer(b"123456789", np.uint8).copy()
    assert crc32c(data[4:], crc32c(data[:4])) == 0xE3069283


@given(st.integers(0, 2**32 - 1))
def test_masking_is_undone(crc: int) -> None:
    assert unmask_crc(mask_crc(crc)) == crc
    assert mask_crc(crc) != crc


def test_fixed_integers_are_little_endian_and_bounded() -> None:
    assert fixed32(0x01020304) == b"\4\3\2\1"
    assert read_fixed32(b"\0\4\3\2\1", 1) == 0x01020304
    for offset in (-1, 2):
        with pytest.raises(ValueError, match="exceeds the 5 bytes"):
            read_fixed32(b"\0\4\3\2\1", offset)
