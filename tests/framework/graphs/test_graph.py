"""A graph finds its elements, says exactly why it cannot, takes no foreign ones, and can be closed."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import weft as tf


@pytest.fixture
def elements(graph: tf.Graph) -> tuple[tf.Tensor, tf.Operation]:
    tensor = tf.constant(1.0, name="a")
    tf.split(tf.constant([1, 2]), 2, name="s")
    return tensor, tf.no_op(name="n")


def test_elements_are_found_by_themselves_and_by_name(graph: tf.Graph, elements: tuple[tf.Tensor, tf.Operation]) -> None:
    tensor, op = elements
    assert graph.as_graph_element(tensor) is graph.as_graph_element("a:0") is graph.as_graph_element(b"a:0") is tensor
    assert graph.as_graph_element("n") is graph.as_graph_element(op) is op
    assert graph.get_tensor_by_name("s:1").op.name == "s"
    assert graph.get_operation_by_name("a") is tensor.op
    variable = tf.Variable(1.0, name="v", use_resource=False)
    assert graph.as_graph_element(variable) is graph.get_tensor_by_name("v:0")


@pytest.mark.parametrize(
    ("name", "error", "message"),
    [
        ("zz", KeyError, "The name 'zz' refers to an Operation not in the graph."),
        ("zz:0", KeyError, "refers to a Tensor which does not exist. The operation, 'zz', does not exist in the graph."),
        ("s:2", KeyError, "refers to a Tensor which does not exist. The operation, 's', exists but only has 2 outputs."),
        ("n:0", KeyError, "The operation, 'n', exists but only has 0 outputs."),
        ("a:", ValueError, "looks a like a Tensor name, but is not a valid one"),
        ("a:x", ValueError, "looks a like a Tensor name, but is not a valid one"),
        (3, TypeError, "Can not convert a int into a Tensor or Operation."),
        (None, TypeError, "Can not convert a NoneType into a Tensor or Operation."),
    ],
)
@pytest.mark.usefixtures("elements")
def test_what_is_not_there_is_told(graph: tf.Graph, name: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error) as caught:
        graph.as_graph_element(name)
    assert message in caught.value.args[0]


def test_an_element_of_the_other_kind_is_told(graph: tf.Graph, elements: tuple[tf.Tensor, tf.Operation]) -> None:
    tensor, op = elements
    for ask, error, message in (
        (lambda: graph.get_tensor_by_name("a"), ValueError, "The name 'a' refers to an Operation, not a Tensor"),
        (lambda: graph.get_tensor_by_name("zz"), ValueError, "looks like an .invalid. Operation name, not a Tensor"),
        (lambda: graph.get_operation_by_name("a:0"), ValueError, "appears to refer to a Tensor, not a Operation"),
        (lambda: graph.as_graph_element(tensor, allow_tensor=False), TypeError, "Can not convert a Tensor into a Operation"),
        (lambda: graph.as_graph_element(op, allow_operation=False), TypeError, "Can not convert a Operation into a Tensor"),
        (lambda: graph.as_graph_element("a", False, False), ValueError, "can't both be False"),
        (lambda: graph.get_tensor_by_name(tensor), TypeError, "Tensor names are strings"),
        (lambda: graph.get_operation_by_name(3), TypeError, "Operation names are strings"),
    ):
        with pytest.raises(error, match=message):
            ask()


def test_an_element_of_another_graph_is_refused(elements: tuple[tf.Tensor, tf.Operation]) -> None:
    other = tf.Graph()
    for element in elements:
        with pytest.raises(ValueError, match="is not an element of this graph"):
            other.as_graph_element(element)
    with other.as_default(), pytest.raises(ValueError, match="is not an element of this graph"):
        tf.control_dependencies([elements[0]]).__enter__()


def test_a_node_is_built_in_the_graph_of_its_inputs(graph: tf.Graph) -> None:
    x = tf.constant(1.0)
    variable = tf.Variable(1.0, use_resource=False)
    with tf.Graph().as_default():
        assert (x + 1.0).graph is graph
        assert tf.add(variable, 1.0).graph is graph
        foreign = tf.constant(2.0)
    with pytest.raises(ValueError, match="must be from the same graph as"):
        tf.add(x, foreign)
    with pytest.raises(ValueError, match="must be from the same graph as"):
        tf.concat([[x], [foreign]], 0)


def test_a_tensor_is_no_value_while_the_graph_is_built() -> None:
    tensor = tf.constant([1.0, 2.0])
    uses: list[Callable[[], Any]] = [lambda: bool(tensor), lambda: len(tensor), lambda: list(tensor), lambda: float(tensor)]
    for use in uses:
        with pytest.raises(TypeError):
            use()
    with pytest.raises(NotImplementedError, match="Cannot convert a symbolic Tensor"):
        np.array(tensor)


def test_tensors_and_operations_are_compared_by_identity() -> None:
    a, b = tf.constant(1.0), tf.constant(1.0)
    assert a != b
    assert {a: 1, b: 2}[a] == 1
    assert a in [b, a]
    assert copy.copy(a) is copy.deepcopy(a) is a
    assert copy.deepcopy(a.op) is a.op


def test_elements_are_printed_as_programs_know_them() -> None:
    known, unknown = tf.placeholder(tf.float32, [None, 3], name="p"), tf.placeholder(tf.int32, name="q")
    assert str(known) == 'Tensor("p:0", shape=(?, 3), dtype=float32)'
    assert repr(known) == "<tf.Tensor 'p:0' shape=(?, 3) dtype=float32>"
    assert str(unknown) == 'Tensor("q:0", dtype=int32)'
    assert repr(unknown) == "<tf.Tensor 'q:0' shape=<unknown> dtype=int32>"
    assert repr(known.op) == "<tf.Operation 'p' type=Placeholder>"
    with tf.device("/cpu:0"):
        assert str(tf.constant(1, name="c")) == 'Tensor("c:0", shape=(), dtype=int32, device=/device:CPU:0)'


def test_an_operation_knows_its_neighbours_and_attributes() -> None:
    a = tf.constant(1.0, name="a")
    doubled = tf.add(a, a, name="doubled")
    assert a.consumers() == [doubled.op, doubled.op]
    assert list(doubled.op.inputs) == [a, a]
    assert doubled.op.values() == (doubled,)
    assert a.op.get_attr("dtype") is tf.float32
    assert tf.Variable(1.0, name="v", use_resource=False).op.get_attr("shared_name") == b""
    with pytest.raises(ValueError, match="has no attr named 'foo'"):
        a.op.get_attr("foo")


def test_an_operation_knows_where_it_was_built() -> None:
    op = tf.no_op()
    file, _, function, _ = op.traceback[-1]
    assert file == __file__
    assert function == "test_an_operation_knows_where_it_was_built"


def test_a_finalized_graph_takes_nothing_more(graph: tf.Graph) -> None:
    tensor = tf.constant(1.0)
    graph.finalize()
    assert graph.finalized
    for change in (lambda: tf.constant(2.0), lambda: tensor + 1.0, tf.no_op):
        with pytest.raises(RuntimeError, match=r"Graph is finalized and cannot be modified\."):
            change()
    graph._unsafe_unfinalize()
    tf.no_op()


def test_the_version_grows_with_the_graph(graph: tf.Graph) -> None:
    before = graph.version
    tf.no_op()
    assert graph.version > before


def test_what_must_not_be_fed_or_fetched_is_marked(graph: tf.Graph) -> None:
    tensor = tf.placeholder(tf.float32)
    assert graph.is_feedable(tensor)
    assert graph.is_fetchable(tensor)
    graph.prevent_feeding(tensor)
    graph.prevent_fetching(tensor.op)
    assert not graph.is_feedable(tensor)
    assert not graph.is_fetchable(tensor)


def test_the_default_graph_is_reset_outside_of_blocks_only(graph: tf.Graph) -> None:
    with pytest.raises(AssertionError, match=r"Do not use tf.reset_default_graph"):
        tf.reset_default_graph()


def test_the_innermost_block_has_the_default_graph(graph: tf.Graph) -> None:
    with tf.Graph().as_default() as inner:
        assert tf.get_default_graph() is inner
        assert tf.constant(1.0).graph is inner
    assert tf.get_default_graph() is graph


# The serial form.


def test_a_graph_def_has_every_node_with_its_inputs_and_device(graph: tf.Graph) -> None:
    x = tf.placeholder(tf.float32, [None, 2], name="x")
    with tf.device("/job:ps/cpu:0"):
        w = tf.Variable([[1.0], [2.0]], name="w", use_resource=False)
    with tf.control_dependencies([w.initializer]):
        tf.matmul(x, w, name="y")
    nodes = {node.name: node for node in graph.as_graph_def().node}
    assert [nodes[name].op for name in ("w", "w/Assign", "w/read", "y")] == ["VariableV2", "Assign", "Identity", "MatMul"]
    assert list(nodes["y"].input) == ["x", "w/read", "^w/Assign"]
    assert nodes["w"].device == "/job:ps/device:CPU:0"
    assert list(nodes["w/read"].attr["_class"].list.s) == [b"loc:@w"]
    assert "_output_shapes" not in nodes["x"].attr
    assert "_output_shapes" in graph.as_graph_def(add_shapes=True).node[0].attr


def test_a_graph_def_may_have_only_the_latest_nodes(graph: tf.Graph) -> None:
    tf.no_op(name="early")
    version = graph.version
    tf.no_op(name="late")
    assert [node.name for node in graph.as_graph_def(from_version=version).node] == ["late"]


def test_an_operation_may_be_made_of_its_parts(graph: tf.Graph) -> None:
    a = tf.constant(2.0)
    op = graph.create_op("Neg", [a], [tf.float32], name="minus", attrs={"T": tf.float32})
    assert (op.name, op.type, op.outputs[0].shape.as_list()) == ("minus", "Neg", [])
    with pytest.raises(TypeError, match="Input #0 is not a tensor"):
        graph.create_op("Neg", [3], [tf.float32])
    with pytest.raises(LookupError, match="Op type not registered 'Nonesuch'"):
        graph.create_op("Nonesuch", [], [])


def test_a_version_parts_the_nodes_before_it_from_those_after_it(graph: tf.Graph) -> None:
    a, b = tf.constant(1, name="a"), tf.constant(2, name="b")
    a.op._add_control_input(b.op)
    version = graph.version
    tf.constant(3, name="c")
    assert [node.name for node in graph.as_graph_def(from_version=version).node] == ["c"]
