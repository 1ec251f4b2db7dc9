"""Readers: what a program meets when a file is damaged, a session ends, or two threads read at once."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import weft as tf


def make_queue(session: tf.Session, *items: str) -> tf.FIFOQueue:
    queue = tf.FIFOQueue(len(items) + 1, tf.string, shapes=[])
    if items:
        session.run(queue.enqueue_many([list(items)]))
    return queue


def write_records(path: Path, *records: bytes) -> str:
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for record in records:
            writer.write(record)
    return str(path)


def test_a_damaged_file_gives_its_whole_records_then_an_error_then_the_next_file(tmp_path: Path) -> None:
    damaged = write_records(tmp_path / "damaged", b"one", b"two", b"three")
    Path(damaged).write_bytes(Path(damaged).read_bytes()[:-5])
    whole = write_records(tmp_path / "whole", b"four")
    with tf.Session() as session:
        reader = tf.TFRecordReader()
        record = reader.read_up_to(make_queue(session, damaged, whole), 9)
        assert session.run(record.values).tolist() == [b"one", b"two"]
        with pytest.raises(tf.errors.DataLossError, match="truncated record"):
            session.run(record)
        assert session.run(record.values).tolist() == [b"four"]


def test_a_missing_file_is_an_error_that_names_it_and_reading_goes_on(tmp_path: Path) -> None:
    there = tmp_path / "there"
    there.write_text("line\n")
    with tf.Session() as session:
        record = tf.TextLineReader().read(make_queue(session, str(tmp_path / "missing"), str(there)))
        with pytest.raises(tf.errors.NotFoundError, match="missing"):
            session.run(record)
        assert session.run(record.value) == b"line"


def test_a_read_that_waits_for_a_file_ends_when_the_session_is_closed() -> None:
    session = tf.Session()
    record = tf.IdentityReader().read(make_queue(session))
    errors: list[Exception] = []

    def wait() -> None:
        try:
            session.run(record)
        except tf.errors.CancelledError as error:
            errors.append(error)

    # Two of them: one waits for the queue, the other for its turn.
    threads = [threading.Thread(target=wait) for _ in range(2)]
    for thread in threads:
        thread.start()
    while session._steps.backend is None:  # a step has to have begun
        threads[0].join(0.01)
    session.close()
    for thread in threads:
        thread.join(10)
        assert not thread.is_alive()
    assert all(isinstance(each, tf.errors.CancelledError) for each in errors)


def test_a_reader_is_each_sessions_own_on_a_server(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_text("a\nb\nc\n")
    with tf.train.Server.create_local_server() as server:
        found = []
        for _ in range(2):
            with tf.Graph().as_default(), tf.Session(server.target) as session:
                queue = tf.FIFOQueue(3, tf.string, shapes=[])
                session.run(queue.enqueue(str(path)))
                found.append(session.run(tf.TextLineReader(name="lines").read(queue).value))
        assert found == [b"a", b"a"]


def test_encodings_of_records_of_one_length_are_checked(tmp_path: Path) -> None:
    with tf.Session() as session:
        record = tf.FixedLengthRecordReader(3, encoding="LZ4").read(make_queue(session, "x"))
        with pytest.raises(tf.errors.InvalidArgumentError, match="encoding 'LZ4' is not supported"):
            session.run(record)
