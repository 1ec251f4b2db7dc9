"""contrib.learn's runs of a graph start their own sessions, as in TensorFlow 1.15.5; receivers come from input functions."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

_learn = tf.contrib.learn


def test_a_graph_runs_so_many_times_and_for_each_feed() -> None:
    with tf.Graph().as_default():
        v, x = tf.Variable(1.0), tf.placeholder(tf.float32, ())
        counted = {"v": tf.assign_add(v, 1.0), "local": tf.contrib.framework.local_variable(0.0)}
        assert _learn.run_n(counted, n=3) == [{"v": 2, "local": 0}, {"v": 3, "local": 0}, {"v": 4, "local": 0}]
        assert _learn.run_n(counted, n=0) == []
        assert _learn.run_n({"y": x * v}, feed_dict={x: 2.0}, n=2) == [{"y": 2}, {"y": 2}]
        assert _learn.run_feeds({"y": x * v}, ({x: each} for each in (1.0, 2.0))) == [{"y": 1}, {"y": 2}]
        assert [each["y"] for each in _learn.graph_actions.run_feeds_iter({"y": x + v}, [{x: 3.0}])] == [4]
        with pytest.raises(ValueError, match="output_dict is invalid"):
            _learn.run_n({})
        with pytest.raises(ValueError, match="feed_dicts is invalid"):
            _learn.run_feeds({"y": x}, [])


def test_a_checkpoint_brings_the_variables(tmp_path) -> None:
    with tf.Graph().as_default():
        v, x = tf.Variable(1.0), tf.placeholder(tf.float32, ())
        with tf.Session() as session:
            session.run(v.assign(7.0))
            path = tf.train.Saver().save(session, str(tmp_path / "model"))
        assert _learn.infer(path, {"y": x * v}, {x: 3.0}) == {"y": 21}
        assert _learn.infer(None, {"y": v}) == {"y": 1}


def test_queues_are_filled_and_their_end_is_told() -> None:
    with tf.Graph().as_default():
        taken = tf.train.input_producer([1, 2, 3], num_epochs=1, shuffle=False).dequeue()
        assert _learn.run_n({"q": taken}, n=3) == [{"q": 1}, {"q": 2}, {"q": 3}]
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient elements"):
            _learn.run_n({"q": taken}, n=5)


def _dataset():
    return tf.data.Dataset.from_tensors(({"a": np.ones((2, 3), np.float32)}, np.ones((2,), np.int64)))


def test_a_receiver_is_like_what_an_input_function_gives() -> None:
    build = tf.contrib.estimator.build_supervised_input_receiver_fn_from_input_fn
    with tf.Graph().as_default() as graph:
        receiver = build(_dataset)()
        assert receiver.features["a"].graph is graph
        assert {name: (each.op.type, each.shape.as_list()) for name, each in receiver.receiver_tensors.items()} == {
            "a": ("Placeholder", [None, 3]), "label": ("Placeholder", [None]),
        }  # fmt: skip
        other = build(lambda width=1: (tf.ones((2, width)), {"l": tf.zeros((2, 1))}), width=4)()
        assert other.receiver_tensors["input"].shape.as_list() == [None, 4]
        assert set(other.labels) == {"l"}
        with pytest.raises(ValueError, match="gives no labels"):
            build(lambda: {"a": tf.ones((2,))})
