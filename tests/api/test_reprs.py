"""What an object says of itself in a shell: which one it is, and what state it is in."""

from __future__ import annotations

from pathlib import Path

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def _graph() -> None:
    tf.reset_default_graph()


def test_a_session_tells_its_target_its_graph_and_whether_it_is_closed() -> None:
    sess = tf.Session()
    assert repr(sess).startswith("<tf.Session in this process of graph ")
    sess.close()
    assert repr(sess).endswith(", closed>")


def test_a_server_tells_its_task_its_address_and_its_state() -> None:
    server = tf.train.Server({"ps": ["localhost:0"]})
    assert repr(server) == f"<tf.train.Server /job:ps/replica:0/task:0 at {server.target}, started>"
    server.stop()
    assert repr(server).endswith(", stopped>")


def test_a_queue_tells_its_name_and_its_elements() -> None:
    queue = tf.FIFOQueue(3, [tf.int32, tf.string], [[], [2]], name="jobs")
    assert repr(queue) == "<tf.FIFOQueue 'jobs' of int32 (), string (2,)>"


def test_an_optimizer_tells_its_rate() -> None:
    assert repr(tf.train.AdamOptimizer(0.01)) == "<tf.train.AdamOptimizer 'Adam' learning_rate=0.01>"
    assert repr(tf.train.GradientDescentOptimizer(lambda: 0.5)) == (
        "<tf.train.GradientDescentOptimizer 'GradientDescent' learning_rate=0.5>"
    )


def test_a_saver_tells_what_it_has_saved(tmp_path: Path) -> None:
    v = tf.Variable(1.0, name="v")
    saver = tf.train.Saver([v], max_to_keep=3)
    assert repr(saver) == "<tf.train.Saver max_to_keep=3, saved: []>"
    with tf.Session() as sess:
        sess.run(v.initializer)
        path = saver.save(sess, str(tmp_path / "model"))
    assert repr(saver) == f"<tf.train.Saver max_to_keep=3, saved: [{path!r}]>"


def test_a_coordinator_tells_why_it_stops() -> None:
    coord = tf.train.Coordinator()
    assert repr(coord) == "<tf.train.Coordinator running, 0 registered threads>"
    coord.request_stop(ValueError("bad line"))
    assert "asked to stop by ValueError('bad line')" in repr(coord)


def test_a_hook_tells_its_settings() -> None:
    assert repr(tf.train.StopAtStepHook(last_step=5)) == "<tf.train.StopAtStepHook last_step=5>"


def test_an_estimator_tells_its_folder(tmp_path: Path) -> None:
    estimator = tf.estimator.Estimator(lambda features: None, model_dir=str(tmp_path))
    assert repr(estimator) == f"<tf.estimator.Estimator of {tmp_path}>"


def test_a_notebook_shows_a_cluster_as_a_table() -> None:
    shown = tf.train.ClusterSpec({"ps": ["a:1"], "worker": {0: "b:2", 2: "<c>:3"}})._repr_html_()
    assert "<tr><td>/job:worker/task:2</td><td>&lt;c&gt;:3</td></tr>" in shown
    assert shown.count("<tr>") == 4
