"""A part that has nothing to do before another task's values come is one whose start may travel with them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import pytest

import weft as tf
from weft.distributed.worker.late_parts import begins_with_values_from
from weft.ops.state.reference_state import variable_v2
from weft.passes.partition import Partition, partition
from weft.passes.stage import Staging


@pytest.fixture(autouse=True)
def graph() -> Iterator[tf.Graph]:
    """The default graph of the test, empty at its start."""
    with tf.Graph().as_default() as graph:
        yield graph


def cut(
    graph: tf.Graph, tasks: Mapping[str, str], feeds: Sequence[tf.Tensor] = (), fetches: Sequence[tf.Tensor] = ()
) -> dict[str, Partition]:
    """Partitions by job name; `tasks` gives the job of nodes that are not on job a."""
    fed = {tensor.op for tensor in feeds}
    ops = [op for op in graph.get_operations() if op not in fed]
    placement = {op: f"/job:{tasks.get(op.name, 'a')}/replica:0/task:0/device:CPU:0" for op in ops}
    parts = partition(ops, placement, Staging(ops, placement, feeds), feeds, fetches)
    return {task.split("/")[1][4:]: part for task, part in parts.items()}


A = "/job:a/replica:0/task:0"


def test_a_part_that_computes_with_values_from_elsewhere_begins_with_them(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    table = variable_v2(shape=(), dtype=tf.float32, name="table")
    tf.add(tf.square(x, name="a1"), tf.identity(table, name="read"), name="b1")
    tf.negative(graph.get_tensor_by_name("b1:0"), name="b2")
    parts = cut(graph, dict.fromkeys(("table", "read", "b1", "b2"), "b"), feeds=[x])
    assert begins_with_values_from(parts["b"], [A])
    assert not begins_with_values_from(parts["b"], [])
    assert not begins_with_values_from(parts["a"], [A])


def test_a_part_with_something_to_do_before_does_not(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    y = tf.square(x, name="a1")
    tf.negative(y, name="b1")
    tf.random_uniform([], name="b2")
    parts = cut(graph, {op.name: "b" for op in graph.get_operations() if op.name.startswith("b")}, feeds=[x])
    assert not begins_with_values_from(parts["b"], [A])


def test_a_part_that_gives_a_variable_away_or_computes_with_a_feed_does_not(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    table = variable_v2(shape=(), dtype=tf.float32, name="table")
    tf.add(tf.square(x, name="a1"), table, name="b1")
    tf.negative(table, name="a2")
    fed = tf.placeholder(tf.float32, [], name="fed")
    tf.negative(fed, name="b2")
    for on_b in (("table", "b1"), ("b1", "b2")):
        parts = cut(graph, dict.fromkeys(on_b, "b"), feeds=[x, fed])
        assert not begins_with_values_from(parts["b"], [A])
    assert begins_with_values_from(cut(graph, {"b1": "b"}, feeds=[x, fed])["b"], [A])


def test_a_part_that_gets_values_from_other_tasks_as_well_does_not(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [], name="x")
    tf.add(tf.square(x, name="a1"), tf.square(x, name="c1"), name="b1")
    parts = cut(graph, {"b1": "b", "c1": "c"}, feeds=[x])
    assert not begins_with_values_from(parts["b"], [A])
    assert begins_with_values_from(parts["b"], [A, A.replace("job:a", "job:c")])
