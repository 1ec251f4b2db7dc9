"""Every edge between tasks becomes one send and one receive; feeds and fetches go where they are used and made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import weft as tf
from weft.passes.partition import Partition, partition
from weft.passes.prune import prune
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
        tf.random_uniform([], name="last")
    parts = cut(graph, {op.name: "b" for op in graph.get_operations() if op.name.startswith("last")})
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


def test_a_node_that_only_ends_a_step_waits_for_no_other_task(graph: tf.Graph) -> None:
    work, here = tf.random_uniform([], name="work"), tf.random_uniform([], name="here")
    with tf.control_dependencies([work]):
        inner = tf.no_op(name="inner")
    with tf.control_dependencies([inner, here]):
        tf.no_op(name="end")
    parts = cut(graph, {"work": "b", "inner": "b", "end": "a"})
    assert parts["b"].sends == []
    assert parts["a"].recvs == {}


def test_a_node_that_something_waits_for_does_wait(graph: tf.Graph) -> None:
    work = tf.random_uniform([], name="work")
    with tf.control_dependencies([work]):
        barrier = tf.no_op(name="barrier")
    with tf.control_dependencies([barrier]):
        tf.random_uniform([], name="after")
    parts = cut(graph, {"work": "b"})
    assert list(parts["a"].recvs) == [work.op]


def test_a_small_constant_is_in_every_part_that_uses_it(graph: tf.Graph) -> None:
    rate = tf.constant(0.5, name="rate")
    tf.negative(rate, name="a1")
    tf.negative(rate, name="b1")
    parts = cut(graph, {"b1": "b"})
    assert all(rate.op in part.nodes and part.recvs == {} for part in parts.values())


def test_a_constant_that_only_others_use_is_not_in_its_own_part(graph: tf.Graph) -> None:
    rate = tf.constant(0.5, name="rate")
    tf.negative(rate, name="b1")
    assert list(cut(graph, {"b1": "b"})) == ["b"]


def test_a_constant_that_is_large_or_fetched_is_sent(graph: tf.Graph) -> None:
    large, seen = tf.constant(np.zeros(300_000, np.float32), name="large"), tf.constant(0.5, name="seen")
    tf.negative(large, name="b1")
    tf.negative(seen, name="b2")
    parts = cut(graph, {"b1": "b", "b2": "b"}, fetches=[seen])
    assert list(parts["b"].recvs) == [large, seen]


def test_a_run_that_only_fetches_variables_reads_them_at_one_moment(graph: tf.Graph) -> None:
    v, w = (tf.get_variable(name, [2], use_resource=True) for name in "vw")
    sources = [v.handle.op, w.handle.op]
    read = [v.read_value(), tf.identity(w.read_value())]
    placement = dict.fromkeys(graph.get_operations(), "/job:a/replica:0/task:0/device:CPU:0")

    def is_one_moment(fetches: Sequence[tf.Tensor]) -> bool:
        ops = prune(fetches, (), ())
        assert set(sources) <= set(ops)
        (part,) = partition(ops, placement, Staging(ops, placement, ()), (), fetches).values()
        return part.one_moment

    assert is_one_moment(read)
    total = tf.add(*read)
    placement[total.op] = placement[sources[0]]
    assert not is_one_moment([total])
