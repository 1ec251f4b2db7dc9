"""Timeline: devices are processes, nodes events, transfers arrows between tasks."""

from __future__ import annotations

import json
from typing import Any

from tensorboard.compat.proto import step_stats_pb2

import weft as tf
from weft.client.timeline import Timeline


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
    assert [(event["ph"], event["pid"], event["ts"]) for event in arrows] == [("s", 0, 15), ("t", 1, 16)]
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
