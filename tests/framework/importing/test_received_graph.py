"""A client's graph on its way into a master."""

from __future__ import annotations

import pytest
from tensorboard.compat.proto import graph_pb2

import weft as tf
from weft.framework.importing.received_graph import ReceivedGraph

FLOAT, BOOL = 1, 10


def piece(*nodes: tuple[str, str, str]) -> graph_pb2.GraphDef:
    """A GraphDef of nodes given by name, op and inputs."""
    proto = graph_pb2.GraphDef()
    for name, op, inputs in nodes:
        node = proto.node.add(name=name, op=op, input=inputs.split())
        if op == "Placeholder":
            node.attr["dtype"].type = BOOL if name == "p" else FLOAT
        elif op != "NoSuchOp":
            node.attr["T"].type = FLOAT
        if op == "Merge":
            node.attr["N"].i = 2
    return proto


def test_a_branch_whose_gradient_comes_later_is_raised_again_with_it() -> None:
    received = ReceivedGraph()
    received.extend(piece(("x", "Placeholder", ""), ("p", "Placeholder", "")))
    received.extend(piece(("s", "Switch", "x p"), ("n", "Neg", "s"), ("e", "Exp", "s:1"), ("y", "Merge", "n e")))
    received.extend(piece(("t", "Switch", "y p"), ("m", "Neg", "t"), ("d", "Mul", "t:1 e"), ("g", "Merge", "m d")))
    assert received.version == 10
    with tf.Session(graph=received.graph) as session:
        found = [session.run(["y:0", "g:0"], {"x:0": 2.0, "p:0": p}) for p in (True, False)]
    assert found[0][1] == pytest.approx(found[0][0] ** 2)
    assert found[1] == [-2.0, 2.0]


def test_all_unknown_ops_that_something_needs_are_told_together_with_the_nearest() -> None:
    received = ReceivedGraph()
    proto = piece(("x", "Placeholder", ""), ("u", "NoSuchOp", "x"))
    proto.node.add(name="v", op="MatMull", input=["x", "u"])
    proto.node.add(name="w", op="Elsewhere", input=["x"])
    received.extend(proto)
    received.raise_if_aside(["x:0"])
    with pytest.raises(tf.errors.NotFoundError) as caught:
        received.raise_if_aside(["v:0"])
    assert "'MatMull', which node 'v' needs (the nearest is 'MatMul')" in caught.value.message
    assert "'NoSuchOp', which node 'u' needs" in caught.value.message
    assert "Elsewhere" not in caught.value.message


def test_what_needs_a_node_set_aside_before_is_set_aside_too() -> None:
    received = ReceivedGraph()
    received.extend(piece(("x", "Placeholder", ""), ("u", "NoSuchOp", "x")))
    received.extend(piece(("y", "Neg", "u"), ("z", "Neg", "x")))
    assert [op.name for op in received.graph.get_operations()] == ["x", "z"]
    with pytest.raises(tf.errors.NotFoundError, match="'NoSuchOp'"):
        received.raise_if_aside(["y"])


def test_a_function_with_an_unknown_op_fails_the_steps_that_call_it() -> None:
    received = ReceivedGraph()
    proto = piece(("x", "Placeholder", ""), ("y", "Neg", "x"))
    function = proto.library.function.add()
    function.signature.name = "f"
    function.signature.input_arg.add(name="a", type=FLOAT)
    function.signature.output_arg.add(name="b", type=FLOAT)
    function.node_def.add(name="inside", op="NoSuchOp", input=["a"])
    function.ret["b"] = "inside:y:0"
    call = proto.node.add(name="call", op="PartitionedCall", input=["x"])
    call.attr["f"].func.name = "f"
    call.attr["Tin"].list.type.append(FLOAT)
    call.attr["Tout"].list.type.append(FLOAT)
    received.extend(proto)
    with tf.Session(graph=received.graph) as session:
        assert session.run("y:0", {"x:0": 1.0}) == -1
    with pytest.raises(tf.errors.NotFoundError, match="'NoSuchOp', which node 'inside' needs"):
        received.raise_if_aside(["call:0"])


def test_functions_that_call_each_other_are_looked_through_once() -> None:
    """Each calls the next twice, the last needs an op that weft lacks: 2**100 ways lead there."""
    proto = graph_pb2.GraphDef()
    for index in range(100):
        function = proto.library.function.add()
        function.signature.name = f"f{index}"
        for name in "ab":
            function.node_def.add(name=name, op=f"f{index + 1}" if index < 99 else "NoSuchOp")
    proto.node.add(name="call", op="f0")
    received = ReceivedGraph()
    received.extend(proto)
    with pytest.raises(tf.errors.NotFoundError, match="'NoSuchOp', which node 'a' needs"):
        received.raise_if_aside(["call"])
