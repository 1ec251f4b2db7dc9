from __future__ import annotations

import io
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from weft import errors
from weft.checkpoint.coding import crc32c, fixed32, mask_crc
from weft.checkpoint.table import FOOTER_BYTES, Table, TableWriter

ENTRIES = {f"scope_{i // 50}/variable_{i:05d}".encode(): b"v" * (i % 40) for i in range(500)}


def build(entries: Mapping[bytes, bytes], block_bytes: int = 512) -> bytes:
    sink = io.BytesIO()
    writer = TableWriter(sink, block_bytes)
    for key in sorted(entries):
        writer.add(key, entries[key])
    writer.finish()
    return sink.getvalue()


@pytest.mark.parametrize("block_bytes", [1, 100, 4096, 1 << 20])
def test_entries_come_back_whatever_the_block_size(block_bytes: int) -> None:
    table = Table(build(ENTRIES, block_bytes), "t.index")
    assert dict(table.items()) == ENTRIES
    assert all(table.get(key) == value for key, value in ENTRIES.items())


@given(st.dictionaries(st.binary(max_size=6), st.binary(max_size=20), max_size=60), st.binary(max_size=6))
def test_a_table_is_a_sorted_dictionary(entries: dict[bytes, bytes], other: bytes) -> None:
    table = Table(build(entries, 64), "t.index")
    assert list(table.items()) == sorted(entries.items())
    assert all(table.get(key) == value for key, value in entries.items())
    assert table.get(other) == entries.get(other)


def test_keys_share_prefixes_between_restart_points() -> None:
    long = {b"x" * 100 + b"%03d" % i: b"" for i in range(64)}
    data = build(long, 1 << 20)
    assert data.count(b"x" * 100) == 4


def test_a_key_out_of_order_is_refused() -> None:
    writer = TableWriter(io.BytesIO())
    writer.add(b"b", b"")
    for key in (b"a", b"b"):
        with pytest.raises(ValueError, match="table keys must increase"):
            writer.add(key, b"")


@pytest.mark.parametrize("mask", [0x01, 0x80])
def test_no_flipped_bit_goes_unnoticed(mask: int) -> None:
    entries = {key: ENTRIES[key] for key in list(ENTRIES)[:40]}
    data = build(entries)
    unnoticed = 0
    for position in range(len(data)):
        damaged = bytearray(data)
        damaged[position] ^= mask
        try:
            found = dict(Table(bytes(damaged), "t.index").items())
        except errors.DataLossError:
            continue
        # A longer code of the same number in the footer changes nothing.
        assert found == entries
        unnoticed += 1
    assert unnoticed <= 4


def test_no_truncation_goes_unnoticed() -> None:
    data = build({key: ENTRIES[key] for key in list(ENTRIES)[:40]})
    for length in range(len(data)):
        with pytest.raises(errors.DataLossError, match=r"t\.index: "):
            list(Table(data[:length], "t.index").items())


def test_damage_in_one_block_leaves_the_others_readable() -> None:
    data = bytearray(build(ENTRIES))
    data[3] ^= 1
    table = Table(bytes(data), "t.index")
    keys = sorted(ENTRIES)
    with pytest.raises(errors.DataLossError, match="block checksum mismatch"):
        table.get(keys[0])
    assert table.get(keys[-1]) == ENTRIES[keys[-1]]


def test_other_files_are_named_as_such() -> None:
    with pytest.raises(errors.DataLossError, match=r"a\.txt: not an sstable \(bad magic number\)"):
        Table(b"hello world " * 20, "a.txt")
    with pytest.raises(errors.DataLossError, match="empty: file is too short to be an sstable: 0 bytes"):
        Table(b"", "empty")


def test_a_compressed_block_is_refused_by_name() -> None:
    data = bytearray(build({b"k": b"v"}))
    end = len(data) - FOOTER_BYTES
    # The first block: one entry of 5 bytes, one restart point, its count.
    size = 5 + 8
    assert end > size
    data[size] = 1
    data[size + 1 : size + 5] = fixed32(mask_crc(crc32c(bytes(data[: size + 1]))))
    with pytest.raises(errors.UnimplementedError, match=r"t\.index: .*compressed \(snappy\)"):
        Table(bytes(data), "t.index").get(b"k")


ONE_RESTART = fixed32(0) + fixed32(1)


@pytest.mark.parametrize(
    "contents",
    [b"\x05\x01\x00k" + ONE_RESTART, b"\0\x50\0k" + ONE_RESTART, b"\x80" + ONE_RESTART, fixed32(1000)],
    ids=["shares too much", "too long", "half a varint", "too many restarts"],
)
def test_a_malformed_block_with_a_right_checksum_is_data_loss(contents: bytes) -> None:
    good = build({b"k": b"v"})
    typed = contents + b"\0"
    block = typed + fixed32(mask_crc(crc32c(typed)))
    sink = io.BytesIO()
    writer = TableWriter(sink)
    writer.finish()
    # Behind the block under test, which the footer tells to be the index, lie an empty table's own two.
    empty = sink.getvalue()[:-FOOTER_BYTES]
    footer = bytes((len(block), 8, 0, len(contents))).ljust(40, b"\0") + good[-8:]
    with pytest.raises(errors.DataLossError, match="has an entry that cannot be read"):
        Table(block + empty + footer, "t.index")
