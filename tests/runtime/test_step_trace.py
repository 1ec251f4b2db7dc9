"""A trace lists nodes by device, with their times in microseconds, as TensorFlow's StepStats do."""

from __future__ import annotations

import weft as tf
from weft.runtime.step_trace import SOURCE, StepTrace


def test_a_trace_lists_nodes_by_device() -> None:
    trace = StepTrace()
    node = tf.add(tf.constant(1.0, name="x"), tf.constant(2.0, name="y"), name="total").op
    trace.begin(["/cpu:0", "/cpu:1"])
    trace.add("/cpu:1", node, 100.0, 100.5)
    trace.add_transfer("/cpu:0", "[4B] from /job:a", 200.0, 200.25, 4)
    first, second = trace.as_proto().dev_stats
    assert [device.device for device in (first, second)] == ["/cpu:0", "/cpu:1"]
    assert first.node_stats[0].node_name == second.node_stats[0].node_name == SOURCE
    stats = second.node_stats[1]
    assert (stats.node_name, stats.timeline_label) == ("total", "total = Add(x, y)")
    assert (stats.all_start_micros, stats.op_end_rel_micros) == (100_000_000, 500_000)
    transfer = first.node_stats[1]
    assert (transfer.node_name, transfer.timeline_label) == ("RecvTensor", "[4B] from /job:a")
    assert transfer.memory[0].total_bytes == 4
