"""Stages are numbered so that edges never lead back, and nodes that can run together do."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import weft as tf
from weft.passes.stage import Kind, Staging

CPU, OTHER = "/job:a/replica:0/task:0/device:CPU:0", "/job:b/replica:0/task:0/device:CPU:0"


def stage(graph: tf.Graph, feeds: tuple[tf.Tensor, ...] = (), devices: Mapping[str, str] | None = None) -> Staging:
    ops = graph.get_operations()
    placement = {op: (devices or {}).get(op.name, CPU) for op in ops}
    return Staging(ops, placement, feeds)


def kind(staging: Staging, tensor: tf.Tensor) -> Kind:
    return staging.kinds[tensor.op]


def test_nodes_of_one_device_and_kind_are_one_stage(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32)
    tf.negative(tf.square(x) + 1.0)
    assert set(stage(graph, (x,)).levels.values()) == {0}


def test_a_host_op_is_a_boundary_on_both_sides(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32)
    before = tf.square(x)
    host = tf.py_func(lambda value: value, [before], tf.float32)
    after = tf.square(host)
    staging = stage(graph, (x,))
    assert [kind(staging, t) for t in (before, host, after)] == [Kind.COMPILED, Kind.HOST, Kind.COMPILED]
    assert staging.levels[before.op] < staging.levels[host.op] < staging.levels[after.op]


def test_a_change_of_device_is_a_boundary(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32)
    a = tf.square(x, name="a")
    b = tf.square(a, name="b")
    c = tf.square(b, name="c")
    staging = stage(graph, (x,), {"b": OTHER})
    assert [staging.levels[t.op] for t in (a, b, c)] == [0, 1, 2]


def test_constants_and_variables_belong_to_whatever_uses_them(graph: tf.Graph) -> None:
    constant, variable = tf.constant(1.0), tf.Variable(1.0, use_resource=False)
    staging = stage(graph)
    assert kind(staging, constant) is Kind.FREE
    assert staging.kinds[variable.op] is Kind.FREE


def test_a_constant_that_waits_for_something_runs(graph: tf.Graph) -> None:
    with tf.control_dependencies([tf.no_op()]):
        constant = tf.constant(1.0)
    assert kind(stage(graph), constant) is Kind.COMPILED


def test_pure_nodes_move_up_to_the_stage_that_uses_them(graph: tf.Graph) -> None:
    x, y = tf.placeholder(tf.float32), tf.placeholder(tf.float32)
    prepared = tf.square(y)
    host = tf.py_func(lambda value: value, [tf.square(x)], tf.float32)
    total = tf.add(host, prepared)
    staging = stage(graph, (x, y))
    assert staging.levels[prepared.op] == staging.levels[total.op]


def test_a_shape_that_is_computed_makes_a_host_op(graph: tf.Graph) -> None:
    x, size = tf.placeholder(tf.float32), tf.placeholder(tf.int32, [1])
    by_feed = tf.reshape(x, size)
    by_value = tf.reshape(x, tf.cast(tf.reshape(tf.reduce_sum(x), [1]), tf.int32))
    by_shape = tf.reshape(x, tf.shape(x))
    staging = stage(graph, (x, size))
    assert kind(staging, by_feed) is Kind.COMPILED
    assert size in staging.static_feeds
    assert kind(staging, by_shape) is Kind.COMPILED
    by_variable = tf.reshape(x, tf.Variable([1], use_resource=False))
    assert kind(stage(graph, (x, size)), by_variable) is Kind.HOST
    assert kind(staging, by_value) is Kind.COMPILED


def test_a_constant_of_another_device_that_is_sent_is_not_known_when_code_is_made(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [2, 3])
    alone = tf.constant([6], name="alone")
    with tf.control_dependencies([x]):
        ordered = tf.constant([6], name="ordered")
    by_copy, by_message = tf.reshape(x, alone), tf.reshape(x, ordered)
    staging = stage(graph, (x,), {"alone": OTHER, "ordered": OTHER})
    assert kind(staging, by_copy) is Kind.COMPILED
    assert kind(staging, by_message) is Kind.HOST


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.booleans(), st.integers(0, 99), st.integers(0, 99)), min_size=1, max_size=20))
def test_edges_never_lead_to_an_earlier_stage(nodes: list[tuple[int, bool, int, int]]) -> None:
    with tf.Graph().as_default() as graph:
        x = tf.placeholder(tf.float32, [])
        tensors, devices = [x], {}
        for number, (device, is_host, left, right) in enumerate(nodes):
            inputs = [tensors[left % len(tensors)], tensors[right % len(tensors)]]
            if is_host:
                tensors.append(tf.py_func(np.add, inputs, tf.float32, name=f"n{number}"))
            else:
                tensors.append(tf.add(*inputs, name=f"n{number}"))
            devices[f"n{number}"] = f"/job:a/replica:0/task:{device}/device:CPU:0"
        staging = stage(graph, (x,), devices)
    for op in graph.get_operations():
        for tensor in op.inputs:
            if tensor is x:
                continue
            producer = tensor.op
            crosses = devices[producer.name] != devices[op.name] or staging.kinds[producer] is not staging.kinds[op]
            assert staging.levels[op] >= staging.levels[producer] + crosses
