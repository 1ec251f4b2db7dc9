"""Nodes that must not wait for the same are not of one stage, all others are as before."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import weft as tf
from weft.passes.awaited import awaited_sets, may_block, names_resource
from weft.passes.stage import Staging

CPU = "/job:a/replica:0/task:0/device:CPU:0"


def levels(graph: tf.Graph) -> dict[str, int]:
    ops = graph.get_operations()
    return {op.name: level for op, level in Staging(ops, dict.fromkeys(ops, CPU), ()).levels.items()}


def queue(name: str) -> Any:
    return tf.FIFOQueue(9, tf.float32, [()], name=name)


def test_what_fills_a_queue_waits_for_nothing_else(graph: tf.Graph) -> None:
    first, second = queue("a").dequeue(), queue("b").dequeue()
    queue("c").enqueue(tf.square(first, name="sent"))
    tf.exp(tf.square(second, name="kept"), name="fetched")
    found = levels(graph)
    assert found["sent"] != found["kept"] == found["fetched"]


def test_what_is_updated_by_both_waits_for_both_in_one_stage(graph: tf.Graph) -> None:
    first, second = tf.square(queue("a").dequeue(), name="x"), tf.square(queue("b").dequeue(), name="y")
    variable = tf.get_variable("v", (), use_resource=False)
    variable.assign(first + second, name="update")
    found = levels(graph)
    assert found["x"] == found["y"] == found["update"]


def test_updates_of_one_step_are_one_stage(graph: tf.Graph) -> None:
    updates = []
    for name in "ab":
        variable = tf.get_variable(f"of_{name}", (), use_resource=False)
        updates.append(variable.assign(queue(name).dequeue(), name=f"update_{name}"))
    tf.group(*updates)
    found = levels(graph)
    assert found["update_a"] == found["update_b"]


def test_what_waits_for_nothing_joins_the_others(graph: tf.Graph) -> None:
    first, second = tf.square(queue("a").dequeue(), name="x"), queue("b").dequeue()
    read = tf.get_variable("v", (), use_resource=False).read_value()
    queue("c").enqueue(tf.add(first, tf.square(read, name="used"), name="sent"))
    tf.exp(read, name="fetched")
    tf.identity(second)
    found = levels(graph)
    assert found["used"] == found["sent"]
    assert found["fetched"] == found[read.op.name]


def test_what_is_only_fetched_comes_no_earlier_than_what_it_is_made_of(graph: tf.Graph) -> None:
    both = queue("a").dequeue() + queue("b").dequeue()
    read = tf.get_variable("v", (), use_resource=False).read_value()
    shared = tf.square(read, name="shared")
    tf.exp(shared, name="fetched")
    queue("c").enqueue(both + shared)
    # Most nodes are of those that wait for nothing and are noticed.
    for _ in range(9):
        queue("d").enqueue(tf.square(read))
    found = levels(graph)
    assert found["shared"] <= found["fetched"]


def test_what_is_only_fetched_holds_up_no_other_set(graph: tf.Graph) -> None:
    both = queue("a").dequeue() + queue("b").dequeue()
    shared = tf.square(tf.get_variable("v", (), use_resource=False).read_value(), name="shared")
    tf.exp(shared, name="fetched")
    queue("d").enqueue(both + shared)
    taken = queue("c").dequeue()
    for number in range(9):
        queue("e").enqueue(taken, name=f"filled_{number}")
    ops = graph.get_operations()
    hosts = {op for op in ops if op.op_def.is_host}
    sets = awaited_sets(
        ops, hosts, lambda op: [t.op for t in op.inputs], lambda op: [c for t in op.outputs for c in t.consumers()]
    )
    found = {op.name: awaited for op, awaited in sets.items()}
    assert found["fetched"] != found["filled_0"]
    assert found["fetched"] == found["filled_0"] | found["shared"]


def test_a_queue_that_is_filled_last_parts_nothing(graph: tf.Graph) -> None:
    sums = [tf.square(queue(name).dequeue(), name=f"square_{name}") for name in "ab"]
    queue("c").enqueue(tf.add_n(sums))
    found = levels(graph)
    assert found["square_a"] == found["square_b"]


def test_one_node_that_blocks_parts_nothing(graph: tf.Graph) -> None:
    queue("a").dequeue()
    ops = graph.get_operations()
    assert [op.type for op in ops if names_resource(op)] == ["FIFOQueueV2"]
    assert [op.type for op in ops if may_block(op)] == ["QueueDequeueV2"]
    assert awaited_sets(ops, ops, lambda op: [t.op for t in op.inputs], lambda op: op.control_consumers) == {}


@pytest.fixture(scope="module")
def target() -> Iterator[str]:
    with tf.LocalCluster(ps=2, worker=1) as cluster:
        yield cluster.target("worker", 0)


def _squares(first: tf.Tensor, second: tf.Tensor, told: Any) -> list[Any]:
    return [told.enqueue(tf.square(first)), tf.square(second)]


def _both_sent(first: tf.Tensor, second: tf.Tensor, told: Any) -> list[Any]:
    one, other = tf.square(first), tf.square(second)
    return [told.enqueue(one), other, queue("other").enqueue(other)]


def _behind_an_update(first: tf.Tensor, second: tf.Tensor, told: Any) -> list[Any]:
    one, other = (tf.get_variable(name, (), use_resource=False) for name in "vw")
    with tf.control_dependencies([one.assign(first * 2.0)]):
        sent = told.enqueue(4.0)
    return [sent, other.assign(second * second)]


# In TensorFlow 1.15 none of these steps waits for ever.
@pytest.mark.parametrize("build", [_squares, _both_sent, _behind_an_update])
@pytest.mark.parametrize("is_far", [False, True])
def test_a_step_fills_a_queue_before_all_that_it_waits_for_is_there(
    target: str, build: Callable[[tf.Tensor, tf.Tensor, Any], list[Any]], is_far: bool
) -> None:
    limit = tf.RunOptions(timeout_in_ms=20_000)
    with tf.Graph().as_default(), ThreadPoolExecutor(1) as pool:
        inputs = []
        for index, name in enumerate("ab"):
            with tf.device(f"/job:ps/task:{index}" if is_far else None):
                inputs.append(queue(name))
        with tf.device("/job:worker" if is_far else None):
            told = queue("told")
            fetches = build(*(each.dequeue() for each in inputs), told)
        fills, answer = [each.enqueue(2.0) for each in inputs], told.dequeue()
        with tf.Session(target if is_far else "") as session:
            session.run(tf.global_variables_initializer())
            step = pool.submit(lambda: session.run(fetches, options=limit))
            session.run(fills[0])
            assert session.run(answer, options=limit) == 4.0
            session.run(fills[1])
            assert step.result(20)[1] == 4.0
