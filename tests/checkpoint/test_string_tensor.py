from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft.checkpoint.string_tensor import decode_strings, encode_strings


@given(st.lists(st.binary(max_size=300), max_size=20))
def test_strings_come_back_with_the_same_checksum(strings: list[bytes]) -> None:
    encoded = encode_strings(strings)
    data = b"".join(encoded.pieces)
    assert len(data) == encoded.size
    decoded, crc = decode_strings(data, len(strings))
    assert decoded.tolist() == strings
    assert crc == encoded.crc


def test_damage_to_the_lengths_is_found_before_they_are_used() -> None:
    data = bytearray(b"".join(encode_strings([b"abc", b"de"]).pieces))
    data[0] += 1
    with pytest.raises(ValueError, match="the string lengths have checksum"):
        decode_strings(bytes(data), 2)


@pytest.mark.parametrize("cut", [1, 5, 8])
def test_missing_bytes_are_found(cut: int) -> None:
    data = b"".join(encode_strings([b"abc", b"de"]).pieces)
    with pytest.raises(ValueError, match="bytes"):
        decode_strings(data[:-cut], 2)


def test_damage_to_a_string_changes_the_checksum() -> None:
    encoded = encode_strings([b"abc", b"de"])
    data = bytearray(b"".join(encoded.pieces))
    data[-1] ^= 1
    assert decode_strings(bytes(data), 2)[1] != encoded.crc
