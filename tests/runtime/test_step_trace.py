"""A trace lists nodes by device, with their times in microseconds, as TensorFlow's StepStats do."""

from __future__ import annotations

import weft as tf
from weft.passes.partition import Edge
from weft.runtime.step_trace import SOURCE, StepTrace, trim_transfers


def test_a_trace_lists_nodes_by_device() -> None:
    trace = StepTrace()
    node = tf.add(tf.constant(1.0, name="x"), tf.constant(2.0, name="y"), name="total").op
    trace.note_start(["/cpu:0", "/cpu:1"])
    trace.add("/cpu:1", node, 100.0, 100.5)
    trace.add_transfer("/cpu:0", Edge(7, node.outputs[0], "/job:a/task:1", "/job:b/task:0"), 200.0, 200.25, 4)
    first, second = trace.as_proto().dev_stats
    assert [device.device for device in (first, second)] == ["/cpu:0", "/cpu:1"]
    assert first.node_stats[0].node_name == second.node_stats[0].node_name == SOURCE
    stats = second.node_stats[1]
    assert (stats.node_name, stats.timeline_label) == ("total", "total = Add(x, y)")
    assert (stats.all_start_micros, stats.op_end_rel_micros) == (100_000_000, 500_000)
    transfer = first.node_stats[1]
    assert (transfer.node_name, transfer.timeline_label) == (
        "RecvTensor",
        "[4B] edge_7_total from /job:a/task:1 to /job:b/task:0",
    )
    assert transfer.memory[0].total_bytes == 4


def test_a_transfer_lasts_from_when_the_value_was_made() -> None:
    node = tf.constant(1.0, name="made").op
    edge = Edge(1, node.outputs[0], "/job:a/task:0", "/job:b/task:0")
    sender, receiver = StepTrace(), StepTrace()
    sender.add("/job:a/task:0/device:CPU:0", node, 10.0, 10.5)
    for begin, end in ((10.2, 10.75), (10.6, 10.75), (1.0, 2.0)):
        receiver.add_transfer("/job:b/task:0/device:CPU:0", edge, begin, end, 2**21)
    devices = [sender.as_proto().dev_stats[0], receiver.as_proto().dev_stats[0]]
    trim_transfers(devices)
    spans = [(n.all_start_micros / 1e6, n.all_end_rel_micros / 1e6) for n in devices[1].node_stats]
    # The second had begun later, and in the third the clocks disagree.
    assert spans == [(10.5, 0.25), (10.6, 0.15), (1.0, 1.0)]
    assert devices[1].node_stats[0].timeline_label.startswith("[2.0MB] edge_1_made from /job:a/task:0 to")
