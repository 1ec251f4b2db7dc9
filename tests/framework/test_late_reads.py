"""Reads of variables in graphs that TensorFlow built: one node shows later nodes what updates have made of the variable."""

from __future__ import annotations

import numpy as np
import pytest
from tensorboard.compat.proto import graph_pb2

import weft as tf
from weft.framework.attr_value import encode
from weft.framework.dims import Dims
from weft.framework.received_graph import ReceivedGraph

FLOAT = 1


def _node(proto: graph_pb2.GraphDef, name: str, op: str, *inputs: str, device: str = "", dims: Dims = None) -> None:
    node = proto.node.add(name=name, op=op, input=inputs, device=device)
    node.attr["dtype" if op in ("VariableV2", "Const") else "T"].type = FLOAT
    if op == "VariableV2":
        node.attr["shape"].CopyFrom(encode("shape", dims))
    if op == "Const":
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(np.float32(1)))


def _built_by_tensorflow(device: str = "") -> graph_pb2.GraphDef:
    """`after` and `behind` use the one read of `v`, and wait for its update by a control edge and by a value."""
    proto = graph_pb2.GraphDef()
    _node(proto, "v", "VariableV2", dims=())
    _node(proto, "v/read", "Identity", "v")
    _node(proto, "one", "Const")
    _node(proto, "v/Assign", "Assign", "v", "one")
    _node(proto, "update", "AssignAdd", "v", "one")
    _node(proto, "before", "Neg", "v/read")
    _node(proto, "after", "Neg", "v/read", "^update", device=device)
    _node(proto, "waits", "Identity", "one", "^update")
    _node(proto, "behind", "Add", "waits", "v/read", device=device)
    return proto


@pytest.mark.parametrize(("fetch", "expected"), [("after:0", -2.0), ("behind:0", 3.0), ("before:0", -1.0)])
def test_a_node_behind_an_update_sees_it(fetch: str, expected: float) -> None:
    tf.import_graph_def(_built_by_tensorflow(), name="")
    with tf.Session() as session:
        session.run("v/Assign")
        assert session.run(fetch) == expected


def test_a_read_on_another_device_keeps_what_was_sent_there() -> None:
    received = ReceivedGraph(by_tensorflow=True)
    received.extend(_built_by_tensorflow("/job:worker/task:1"))
    graph = received.graph
    assert graph.get_operation_by_name("after").inputs[0].name == "v/read:0"


def test_a_graph_of_weft_keeps_its_reads() -> None:
    received = ReceivedGraph()
    received.extend(_built_by_tensorflow())
    assert received.graph.get_operation_by_name("after").inputs[0].name == "v/read:0"


def test_a_piece_that_comes_later_finds_the_updates_before_it() -> None:
    whole, later = _built_by_tensorflow(), graph_pb2.GraphDef()
    later.node.extend(whole.node[-3:])
    del whole.node[-3:]
    received = ReceivedGraph(by_tensorflow=True)
    received.extend(whole)
    received.extend(later)
    read = received.graph.get_operation_by_name("after").inputs[0].op
    assert (read.type, [op.name for op in read.control_inputs]) == ("Identity", ["update"])
    assert received.version == 9


def test_gradients_go_through_a_read_that_was_added() -> None:
    tf.import_graph_def(_built_by_tensorflow(), name="")
    graph = tf.get_default_graph()
    with tf.Session() as session:
        session.run("v/Assign")
        assert session.run(tf.gradients(graph.get_tensor_by_name("behind:0"), graph.get_tensor_by_name("v:0"))) == [1.0]


def test_an_import_that_fails_takes_its_reads_back() -> None:
    proto = _built_by_tensorflow()
    _node(proto, "lost", "Neg", "nowhere")
    with pytest.raises(ValueError, match="nowhere"):
        tf.import_graph_def(proto, name="")
    assert tf.get_default_graph().get_operations() == []
