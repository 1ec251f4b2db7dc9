"""Names, devices, order, colocation and containers that open blocks give to the nodes made in them."""

from __future__ import annotations

import contextlib
import gc
import threading
from typing import Any

import pytest

import weft as tf


def names(ops: Any) -> list[str]:
    return [op.name for op in ops]


# Names.


def test_names_are_made_unique_whatever_their_case() -> None:
    assert [tf.no_op(name=name).name for name in ("a", "a", "A", "a_1", "a")] == ["a", "a_1", "A_2", "a_1_1", "a_3"]


def test_scopes_nest_are_made_unique_and_entered_again() -> None:
    with tf.name_scope("s") as outer:
        assert outer == "s/"
        assert tf.no_op(name="x").name == "s/x"
        for wanted in ("s/t/", "s/t_1/"):
            with tf.name_scope("t") as inner:
                assert inner == wanted
                assert tf.no_op(name="x").name == f"{wanted}x"
        with tf.name_scope(outer) as again:
            assert again == "s/"
            assert tf.no_op(name="x").name == "s/x_1"
    with tf.name_scope("s") as other:
        assert other == "s_1/"


@pytest.mark.parametrize("root", [None, ""])
def test_an_empty_scope_is_the_root(root: str | None) -> None:
    with tf.name_scope("s"), tf.name_scope(root) as scope:
        assert scope == ""
        assert tf.no_op(name="x").name == "x"


def test_a_name_that_ends_in_a_slash_is_taken_as_it_is() -> None:
    with tf.name_scope("s"):
        assert tf.no_op(name="abs/").name == "abs"
    with pytest.raises(ValueError, match="Duplicate node name in graph: 'abs'"):
        tf.no_op(name="abs/")


@pytest.mark.parametrize("name", ["_a", "a b", "-a", "/a", ">a", "a:0", "ä", "^a", "a\\b"])
def test_an_illegal_name_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match="is not a valid node name"):
        tf.no_op(name=name)
    with pytest.raises(ValueError, match="is not a valid scope name"):
        tf.name_scope(name).__enter__()


@pytest.mark.parametrize("name", ["a/b", "a.b", "a-b", ".a", "0a", "a>b", "a//b"])
def test_a_legal_name_is_kept(name: str) -> None:
    assert tf.no_op(name=name).name == name


def test_a_scope_inside_another_may_begin_with_more_characters() -> None:
    with tf.name_scope("outer"), tf.name_scope("_inner") as scope:
        assert scope == "outer/_inner/"


def test_the_default_name_is_for_a_scope_without_one() -> None:
    with tf.name_scope(None, "default") as scope:
        assert scope == "default/"
    with tf.name_scope("given", "default", [tf.constant(1.0)]) as scope:
        assert scope == "given/"
    with pytest.raises(ValueError, match="At least one of name"):
        tf.name_scope(None, None, [])


def test_the_values_of_a_scope_settle_its_graph(graph: tf.Graph) -> None:
    value = tf.constant(1.0)
    with tf.Graph().as_default(), tf.name_scope("s", values=[value]):
        assert tf.get_default_graph() is graph


def test_a_unique_name_may_be_asked_for_without_taking_it(graph: tf.Graph) -> None:
    asked = [graph.unique_name("z"), graph.unique_name("z"), graph.unique_name("z", mark_as_used=False), graph.unique_name("z")]
    assert asked == ["z", "z_1", "z_2", "z_2"]


def test_a_thread_has_scopes_of_its_own(graph: tf.Graph) -> None:
    made: list[tf.Operation] = []

    def build() -> None:
        with graph.as_default():
            made.append(tf.no_op(name="x"))

    with tf.name_scope("s"), tf.device("/cpu:0"), tf.control_dependencies([tf.no_op()]):
        thread = threading.Thread(target=build)
        thread.start()
        thread.join()
    assert (made[0].name, made[0].device, made[0].control_inputs) == ("x", "", [])


# Devices.


@pytest.mark.parametrize(
    ("scopes", "device"),
    [
        (["/job:ps", "/cpu:0"], "/job:ps/device:CPU:0"),
        (["/job:ps/task:0", "/job:worker"], "/job:worker/task:0"),
        (["/gpu:0", "/cpu"], "/device:CPU:0"),
        (["/gpu:1", "/job:a"], "/job:a/device:GPU:1"),
        (["/cpu:0", None], ""),
        (["/job:ps", None, "/cpu:0"], "/device:CPU:0"),
        (["/job:ps", ""], "/job:ps"),
        (["/job:ps", tf.DeviceSpec(task=3)], "/job:ps/task:3"),
        ([lambda op: "/job:x", "/cpu:0"], "/job:x"),
        (["/cpu:0", lambda op: "/job:y"], "/job:y/device:CPU:0"),
        (["/job:a/cpu:0", lambda op: "/gpu:1"], "/job:a/device:GPU:1"),
        (["/job:ps", lambda op: tf.DeviceSpec(task=3)], "/job:ps/task:3"),
        (["/job:ps", lambda op: op.device + "/task:1"], "/job:ps/task:1"),
        (["/job:ps/task:5", "/task:1/gpu:0", "/gpu:1"], "/job:ps/task:1/device:GPU:1"),
    ],
)
def test_device_scopes_are_merged_from_the_inside_out(scopes: list[Any], device: str) -> None:
    with contextlib.ExitStack() as stack:
        for scope in scopes:
            stack.enter_context(tf.device(scope))
        assert tf.constant(1.0).device == device


def test_a_device_function_sees_the_operation() -> None:
    with tf.device(lambda op: f"/job:{op.type.lower()}"):
        assert (tf.constant(1).device, tf.no_op().device) == ("/job:const", "/job:noop")


@pytest.mark.parametrize("device", ["nonsense", "/foo:bar", 3])
def test_what_is_no_device_is_refused(device: Any) -> None:
    with pytest.raises(ValueError, match="Unknown attribute"), tf.device(device):
        tf.no_op()


# Order.


def test_nodes_of_a_block_wait_for_what_it_names() -> None:
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    variable = tf.Variable(1.0, name="v", use_resource=False)
    with tf.control_dependencies([a, b.op, variable, "a:0", "b"]):
        assert names(tf.no_op().control_inputs) == ["a", "b", "v"]
    with tf.control_dependencies([tf.IndexedSlices(a, b)]):
        assert names(tf.no_op().control_inputs) == ["a"]
    with tf.control_dependencies([]):
        assert tf.no_op().control_inputs == []


def test_what_an_input_implies_is_not_waited_for_again() -> None:
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    with tf.control_dependencies([a, b.op]):
        c = tf.constant(3.0, name="c")
        assert names(c.op.control_inputs) == ["a", "b"]
        assert tf.add(a, b).op.control_inputs == []
        assert names(tf.identity(a).op.control_inputs) == ["b"]
        assert tf.add(c, c).op.control_inputs == []
        with tf.control_dependencies([c]):
            assert names(tf.no_op().control_inputs) == ["a", "b", "c"]
            assert tf.identity(c).op.control_inputs == []
        with tf.control_dependencies([a]):
            assert names(tf.no_op().control_inputs) == ["a", "b"]


def test_a_block_may_forget_what_blocks_around_it_wait_for() -> None:
    a, b = tf.constant(1.0, name="a"), tf.constant(2.0, name="b")
    with tf.control_dependencies([a]), tf.control_dependencies(None):
        assert tf.no_op().control_inputs == []
        with tf.control_dependencies([b]):
            assert names(tf.no_op().control_inputs) == ["b"]


@pytest.mark.parametrize(("item", "error"), [("nope", KeyError), (3, TypeError), (None, TypeError)])
def test_what_cannot_be_waited_for_is_refused(item: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        tf.control_dependencies([item]).__enter__()


# Colocation and containers.


def test_a_node_goes_where_another_one_is() -> None:
    with tf.device("/job:ps/task:1"):
        v = tf.constant(1.0, name="v")
    a = tf.constant(1.0, name="a")
    with tf.device("/gpu:0"), tf.colocate_with(v):
        beside = tf.no_op(name="beside")
        assert beside.device == "/job:ps/task:1"
        assert beside.get_attr("_class") == [b"loc:@v"]
    with tf.device("/gpu:0"), tf.colocate_with(a):
        assert tf.no_op().device == ""
    with tf.colocate_with(beside):
        assert tf.no_op().colocation_groups() == [b"loc:@v"]
    assert a.op.colocation_groups() == [b"loc:@a"]


def test_colocation_nests_and_is_ended() -> None:
    with tf.device("/job:ps/task:1"):
        v = tf.constant(1.0, name="v")
    a = tf.constant(1.0, name="a")
    with tf.colocate_with(a):
        with tf.colocate_with(v):
            assert tf.no_op().colocation_groups() == [b"loc:@a", b"loc:@v"]
        with tf.colocate_with(v, ignore_existing=True):
            assert tf.no_op().colocation_groups() == [b"loc:@v"]
        with tf.colocate_with(None, ignore_existing=True):
            node = tf.no_op(name="free")
            assert node.colocation_groups() == [b"loc:@free"]
    with pytest.raises(ValueError, match="Trying to reset colocation"):
        tf.colocate_with(None).__enter__()
    with pytest.raises(TypeError, match="colocate_with"):
        tf.colocate_with("a").__enter__()


def test_a_container_is_for_state_only() -> None:
    with tf.container("c") as name:
        assert name == "c"
        assert tf.Variable(1.0, use_resource=False).op.get_attr("container") == b"c"
        assert "container" not in tf.no_op().attrs
        with tf.container(""):
            assert tf.Variable(1.0, use_resource=False).op.get_attr("container") == b""


def test_a_gradient_override_marks_the_nodes_of_the_block(graph: tf.Graph) -> None:
    with graph.gradient_override_map({"Square": "Custom"}):
        assert tf.square(1.0).op.get_attr("_gradient_op_type") == b"Custom"
    with pytest.raises(ValueError, match="has no attr"):
        tf.square(1.0).op.get_attr("_gradient_op_type")
    for wrong in ({"Square": 3}, {3: "x"}, ["Square"]):
        with pytest.raises(TypeError, match="must be a dictionary mapping strings to strings"):
            graph.gradient_override_map(wrong).__enter__()


def test_device_scopes_are_left_in_order():
    graph = tf.Graph()
    outer = graph.device("/device:GPU:8")
    outer.__enter__()
    with graph.device("/device:GPU:9"), pytest.raises(RuntimeError, match="without proper scope nesting"):
        outer.__exit__(None, None, None)


def test_scopes_left_out_of_order_are_of_their_graph_alone():
    for _ in range(20):
        with tf.Graph().as_default() as graph:
            assert tf.constant(1.0).device == ""
        outer = graph.device("/device:GPU:8")
        outer.__enter__()
        with graph.device("/device:GPU:9"), pytest.raises(RuntimeError, match="nesting"):
            outer.__exit__(None, None, None)
        del graph, outer
        gc.collect()


def test_a_node_s_name_may_be_bytes():
    made = tf.constant(1.0, name=b"made")
    assert made.op.name == "made"
