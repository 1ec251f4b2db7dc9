"""Examples are read and parsed in batches by queues of contrib.learn, which have TensorFlow's names and seeds behind them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import weft as tf

_SPEC = {"n": tf.FixedLenFeature([], tf.int64), "words": tf.VarLenFeature(tf.string)}


@pytest.fixture
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as made:
        yield made


def _write(path: Path) -> None:
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for number in range(5):
            feature = {
                "n": tf.train.Feature(int64_list=tf.train.Int64List(value=[number])),
                "words": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"a"] * number)),
            }
            writer.write(tf.train.Example(features=tf.train.Features(feature=feature)).SerializeToString())


def test_parsed_batches_wait_in_a_queue_of_their_own(tmp_path: Path, graph: tf.Graph) -> None:
    _write(tmp_path / "part-0")
    tf.set_random_seed(1)
    keys, features = tf.contrib.learn.read_keyed_batch_features(
        str(tmp_path / "part-*"), 2, _SPEC, tf.TFRecordReader, randomize_input=False, num_epochs=1, queue_capacity=20,
        num_enqueue_threads=1,
    )  # fmt: skip
    tf.random_uniform([])
    (random,) = (each for each in graph.get_operations() if each.type == "RandomUniform")
    assert random.get_attr("seed2") == 59  # TensorFlow 1.15.5's
    assert [each.name for each in (keys, features["n"], features["words"].indices)] == [
        f"read_batch_features/fifo_queue_1_Dequeue:{number}" for number in (4, 0, 1)
    ]
    assert (features["n"].shape.as_list(), features["words"].shape.as_list()) == ([None], [None, None])
    assert [each.name for each in tf.get_collection(tf.GraphKeys.QUEUE_RUNNERS)] == [
        "read_batch_features/file_name_queue", "read_batch_features/fifo_queue", "read_batch_features/fifo_queue_1",
    ]  # fmt: skip
    found: list[Any] = []
    with tf.train.MonitoredSession() as session:
        while not session.should_stop():
            found.append(session.run([keys, features]))
    assert [values["n"].tolist() for _, values in found] == [[0, 1], [2, 3], [4]]
    assert [values["words"].dense_shape.tolist() for _, values in found] == [[2, 1], [2, 3], [1, 4]]
    assert [len(values["words"].values) for _, values in found] == [1, 5, 4]
    assert [name.decode().rpartition(":")[0] for keys, _ in found for name in keys] == [str(tmp_path / "part-0")] * 5


def test_features_without_keys_are_queued_in_the_order_of_their_names(graph: tf.Graph) -> None:
    given = {"b": tf.constant([1.0, 2.0]), "a": tf.constant([3])}
    keys, features = tf.contrib.learn.io.queue_parsed_features(given, feature_queue_capacity=3)
    assert keys is None
    assert {key: each.name for key, each in features.items()} == {
        "a": "queue_parsed_features/fifo_queue_Dequeue:0", "b": "queue_parsed_features/fifo_queue_Dequeue:1",
    }  # fmt: skip
    with tf.train.MonitoredSession() as session:
        assert {key: value.tolist() for key, value in session.run(features).items()} == {"a": [3], "b": [1.0, 2.0]}
