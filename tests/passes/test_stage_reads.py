"""When a variable is read: together with what uses the value, and never after an update that must follow."""

from __future__ import annotations

import weft as tf
from weft.framework.nodes.operation import Operation, Tensor
from weft.passes.stage import Staging

PS, WORKER = "/job:ps/replica:0/task:0/device:CPU:0", "/job:worker/replica:0/task:0/device:CPU:0"


def _staged(graph: tf.Graph, feeds: list[Tensor]) -> Staging:
    operations: list[Operation] = graph.get_operations()
    return Staging(operations, {op: op.device for op in operations}, feeds)


def test_a_read_runs_with_the_gather_that_waits_for_another_task() -> None:
    with tf.Graph().as_default() as graph:
        with tf.device(PS):
            table = tf.get_variable("table", [8, 2])
        with tf.device(WORKER):
            fed = tf.placeholder(tf.int32, [None], name="fed")
            ids = tf.add(fed, 1, name="ids")
        with tf.device(PS):
            rows = tf.gather(table, ids)
    levels = _staged(graph, [fed]).levels
    assert levels[rows.op] > levels[ids.op]
    assert levels[graph.get_operation_by_name("table/read")] == levels[rows.op]


def test_a_read_stays_before_the_assignment_that_must_follow_it() -> None:
    with tf.Graph().as_default() as graph:
        with tf.device(PS):
            table = tf.get_variable("table", [8, 2])
            read = tf.identity(table, name="before")
        with tf.device(WORKER):
            fed = tf.placeholder(tf.int32, [None], name="fed")
            ids = tf.add(fed, 1, name="ids")
        with tf.device(PS):
            rows = tf.gather(read, ids)
            with tf.control_dependencies([read]):
                assigned = tf.assign(table, tf.ones([8, 2]))
    levels = _staged(graph, [fed]).levels
    assert levels[read.op] <= levels[assigned.op] < levels[rows.op]
