"""A run's graphs by device can be looked at: the nodes, and what enters and leaves each device."""

from __future__ import annotations

from typing import Any

import pytest

import weft as tf


def graphs_of(session: tf.Session, fetches: Any, feed_dict: Any = None) -> list[tf.GraphDef]:
    metadata = tf.RunMetadata()
    session.run(fetches, feed_dict, tf.RunOptions(output_partition_graphs=True), metadata)
    assert not metadata.step_stats.dev_stats
    return list(metadata.partition_graphs)


def inputs_of(graph: tf.GraphDef) -> dict[str, tuple[str, list[str]]]:
    return {node.name: (node.op, list(node.input)) for node in graph.node}


@pytest.fixture
def graph() -> Any:
    with tf.Graph().as_default() as graph:
        yield graph


def test_a_graph_tells_its_feeds_and_fetches(graph: tf.Graph) -> None:
    a, p = tf.constant(1.0, name="a"), tf.placeholder(tf.float32, [], name="p")
    with tf.control_dependencies([tf.no_op("first")]):
        total = tf.add(a, p, name="total")
    tf.negative(total, name="unused")
    with tf.Session() as session:
        (found,) = graphs_of(session, total, {p: 1.0})
    assert inputs_of(found) == {
        "a": ("Const", []),
        "first": ("NoOp", []),
        "_arg_p_0_0": ("_Arg", []),
        "total": ("Add", ["a", "_arg_p_0_0", "^first"]),
        "_retval_total_0_0": ("_Retval", ["total"]),
    }
    assert {node.device for node in found.node} == {"/job:localhost/replica:0/task:0/device:CPU:0"}


def test_devices_of_a_task_are_joined_by_sends_and_receives(graph: tf.Graph) -> None:
    with tf.device("/cpu:0"):
        x = tf.constant([1.0], name="x")
        wait = tf.no_op("wait")
    with tf.device("/cpu:1"), tf.control_dependencies([wait]):
        y, z = tf.negative(x, name="y"), tf.square(x, name="z")
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as session:
        first, second = graphs_of(session, [y, z])
    assert inputs_of(second) == {
        "x/_0": ("_Recv", []),
        "wait/_control": ("_Recv", []),
        "y": ("Neg", ["x/_0", "^wait/_control"]),
        "z": ("Square", ["x/_0", "^wait/_control"]),
        "_retval_y_0_0": ("_Retval", ["y"]),
        "_retval_z_0_1": ("_Retval", ["z"]),
    }
    assert inputs_of(first)["x/_0/send"] == ("_Send", ["x"])
    assert inputs_of(first)["wait/_control/send"] == ("_Send", ["^wait"])
    send = next(node for node in first.node if node.op == "_Send")
    assert send.attr["recv_device"].s.endswith(b"CPU:1")


def test_graphs_come_from_every_task(graph: tf.Graph) -> None:
    with tf.train.Server.create_local_server() as server:
        config = tf.ConfigProto()
        config.rpc_options.use_rpc_for_inprocess_master = True
        with tf.Session(server.target, config=config) as session:
            (found,) = graphs_of(session, tf.constant(3, name="three"))
    assert inputs_of(found)["_retval_three_0_0"] == ("_Retval", ["three"])
