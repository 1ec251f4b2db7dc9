"""ClusterTraceHook: some steps of all tasks of a cluster, in a file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

import weft as tf


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    with tf.Graph().as_default() as fresh:
        yield fresh


def test_steps_of_all_tasks_are_written_now_and_then(tmp_path: Path) -> None:
    (worker,), (server,) = tf.test.create_local_cluster(num_workers=1, num_ps=1)
    try:
        with tf.device("/job:ps/task:0"):
            step = tf.train.get_or_create_global_step()
            value = tf.get_variable("value", initializer=8.0)
        with tf.device("/job:worker/task:0"):
            loss = tf.square(value)
            train = tf.train.GradientDescentOptimizer(0.01).minimize(loss, global_step=step)
        folder = str(tmp_path / "new" / "folder")
        hooks = [tf.train.ClusterTraceHook(save_steps=6, num_steps=2, output_dir=folder), tf.train.StopAtStepHook(12)]
        with tf.train.MonitoredTrainingSession(worker.target, hooks=hooks) as session:
            while not session.should_stop():
                session.run(train)
    finally:
        worker.stop()
        server.stop()
    written = sorted(tmp_path.glob("new/folder/trace-*.json"), key=lambda path: int(path.stem.partition("-")[2]))
    assert len(written) == 2
    for path in written:
        events = json.loads(path.read_text())["traceEvents"]
        processes = {event["args"]["name"] for event in events if event["name"] == "process_name"}
        assert processes == {"ps:0", "worker:0", "session"}
        steps = [event for event in events if event["ph"] == "X" and event["cat"] == "step"]
        assert len(steps) >= 2
        assert any(event["ph"] == "s" for event in events)


def test_a_session_without_a_cluster_and_no_steps_are_refused() -> None:
    tf.train.get_or_create_global_step()
    hook = tf.train.ClusterTraceHook(save_steps=1)
    with pytest.raises(ValueError, match=r"has no cluster to record, only this process\. ProfilerHook traces its steps"):
        tf.train.MonitoredSession(hooks=[hook])
    with pytest.raises(ValueError, match="num_steps must be positive, got 0"):
        tf.train.ClusterTraceHook(save_steps=1, num_steps=0)
