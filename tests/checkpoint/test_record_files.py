"""Files of records: what is written is read back, and damage is told."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf
from weft.checkpoint.coding import crc32c, mask_crc
from weft.checkpoint.records import as_record, records

_RECORDS = [b"", b"a", b"second" * 1000, bytes(300_000)]


def _write(path: Path, options: object = None) -> str:
    with tf.python_io.TFRecordWriter(str(path), options) as writer:
        for record in _RECORDS:
            writer.write(record)
    return str(path)


@pytest.mark.parametrize("compression", ["NONE", "ZLIB", "GZIP"])
def test_records_come_back_under_every_compression(tmp_path: Path, compression: str) -> None:
    options = tf.python_io.TFRecordOptions(getattr(tf.python_io.TFRecordCompressionType, compression))
    path = _write(tmp_path / "file", options)
    assert list(tf.python_io.tf_record_iterator(path, options)) == _RECORDS


def test_a_plain_record_is_length_data_and_masked_checksums(tmp_path: Path) -> None:
    path = tmp_path / "one"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        writer.write(b"foo")
    data = path.read_bytes()
    assert data[:8] == (3).to_bytes(8, "little")
    assert data[8:12] == mask_crc(crc32c(data[:8])).to_bytes(4, "little")
    assert data[12:] == b"foo" + mask_crc(crc32c(b"foo")).to_bytes(4, "little")


def test_gzip_files_are_those_of_gzip(tmp_path: Path) -> None:
    path = _write(tmp_path / "file.gz", "GZIP")
    assert Path(path).read_bytes()[:2] == b"\x1f\x8b"


def test_compressed_files_may_be_appended_to_each_other(tmp_path: Path) -> None:
    path = Path(_write(tmp_path / "file.gz", "GZIP"))
    path.write_bytes(path.read_bytes() * 2)
    assert list(tf.python_io.tf_record_iterator(str(path), "GZIP")) == _RECORDS * 2


def test_a_changed_byte_is_a_data_loss(tmp_path: Path) -> None:
    path = Path(_write(tmp_path / "file"))
    data = bytearray(path.read_bytes())
    data[-10] ^= 1
    path.write_bytes(data)
    with pytest.raises(tf.errors.DataLossError, match="corrupted record"):
        list(tf.python_io.tf_record_iterator(str(path)))


def test_a_cut_file_is_a_data_loss_after_its_whole_records(tmp_path: Path) -> None:
    path = Path(_write(tmp_path / "file"))
    path.write_bytes(path.read_bytes()[:-1])
    records = tf.python_io.tf_record_iterator(str(path))
    assert [next(records) for _ in _RECORDS[:-1]] == _RECORDS[:-1]
    with pytest.raises(tf.errors.DataLossError, match="truncated record"):
        next(records)


def test_a_missing_file_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(tf.errors.NotFoundError):
        next(tf.python_io.tf_record_iterator(str(tmp_path / "nothing")))


def test_an_unknown_compression_is_refused() -> None:
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        tf.python_io.TFRecordOptions("LZ4")


def test_a_closed_writer_takes_no_more(tmp_path: Path) -> None:
    writer = tf.python_io.TFRecordWriter(str(tmp_path / "file"))
    writer.close()
    writer.close()
    with pytest.raises(tf.errors.FailedPreconditionError, match="is closed"):
        writer.write(b"late")


def test_text_is_no_record(tmp_path: Path) -> None:
    with tf.python_io.TFRecordWriter(str(tmp_path / "file")) as writer, pytest.raises(TypeError):
        writer.write(3)  # type: ignore[arg-type]


@pytest.mark.oracle
@pytest.mark.parametrize("compression", ["", "ZLIB", "GZIP"])
def test_tensorflow_reads_what_is_written(tmp_path: Path, compression: str) -> None:
    tensorflow = pytest.importorskip("tensorflow")
    path = _write(tmp_path / "file", compression)
    iterator = tensorflow.compat.v1.python_io.tf_record_iterator
    options = tensorflow.io.TFRecordOptions(compression_type=compression)
    assert list(iterator(path, options)) == _RECORDS


def test_records_are_read_across_the_blocks_of_a_file(tmp_path: Path) -> None:
    path = str(tmp_path / "records")
    # Shorter and longer than a block, one that ends with it, empty ones.
    written = [b"x" * size for size in (0, 1, (1 << 18) - 33, 5, 0, 3 << 18, 100, (1 << 18) - 16, 7)]
    with tf.python_io.TFRecordWriter(path) as writer:
        for record in written:
            writer.write(record)
    assert list(records(path)) == written


@pytest.mark.parametrize("cut", [1, 4, 9, 20])
def test_what_is_cut_off_is_told_with_its_place_after_the_records_before(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "records"
    whole = as_record(b"first") + as_record(b"second")
    path.write_bytes(whole[:-cut])
    found = records(str(path))
    assert next(found) == b"first"
    with pytest.raises(tf.errors.DataLossError, match=f"truncated record at {len(as_record(b'first'))} in"):
        next(found)


def test_the_records_of_a_block_before_a_changed_byte_are_given(tmp_path: Path) -> None:
    path = tmp_path / "changed"
    data = bytearray(b"".join(as_record(b"%d" % number) for number in range(5)))
    at = len(as_record(b"0")) * 3
    data[at + 12] ^= 1
    path.write_bytes(data)
    reader = records(str(path))
    assert [next(reader) for _ in range(3)] == [b"0", b"1", b"2"]
    with pytest.raises(tf.errors.DataLossError, match=rf"corrupted record at {at} in .*: its data do not fit"):
        next(reader)
