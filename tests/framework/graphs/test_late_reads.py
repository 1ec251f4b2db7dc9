"""Reads of variables as TensorFlow has them: one node shows later nodes what updates have made of the variable."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from tensorboard.compat.proto import graph_pb2

import weft as tf
from weft.framework.importing.received_graph import ReceivedGraph
from weft.framework.types.attr_value import encode
from weft.framework.types.dims import Dims

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


def test_a_graph_that_weft_sends_has_its_reads() -> None:
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


def test_a_generator_is_trained_by_its_trained_discriminator() -> None:
    x = tf.placeholder(tf.float32, [1, 1])
    generator, discriminator = tf.Variable([[2.0]]), tf.Variable([[3.0]])
    judged = tf.reduce_sum(tf.matmul(tf.matmul(x, generator), discriminator))
    first = tf.train.GradientDescentOptimizer(1.0).minimize(judged, var_list=[discriminator])
    with tf.control_dependencies([first]):
        second = tf.train.GradientDescentOptimizer(1.0).minimize(-judged, var_list=[generator])
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found = [(session.run(second, {x: [[1.0]]}), session.run([generator, discriminator]))[1] for _ in range(3)]
    assert np.squeeze(found).tolist() == [[3.0, 1.0], [1.0, -2.0], [-2.0, -3.0]]  # as in TensorFlow 1.15


def _behind_a_control_edge(variable: tf.Variable, read: tf.Tensor, update: tf.Tensor) -> tf.Tensor:
    with tf.control_dependencies([update]):
        return tf.identity(read)


def _behind_a_value(variable: tf.Variable, read: tf.Tensor, update: tf.Tensor) -> tf.Tensor:
    return update * 0.0 + read


def _in_a_gradient(variable: tf.Variable, read: tf.Tensor, update: tf.Tensor) -> tf.Tensor:
    half = tf.square(variable) / 2.0
    with tf.control_dependencies([update]):
        return tf.gradients(half, variable)[0]


@pytest.mark.parametrize("made", [_behind_a_control_edge, _behind_a_value, _in_a_gradient])
def test_a_node_of_a_program_behind_an_update_sees_it_by_an_earlier_read(made: Callable[..., tf.Tensor]) -> None:
    variable = tf.Variable(1.0)
    read = variable.value()
    found = made(variable, read, variable.assign_add(1.0))
    with tf.Session() as session:
        session.run(variable.initializer)
        assert [session.run(found) for _ in range(2)] == [2.0, 3.0]


def test_gradients_for_the_earlier_read_go_through_those_that_stand_for_it() -> None:
    variable = tf.Variable(1.0)
    read = variable.value()
    with tf.control_dependencies([variable.assign_add(1.0)]):
        square = read * read
    for_read, for_variable = tf.gradients(square, [read])[0], tf.gradients(square, [variable])[0]
    with tf.Session() as session:
        session.run(variable.initializer)
        assert [session.run(each) for each in (for_read, for_variable)] == [4.0, 6.0]


def test_seeds_do_not_count_the_reads() -> None:
    tf.set_random_seed(3)
    variable = tf.Variable(1.0)
    read, update = variable.value(), variable.assign_add(1.0)
    before = tf.get_default_graph().last_id
    with tf.control_dependencies([update]):
        tf.negative(read)
    assert tf.get_default_graph().last_id == before + 1


def test_a_read_has_the_first_ones_place_and_shape_whatever_the_blocks_around_say() -> None:
    with tf.device("/job:ps/task:0"):
        variable, other = tf.get_variable("v", [2], validate_shape=False), tf.get_variable("w", [2])
    first = variable.value()
    first.set_shape([2])
    update = variable.assign_add([1.0, 1.0])
    with tf.control_dependencies([update]), tf.colocate_with(other):
        read = tf.negative(first).op.inputs[0]
    assert read is not first
    assert (read.device, read.op.colocation_groups(), read.shape.as_list()) == ("/job:ps/task:0", [b"loc:@v"], [2])
