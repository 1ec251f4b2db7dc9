"""Every edge between tasks becomes one send and one receive; feeds and fetches go where they are used and made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import weft as tf
from weft.passes.partition import Partition, partition
from weft.passes.stage import Staging


def cut(
    graph: tf.Graph, tasks: Mapping[str, str], feeds: Sequence[tf.Tensor] = (), fetches: Sequence[tf.Tensor] = ()
) -> dict[str, Partition]:
    """Partitions by job name; `tasks` gives the job of nodes that are not on job a."""
    fed = {tensor.op for tensor in feeds}
    ops = [op for op in graph.get_operations() if op not in fed]
    placement = {op: f"/job:{tasks.get(op.name, 'a')}/replica:0/task:0/device:CPU:0" for op in ops}
    parts = partition(ops, placement, Staging(ops, placement, feeds), feeds, fetches)
    return {task.split("/")[1][4:]: part for task, part in parts.items()}


def test_one_task_has_no_edges(graph: tf.Graph) -> None:
    b = tf.negative(tf.constant(1.0), name="b")
    (part,) = cut(graph, {}, fetches=[b]).values()
    assert [op.name for op in part.nodes] == ["Const", "b"]
    assert (part.sends, part.recvs, part.fetches) == ([], {}, [b])
    assert part.task == "/job:a/replica:0/task:0"


def test_an_edge_that_crosses_is_sent_once_to_each_task(graph: tf.Graph) -> None:
    a = tf.random_uniform([], name="a")
    tf.negative(a, name="b1")
    tf.square(a, name="b2")
    tf.negative(a, name="c1")
    parts = cut(graph, {"b1": "b", "b2": "b", "c1": "c"})
    edges = parts["a"].sends
    assert [(edge.source, edge.receiver.split("/")[1]) for edge in edges] == [(a, "job:b"), (a, "job:c")]
    assert parts["b"].recvs == {a: edges[0]}
    assert parts["c"].recvs == {a: edges[1]}
    assert len({edge.number for edge in edges}) == 2


def test_order_between_tasks_travels_without_a_value(graph: tf.Graph) -> None:
    first = tf.no_op(name="first")
    with tf.control_dependencies([first]):
        tf.no_op(name="last")
    parts = cut(graph, {"last": "b"})
    (edge,) = parts["a"].sends
    assert edge.is_control
    assert parts["b"].recvs == {first: edge}


def test_a_feed_goes_to_the_tasks_that_use_it(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, name="x")
    tf.negative(x, name="b1")
    tf.negative(x, name="a1")
    parts = cut(graph, {"b1": "b"}, feeds=[x])
    assert parts["a"].feeds == parts["b"].feeds == [x]
    assert parts["a"].sends == []


def test_a_fetch_comes_from_the_task_that_makes_it_once(graph: tf.Graph) -> None:
    a = tf.random_uniform([], name="a")
    b = tf.negative(a, name="b")
    parts = cut(graph, {"b": "b"}, fetches=[b, b, a])
    assert parts["a"].fetches == [a]
    assert parts["b"].fetches == [b]


def test_numbers_of_edges_are_the_same_at_both_ends(graph: tf.Graph) -> None:
    values = [tf.random_uniform([], name=f"a{index}") for index in range(4)]
    for index, value in enumerate(values):
        tf.negative(value, name=f"b{index}")
    parts = cut(graph, {f"b{index}": "b" for index in range(4)})
    sent = {edge.number: edge.source for edge in parts["a"].sends}
    received = {edge.number: source for source, edge in parts["b"].recvs.items()}
    assert sent == received
