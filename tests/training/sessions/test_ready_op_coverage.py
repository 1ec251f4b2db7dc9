"""A ready op that leaves variables out says that replicas have some of their own, which are nobody else's business."""

from __future__ import annotations

import warnings
from pathlib import Path

import weft as tf
from weft.training.sessions.model_readiness import covers_model


def test_the_default_ready_op_covers_the_model() -> None:
    with tf.Graph().as_default() as graph:
        tf.get_variable("shared", [2])
        tf.get_variable("local/w", [2])
        assert covers_model(tf.report_uninitialized_variables(), graph)


def test_a_ready_op_of_the_shared_variables_leaves_the_local_network_out() -> None:
    with tf.Graph().as_default() as graph:
        shared = tf.get_variable("shared", [2])
        tf.get_variable("local/w", [2])
        assert not covers_model(tf.report_uninitialized_variables([shared]), graph)
        assert not covers_model(None, graph)


def test_a_supervisor_that_is_stopped_twice_says_nothing_of_its_writer(tmp_path: Path) -> None:
    with tf.Graph().as_default():
        tf.get_variable("w", [2])
        supervisor = tf.train.Supervisor(logdir=str(tmp_path))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with supervisor.managed_session():
                supervisor.stop()
