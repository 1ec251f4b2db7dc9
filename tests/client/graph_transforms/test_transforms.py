"""TransformGraph: what each transform leaves of a graph, and that the rest computes the same."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import pytest
from weft.tools.graph_transforms import TransformGraph

import weft as tf

_IMAGES = np.cos(np.arange(144, dtype=np.float32)).reshape(2, 6, 6, 2)


def _graph_def(build: Callable[[tf.Tensor], tf.Tensor]) -> tf.GraphDef:
    """A graph with the input x and the output z."""
    with tf.Graph().as_default() as graph:
        tf.identity(build(tf.placeholder(tf.float32, [None, 6, 6, 2], "x")), "z")
    return graph.as_graph_def()


def _weights() -> tf.Tensor:
    return tf.constant(np.sin(np.arange(54, dtype=np.float32)).reshape(3, 3, 2, 3), name="w")


def _sums(x: tf.Tensor) -> tf.Tensor:
    first = tf.add(tf.constant(2.0, name="a"), tf.constant(3.0, name="b"), name="five")
    second = tf.add(tf.constant(2.0, name="a2"), tf.constant(3.0, name="b2"), name="five_again")
    made = tf.check_numerics(tf.identity(tf.multiply(x, first, name="m"), name="i"), "wrong", name="check")
    tf.square(made, name="unused")
    return made + second


def _run(graph_def: tf.GraphDef) -> np.ndarray:
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(graph_def, name="")
        return session.run("z:0", {"x:0": _IMAGES})


def _transformed(build: Callable[[tf.Tensor], tf.Tensor], *transforms: str) -> dict[str, str]:
    """The types of the nodes that are left, by their names, after a check that the graph computes the same."""
    before = _graph_def(build)
    after = TransformGraph(before, ["x"], ["z"], list(transforms))
    np.testing.assert_allclose(_run(after), _run(before), atol=2e-6)
    return {node.name: node.op for node in after.node}


def test_unused_nodes_are_stripped():
    assert set(_transformed(_sums, "strip_unused_nodes")) == set(_transformed(_sums)) - {"unused"}


@pytest.mark.parametrize(
    ("transform", "dtype", "shape"),
    [
        ("strip_unused_nodes", tf.float32, []),
        ('strip_unused_nodes(type=int32, shape="1,6,6,2")', tf.int32, [1, 6, 6, 2]),
        ('strip_unused_nodes(type=half, name=m, type_for_name=int32, shape_for_name="3,4")', tf.int32, [3, 4]),
    ],
)
def test_an_input_in_the_middle_becomes_a_placeholder(transform, dtype, shape):
    made = TransformGraph(_graph_def(_sums), ["m"], ["z"], [transform])
    (node,) = (each for each in made.node if each.op == "Placeholder")
    assert (node.name, node.attr["dtype"].type) == ("m", dtype.as_datatype_enum)
    assert tf.TensorShape(node.attr["shape"].shape).as_list() == shape


def test_nodes_of_some_types_are_removed_but_for_outputs():
    left = _transformed(_sums, "remove_nodes(op=Identity, op=CheckNumerics)")
    assert {"i", "check"}.isdisjoint(left)
    assert left["z"] == "Identity"


def test_duplicates_are_merged_with_what_reads_them():
    left = _transformed(_sums, "merge_duplicate_nodes")
    assert {"a", "b", "five"} <= set(left)
    assert {"a2", "b2", "five_again"}.isdisjoint(left)


def test_random_nodes_and_placeholders_are_no_duplicates():
    with tf.Graph().as_default() as graph:
        drawn = [tf.random_uniform([2], seed=1) for _ in range(2)]
        fed = [tf.placeholder(tf.float32, [2]) for _ in range(2)]
        tf.add_n([*drawn, *fed], name="z")
    left = TransformGraph(graph.as_graph_def(), [], ["z"], ["merge_duplicate_nodes"])
    kinds = [node.op for node in left.node]
    assert (kinds.count("RandomUniform"), kinds.count("Placeholder")) == (2, 2)


def test_what_follows_of_constants_becomes_a_constant_of_its_name():
    left = _transformed(_sums, "fold_constants(ignore_errors=true)")
    assert (left["five"], left["five_again"]) == ("Const", "Const")
    assert {"a", "b", "a2", "b2", "unused"}.isdisjoint(left)


def test_later_outputs_fold_to_constants_of_their_own():
    def build(x):
        parts = tf.split(tf.range(4.0) + 1.0, 2, name="parts")
        return x * parts[1]

    left = _transformed(build, "fold_constants")
    assert left["parts/output_1"] == "Const"
    assert "parts" not in left


def test_random_numbers_do_not_fold():
    with tf.Graph().as_default() as graph:
        tf.add(tf.random_uniform([2]), 1.0, name="z")
    assert "RandomUniform" in {node.op for node in TransformGraph(graph.as_graph_def(), [], ["z"], ["fold_constants"]).node}


def test_a_graph_that_cannot_be_folded_stays_where_errors_are_ignored():
    with tf.Graph().as_default() as graph:
        tf.floordiv(tf.constant(1), tf.constant(0), name="z")
    before = graph.as_graph_def()
    with pytest.raises(tf.errors.InvalidArgumentError, match="division by zero"):
        TransformGraph(before, [], ["z"], ["fold_constants"])
    assert TransformGraph(before, [], ["z"], ["fold_constants(ignore_errors=true)"]) == before


def test_factors_of_channels_are_folded_into_weights():
    def conv(x):
        return tf.multiply(tf.nn.conv2d(x, _weights(), 1, "SAME", name="c"), tf.constant([0.5, 2.0, -1.0], name="s"), name="m")

    def depthwise(x):
        made = tf.nn.depthwise_conv2d_native(x, _weights(), [1, 1, 1, 1], "SAME", name="c")
        return tf.multiply(made, tf.constant(np.linspace(0.5, 1.5, 6, dtype=np.float32), name="s"), name="m")

    assert _transformed(conv, "fold_batch_norms") == {"x": "Placeholder", "w": "Const", "m": "Conv2D", "z": "Identity"}
    left = _transformed(depthwise, "fold_batch_norms")
    assert left == {"x": "Placeholder", "w": "Const", "m": "DepthwiseConv2dNative", "z": "Identity"}


def test_weights_that_others_read_are_not_folded():
    def build(x):
        weights = _weights()
        return tf.nn.conv2d(x, weights, 1, "SAME") * tf.constant([0.5, 2.0, -1.0]) + tf.reduce_sum(weights)

    assert "Mul" in _transformed(build, "fold_batch_norms").values()


def _normalized(name: str) -> Callable[[tf.Tensor], tf.Tensor]:
    def build(x):
        made = tf.nn.conv2d(x, _weights(), 1, "SAME", name="c")
        numbers = [tf.constant(np.linspace(0.5, 1.5, 3).astype(np.float32) * count) for count in range(1, 5)]
        names = ("scale", "offset", "mean", "variance")
        of_batch = dict(zip(names, numbers, strict=True))
        return getattr(tf.raw_ops, name)(x=made, **of_batch, is_training=False, epsilon=0.01, name="bn")[0]

    return build


@pytest.mark.parametrize("name", ["FusedBatchNorm", "FusedBatchNormV2", "FusedBatchNormV3"])
def test_a_node_of_batch_normalization_becomes_a_sum(name):
    left = _transformed(_normalized(name), "fold_old_batch_norms")
    expected = {"x": "Placeholder", "w": "Const", "c": "Conv2D", "c_bn_offset": "Const", "bn": "BiasAdd", "z": "Identity"}
    assert left == expected


def test_a_frozen_layer_is_a_convolution_and_a_sum():
    with tf.Graph().as_default() as graph, tf.Session() as session:
        x = tf.placeholder(tf.float32, [None, 6, 6, 2], "x")
        tf.identity(tf.layers.batch_normalization(tf.layers.conv2d(x, 3, 3, use_bias=False)), "z")
        session.run(tf.global_variables_initializer())
        frozen = tf.graph_util.convert_variables_to_constants(session, graph.as_graph_def(), ["z"])
    transforms = [
        "remove_nodes(op=Identity)",
        "strip_unused_nodes",
        "fold_constants(ignore_errors=true)",
        "fold_old_batch_norms",
    ]
    after = TransformGraph(frozen, ["x"], ["z"], transforms)
    assert sorted(node.op for node in after.node) == ["BiasAdd", "Const", "Const", "Conv2D", "Identity", "Placeholder"]
    np.testing.assert_allclose(_run(after), _run(frozen), atol=2e-6)


def test_nodes_come_behind_their_inputs():
    before = _graph_def(_sums)
    turned = tf.GraphDef(node=list(before.node)[::-1], versions=before.versions)
    names = [node.name for node in TransformGraph(turned, ["x"], ["z"], ["sort_by_execution_order"]).node]
    assert all(names.index(item) < names.index(node.name) for node in before.node for item in node.input)


def test_what_is_written_on_nodes_can_be_changed():
    with tf.Graph().as_default() as graph, tf.device("/cpu:0"):
        first = tf.constant(1.0, name="first")
        with tf.control_dependencies([tf.no_op("wait")]):
            tf.nn.relu(first, name="z")

    def node(*transforms: str, name: str = "z") -> tf.NodeDef:
        made = TransformGraph(graph.as_graph_def(), [], ["z"], transforms)
        return next(each for each in made.node if each.name == name)

    assert node("remove_device").device == ""
    assert node('set_device(device="/gpu:0")').device == "/gpu:0"
    assert node('set_device(device="/gpu:0", if_default=true)').device == "/device:CPU:0"
    assert node("remove_control_dependencies").input == ["first"]
    assert "T" not in node("remove_attribute(attribute_name=T, op_name=Relu)").attr
    assert "dtype" in node("remove_attribute(attribute_name=dtype, op_name=Relu)", name="first").attr
    assert "kind" in node("rename_attribute(old_attribute_name=T, new_attribute_name=kind)").attr
    assert node("rename_op(old_op_name=Relu, new_op_name=Relu6)").op == "Relu6"


def test_defaults_of_attributes_are_added():
    with tf.Graph().as_default() as graph:
        tf.matmul(tf.ones([2, 2]), tf.ones([2, 2]), name="z")
    before = graph.as_graph_def()
    next(node for node in before.node if node.name == "z").attr.pop("transpose_a")
    after = TransformGraph(before, [], ["z"], ["add_default_attributes"])
    assert "transpose_a" in next(node for node in after.node if node.name == "z").attr


@pytest.mark.parametrize(
    ("transforms", "text"),
    [
        (["nope"], "Transform 'nope' not recognized. There are: add_default_attributes"),
        (["remove_nodes"], "remove_nodes expects at least one 'op' argument"),
        (["remove_attribute"], "remove_attribute expects exactly one 'attribute_name' argument"),
        (["set_device(if_default=maybe)"], "if_default is true or false, not 'maybe'"),
        (["set_device(device=/cpu:0)"], "Looking for parameter name, but found ':0'"),
        (["set_device(device=a, device=b)"], "device is given 2 times"),
        (['strip_unused_nodes(type=number, shape="1")'], "cannot have type 'number'"),
        (["(op=Identity)"], "Looking for a transform's name"),
    ],
)
def test_a_wrong_request_is_refused(transforms: Sequence[str], text: str):
    with pytest.raises(tf.errors.InvalidArgumentError, match=text):
        TransformGraph(_graph_def(_sums), ["m"], ["z"], transforms)


def test_a_missing_output_is_named():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input node scores not found in graph"):
        TransformGraph(_graph_def(_sums), ["x"], ["scores"], ["strip_unused_nodes"])


def test_constants_fold_behind_placeholders_alone():
    with pytest.raises(tf.errors.InvalidArgumentError, match="Input 'm' was expected to be a Placeholder"):
        TransformGraph(_graph_def(_sums), ["m"], ["z"], ["fold_constants"])
