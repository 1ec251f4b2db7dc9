"""Timeline: devices are processes, nodes events, transfers arrows between tasks."""

from __future__ import annotations

import json
from typing import Any

from tensorboard.compat.proto import step_stats_pb2

import weft as tf
from weft.client.timeline import Timeline

WORKER = "/job:worker/replica:0/task:0/device:CPU:0"


def _stats() -> Any:
    stats = step_stats_pb2.StepStats()
    first = stats.dev_stats.add(device="/job:ps/replica:0/task:0/device:CPU:0")
    first.node_stats.add(node_name="w", timeline_label="w = Identity()", all_start_micros=10, all_end_rel_micros=5)
    second = stats.dev_stats.add(device="/job:worker/replica:0/task:0/device:CPU:0")
    recv = second.node_stats.add(node_name="RecvTensor", timeline_label="w:0", all_start_micros=16, all_end_rel_micros=4)
    recv.memory.add(allocator_name="wire", total_bytes=400)
    second.node_stats.add(node_name="x", timeline_label="x = Const()", all_start_micros=12, all_end_rel_micros=8)
    second.node_stats.add(node_name="y", timeline_label="y = Add(x, w)", all_start_micros=21, all_end_rel_micros=2)
    return stats


def _trace(**kwargs: bool) -> list[dict[str, Any]]:
    events: list[dict[str, Any]] = json.loads(Timeline(_stats()).generate_chrome_trace_format(**kwargs))["traceEvents"]
    return events


def test_every_device_is_a_process() -> None:
    names = {event["pid"]: event["args"]["name"] for event in _trace() if event["ph"] == "M"}
    assert names == {
        0: "/job:ps/replica:0/task:0/device:CPU:0 Compute",
        1: "/job:worker/replica:0/task:0/device:CPU:0 Compute",
    }


def test_nodes_are_events_with_times_types_and_inputs() -> None:
    event = next(event for event in _trace() if event["ph"] == "X" and event["name"] == "Add")
    assert (event["pid"], event["ts"], event["dur"]) == (1, 21, 2)
    assert event["args"] == {"name": "y", "op": "Add", "input0": "x", "input1": "w"}


def test_what_ran_at_the_same_time_is_on_different_threads() -> None:
    threads = {event["args"]["name"]: event["tid"] for event in _trace() if event["ph"] == "X"}
    assert threads["x"] != threads["w:0"]
    assert threads["y"] == threads["x"]


def test_a_transfer_has_an_arrow_from_the_node_on_the_other_task() -> None:
    arrows = [event for event in _trace() if event["ph"] in "st" and event["name"] == "w"]
    from_node, from_transfer = [("s", 0, 15), ("t", 1, 16)], [("s", 1, 20), ("t", 1, 21)]
    assert [(event["ph"], event["pid"], event["ts"]) for event in arrows] == from_node + from_transfer
    assert not [event for event in _trace(show_dataflow=False) if event["ph"] in "st"]


def test_memory_is_counted_when_asked_for() -> None:
    counters = [event for event in _trace(show_memory=True) if event["ph"] == "C"]
    assert [event["args"] for event in counters] == [{"wire": 400}]


def test_a_traced_run_is_a_trace() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        metadata = tf.RunMetadata()
        product = tf.matmul(tf.ones([2, 2]), tf.placeholder_with_default(tf.ones([2, 2]), [2, 2]), name="product")
        options = tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE)
        session.run(product, options=options, run_metadata=metadata)
    trace = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format())["traceEvents"]
    assert any(event["ph"] == "X" and "product" in event["args"]["name"] for event in trace)


def test_a_step_of_several_tasks_is_one_trace_without_arrows_back_in_time() -> None:
    with tf.Graph().as_default(), tf.LocalCluster({"ps": 2, "worker": 1}) as cluster:
        variables = []
        for index in range(2):
            with tf.device(f"/job:ps/task:{index}"):
                variables.append(tf.Variable(tf.ones([8, 8]), name=f"v{index}"))
        with tf.device("/job:worker/task:0"):
            loss = tf.reduce_sum(tf.matmul(*variables), name="loss")
            train = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
        metadata = tf.RunMetadata()
        with tf.Session(cluster.target("worker")) as session:
            session.run(tf.global_variables_initializer())
            session.run(train, options=tf.RunOptions(trace_level=tf.RunOptions.FULL_TRACE), run_metadata=metadata)
    devices = [stats.device for stats in metadata.step_stats.dev_stats]
    assert len(set(devices)) == len(devices) == 3
    trace = json.loads(Timeline(metadata.step_stats).generate_chrome_trace_format())["traceEvents"]
    ends = {event["id"]: event for event in trace if event["ph"] == "t"}
    begins = {event["id"]: event for event in trace if event["ph"] == "s"}
    assert ends.keys() == begins.keys()
    # The clocks of one machine agree; a node's end is rounded up to a microsecond.
    assert [begins[key]["name"] for key in begins if begins[key]["ts"] > ends[key]["ts"] + 1] == []
    into_worker = [begins[key]["name"] for key in begins if begins[key]["pid"] != ends[key]["pid"] == devices.index(WORKER)]
    assert sorted(into_worker) == ["v0/read", "v1/read"]
    over = {begins[key]["name"] for key in begins if begins[key]["pid"] == ends[key]["pid"] == devices.index(WORKER)}
    assert {"v0/read", "v1/read", "gradients/MatMul_grad/MatMul"} <= over
