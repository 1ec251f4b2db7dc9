"""RecordInput: batches of the records of many files, each record once in a round."""

from __future__ import annotations

from pathlib import Path

import pytest
from weft.contrib.framework import RecordInput

import weft as tf
from weft.ops.io.record_yielder import RecordSource, RecordYielder


@pytest.fixture
def files(tmp_path: Path) -> str:
    for number in range(3):
        with tf.python_io.TFRecordWriter(str(tmp_path / f"{number}.rec")) as writer:
            for record in range(20):
                writer.write(b"%d:%d" % (number, record))
    return str(tmp_path / "*.rec")


ALL = sorted(b"%d:%d" % (number, record) for number in range(3) for record in range(20))


@pytest.mark.parametrize("buffer_size", [1, 7, 1000])
@pytest.mark.parametrize("parallelism", [1, 2, 5])
def test_each_round_has_every_record_once(files: str, buffer_size: int, parallelism: int) -> None:
    records = RecordInput(files, batch_size=20, buffer_size=buffer_size, parallelism=parallelism, seed=3).get_yield_op()
    with tf.Session() as session:
        rounds = [[record for _ in range(3) for record in session.run(records).tolist()] for _ in range(3)]
    assert [sorted(each) for each in rounds] == [ALL] * 3
    # A single record to choose from leaves only the files' order to chance.
    assert buffer_size == 1 or len({tuple(each) for each in rounds}) == 3


def test_the_order_follows_from_the_seed(files: str) -> None:
    orders = [RecordYielder(RecordSource(files, seed, 0.0, 30, 2, "")).take(60) for seed in (1, 1, 2)]
    assert orders[0] == orders[1] != orders[2]


def test_readers_of_one_seed_begin_at_different_files(files: str) -> None:
    begun = {RecordYielder(RecordSource(files, 5, shift, 1, 1, "")).take(1)[0][:1] for shift in (0.0, 0.34, 0.67)}
    assert begun == {b"0", b"1", b"2"}


def test_records_are_dealt_out_to_lists(files: str) -> None:
    lists = RecordInput(files, batch_size=2, batches=3, name="input").get_yield_op()
    assert [len(each) for each in lists] == [2, 2, 2]
    with tf.Session() as session:
        assert len({record for each in session.run(lists) for record in each}) == 6


def test_a_compressed_file_is_read(tmp_path: Path) -> None:
    zlib = tf.python_io.TFRecordCompressionType.ZLIB
    with tf.python_io.TFRecordWriter(str(tmp_path / "z"), tf.python_io.TFRecordOptions(zlib)) as writer:
        writer.write(b"packed")
    with tf.Session() as session:
        assert session.run(RecordInput(str(tmp_path / "z"), compression_type=zlib).get_yield_op()).tolist() == [b"packed"]
        with pytest.raises(tf.errors.DataLossError):
            session.run(RecordInput(str(tmp_path / "z")).get_yield_op())


def test_files_that_come_later_are_found_by_the_next_step(tmp_path: Path) -> None:
    path = tmp_path / "late"
    records = RecordInput(str(path)).get_yield_op()
    with tf.Session() as session:
        with pytest.raises(tf.errors.NotFoundError, match="Found no files at"):
            session.run(records)
        path.touch()
        with pytest.raises(tf.errors.NotFoundError, match="Found no records at"):
            session.run(records)
        with tf.python_io.TFRecordWriter(str(path)) as writer:
            writer.write(b"here")
        assert session.run(records).tolist() == [b"here"]


def test_numbers_below_one_and_other_kinds_are_refused() -> None:
    for argument in ("batch_size", "buffer_size", "parallelism", "batches"):
        with pytest.raises(ValueError, match=f"RecordInput: {argument} must be 1 or more, got 0"):
            RecordInput("files", **{argument: 0})
    with pytest.raises(TypeError, match="batch_size is '3'"):
        RecordInput("files", batch_size="3")
    with pytest.raises(ValueError, match="Not a valid compression_type"):
        RecordInput("files", compression_type="LZ4")
