"""Graphs that TensorFlow 1.15 and 2 made, run after raising, against what TensorFlow computed with them."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from tensorboard.compat.proto import graph_pb2

import weft as tf
from weft.framework.raising.inlining import call_sizes
from weft.framework.raising.raise_control_flow import RAISED, raise_control_flow

_FILES = {
    name.removesuffix(".pb"): (archive.read(name), archive.read(name.removesuffix("pb") + "json"))
    for archive in map(zipfile.ZipFile, sorted(Path(__file__).parent.glob("*_graphs.zip")))
    for name in archive.namelist()
    if name.endswith(".pb")
}


def _graph(name: str) -> graph_pb2.GraphDef:
    return graph_pb2.GraphDef.FromString(_FILES[name][0])


@pytest.mark.parametrize("name", sorted(_FILES))
def test_a_graph_of_tensorflows_computes_what_it_computed_there(name: str) -> None:
    case = json.loads(_FILES[name][1])
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(_graph(name), name="")
        session.run(case["initializer"])
        for feed, expected in zip(case["feeds"], case["values"], strict=True):
            for found, value in zip(session.run(case["fetches"], feed), expected, strict=True):
                np.testing.assert_allclose(found, value, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", sorted(_FILES))
def test_nothing_is_left_of_what_is_raised(name: str) -> None:
    raised = raise_control_flow(_graph(name))
    bodies = [node for function in raised.library.function for node in function.node_def]
    assert not {node.op for node in [*raised.node, *bodies]} & RAISED


def test_a_graph_is_imported_twice_side_by_side() -> None:
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant(0.7)
        found = []
        for scope in ("one", "two"):
            tf.import_graph_def(_graph("gradient_of_branch_in_loop"), input_map={"x": x}, name=scope)
            fetches = json.loads(_FILES["gradient_of_branch_in_loop"][1])["fetches"]
            found.append(session.run([f"{scope}/{fetch}" for fetch in fetches]))
        assert found[0] == found[1]


def test_a_branch_and_its_gradient_become_one_if_where_neither_waits_for_the_other() -> None:
    raised = raise_control_flow(_graph("gradient_of_branch"))
    assert [node.op for node in raised.node if node.op.endswith("If")] == ["StatelessIf"]


def _node(proto: graph_pb2.GraphDef, name: str, op: str, *inputs: str) -> None:
    node = proto.node.add(name=name, op=op, input=inputs)
    node.attr["T"].type = 1
    if op == "Placeholder":
        del node.attr["T"]
        node.attr["dtype"].type = 10 if name == "p" or name == "q" else 1
    elif op == "Merge":
        node.attr["N"].i = len(inputs)
    elif op == "Enter":
        node.attr["frame_name"].s = b"frame"


def _merge_of_two_predicates(proto: graph_pb2.GraphDef) -> None:
    _node(proto, "s", "Switch", "x", "p")
    _node(proto, "t", "Switch", "x", "q")
    _node(proto, "wrong", "Merge", "s", "t:1")


def _sum_of_both_sides(proto: graph_pb2.GraphDef) -> None:
    _node(proto, "s", "Switch", "x", "p")
    _node(proto, "wrong", "Add", "s", "s:1")


def _frame_without_condition(proto: graph_pb2.GraphDef) -> None:
    _node(proto, "wrong", "Enter", "x")


def _circle(proto: graph_pb2.GraphDef) -> None:
    _node(proto, "s", "Switch", "x", "p")
    _node(proto, "wrong", "Add", "x", "other")
    _node(proto, "other", "Neg", "wrong")


def _two_of_one_name(proto: graph_pb2.GraphDef) -> None:
    _node(proto, "wrong", "Switch", "x", "p")
    _node(proto, "wrong", "Switch", "x", "q")


def _switch_without_predicate(proto: graph_pb2.GraphDef) -> None:
    _node(proto, "wrong", "Switch", "x")


def _input_that_is_no_tensor(proto: graph_pb2.GraphDef) -> None:
    _node(proto, "wrong", "Switch", "x:y", "p")


def _merge_without_type(proto: graph_pb2.GraphDef) -> None:
    _node(proto, "s", "Switch", "x", "p")
    _node(proto, "wrong", "Merge", "s", "s:1")
    del proto.node[-1].attr["T"]


def _branches_deep_inside_of_each_other(proto: graph_pb2.GraphDef) -> None:
    before = "x"
    for index in range(200):
        _node(proto, f"s{index}", "Switch", before, f"p{index}")
        _node(proto, f"p{index}", "Placeholder")
        proto.node[-1].attr["dtype"].type = 10
        before = f"s{index}:1"
    for index in reversed(range(200)):
        _node(proto, f"m{index}", "Merge", f"s{index}", before)
        before = f"m{index}"


def _function_that_calls_another_twice(proto: graph_pb2.GraphDef) -> None:
    for index in range(40):
        function = proto.library.function.add()
        function.signature.name = f"f{index}"
        function.signature.input_arg.add(name="x", type=1)
        function.signature.output_arg.add(name="y", type=1)
        function.ret["y"] = "b:y:0" if index < 39 else "x"
        if index < 39:
            function.node_def.add(name="a", op=f"f{index + 1}", input=["x"])
            function.node_def.add(name="b", op=f"f{index + 1}", input=["a:y:0"])
    proto.node.add(name="wrong", op="f0", input=["x"])


def test_calls_that_double_at_each_depth_are_refused_before_they_fill_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_sizes, "_MOST_NODES", 1000)
    proto = graph_pb2.GraphDef()
    _node(proto, "x", "Placeholder")
    _function_that_calls_another_twice(proto)
    with pytest.raises(ValueError, match="stand for more than 1000 nodes"):
        raise_control_flow(proto)


@pytest.mark.parametrize(
    ("build", "text"),
    [
        (_two_of_one_name, "Node 'wrong' is not unique"),
        (_switch_without_predicate, "Node 'wrong' has 1 inputs, but op Switch takes 2 inputs"),
        (_input_that_is_no_tensor, "Node 'wrong' has input 'x:y', which is no tensor's name"),
        (_merge_without_type, "Node 'wrong' of op Merge has no attribute 'T'"),
        (_branches_deep_inside_of_each_other, r"Node .* is deeper than 100 branches inside of each other"),
        (_merge_of_two_predicates, "Merge 'wrong' cannot be raised to an If.*two sides of one Switch's predicate"),
        (_sum_of_both_sides, "Node 'wrong' uses values of branches that exclude each other"),
        (_frame_without_condition, "loop of frame 'frame' cannot be raised to a While: it has 0 LoopCond.*wrong"),
        (_circle, "circle through node '(wrong|other)'"),
    ],
)
def test_what_cannot_be_raised_is_an_error_that_names_the_node(build: Callable[[graph_pb2.GraphDef], None], text: str) -> None:
    proto = graph_pb2.GraphDef()
    for name in ("x", "p", "q"):
        _node(proto, name, "Placeholder")
    build(proto)
    with tf.Graph().as_default() as graph:
        with pytest.raises(ValueError, match=text):
            tf.import_graph_def(proto, name="")
        assert graph.get_operations() == []


def test_a_node_that_waits_for_a_switch_waits_for_what_goes_into_it() -> None:
    proto = graph_pb2.GraphDef()
    _node(proto, "x", "Placeholder")
    _node(proto, "p", "Placeholder")
    _node(proto, "first", "Switch", "x", "p")
    _node(proto, "second", "Switch", "x", "p", "^first")
    _node(proto, "merge", "Merge", "second:0", "second:1")
    proto.node.add(name="end", op="NoOp", input=["^second", "^merge"])
    raised = {node.name: node for node in raise_control_flow(proto).node}
    assert sorted(raised["end"].input) == ["^merge", "^p", "^x"]
