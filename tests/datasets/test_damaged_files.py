"""Datasets of records that are taken some at a time: what comes before damage and behind it, and where an iterator is."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf
from weft.checkpoint.records import as_record


def _files(folder: Path) -> list[str]:
    damaged, whole = folder / "damaged", folder / "whole"
    damaged.write_bytes(b"".join(as_record(b"%d" % number) for number in range(5))[:-3])
    whole.write_bytes(b"".join(as_record(b"%d" % number) for number in range(10, 15)))
    return [str(damaged), str(whole)]


def _taken(dataset: tf.data.Dataset) -> list[object]:
    """What each step gives until the end; the class of what it raises."""
    found: list[object] = []
    element = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        while True:
            try:
                found.append(session.run(element).tolist())
            except tf.errors.OutOfRangeError:
                return found
            except tf.errors.DataLossError as error:
                found.append(type(error))


def test_a_batch_with_damage_is_an_error_and_the_next_file_follows(tmp_path: Path) -> None:
    dataset = tf.data.TFRecordDataset(_files(tmp_path)).batch(3)
    assert _taken(dataset) == [[b"0", b"1", b"2"], tf.errors.DataLossError, [b"10", b"11", b"12"], [b"13", b"14"]]


def test_records_before_damage_are_shuffled_with_those_behind_it(tmp_path: Path) -> None:
    dataset = tf.data.TFRecordDataset(_files(tmp_path)).shuffle(3, seed=1).batch(1)
    found = _taken(dataset)
    assert found.count(tf.errors.DataLossError) == 1
    texts = [each[0] for each in found if isinstance(each, list)]
    assert sorted(texts) == sorted([b"%d" % number for number in (0, 1, 2, 3, 10, 11, 12, 13, 14)])


@pytest.mark.parametrize("size", [1, 2, 7, 50])
def test_shuffling_gives_the_same_order_one_at_a_time_and_in_batches(tmp_path: Path, size: int) -> None:
    path = tmp_path / "records"
    path.write_bytes(b"".join(as_record(b"%d" % number) for number in range(30)))
    shuffled = tf.data.TFRecordDataset(str(path)).shuffle(size, seed=7).repeat(3)
    alone = _taken(shuffled.filter(lambda text: tf.constant(True)).map(lambda text: tf.reshape(text, [1])))
    together = _taken(shuffled.batch(8))
    assert [text for batch in together for text in batch] == [text for (text,) in alone]  # type: ignore[attr-defined, misc]
    assert len(alone) == 90


def test_the_buffer_of_later_graphs_is_the_readers_choice(tmp_path: Path) -> None:
    _, whole = _files(tmp_path)
    assert _taken(tf.data.TFRecordDataset([whole], buffer_size=-1).batch(5)) == [[b"10", b"11", b"12", b"13", b"14"]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"`buffer_size` must be >= 0, not -2"):
        _taken(tf.data.TFRecordDataset([whole], buffer_size=-2))
