"""Layers over model variables: names, collections, argument scopes, normalizers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import weft as tf

layers, framework, slim = tf.contrib.layers, tf.contrib.framework, tf.contrib.slim


@pytest.fixture(autouse=True)
def graph() -> Iterator[Any]:
    with tf.Graph().as_default() as graph:
        yield graph


def names(variables: Any) -> list[str]:
    return [variable.op.name for variable in variables]


def run(fetches: Any) -> Any:
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_a_fully_connected_layer_makes_weights_and_biases() -> None:
    outputs = layers.fully_connected(tf.ones([2, 3]), 4)
    assert outputs.op.name == "fully_connected/Relu"
    assert names(tf.trainable_variables()) == ["fully_connected/weights", "fully_connected/biases"]
    assert names(tf.model_variables()) == names(tf.global_variables()) == names(tf.trainable_variables())
    assert layers.fully_connected(outputs, 1, activation_fn=None).op.name == "fully_connected_1/BiasAdd"


def test_variables_are_shared_by_scope_and_reuse() -> None:
    first = layers.fully_connected(tf.ones([1, 2]), 3, activation_fn=None, scope="shared")
    second = layers.fully_connected(tf.ones([1, 2]), 3, activation_fn=None, scope="shared", reuse=True)
    assert len(tf.global_variables()) == 2
    assert np.array_equal(*run([first, second]))


def test_the_computed_value_is_that_of_a_dense_layer() -> None:
    ones, value = tf.ones_initializer(), tf.constant([[1.0, 2.0], [-5.0, 1.0]])
    outputs = layers.fully_connected(value, 2, weights_initializer=ones, biases_initializer=tf.constant_initializer(0.5))
    assert run(outputs).tolist() == [[3.5, 3.5], [0.0, 0.0]]


def test_a_normalizer_stands_for_the_biases() -> None:
    layers.fully_connected(tf.ones([2, 3]), 4, normalizer_fn=layers.batch_norm, normalizer_params={"scale": True})
    made = ["weights", "BatchNorm/beta", "BatchNorm/gamma", "BatchNorm/moving_mean", "BatchNorm/moving_variance"]
    assert names(tf.model_variables()) == [f"fully_connected/{name}" for name in made]
    assert len(tf.get_collection(tf.GraphKeys.UPDATE_OPS)) == 2


def test_averages_can_move_with_the_outputs() -> None:
    outputs = layers.batch_norm(tf.constant([[1.0], [3.0]]), decay=0.5, updates_collections=None, scope="bn")
    mean = framework.get_unique_variable("bn/moving_mean")
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        assert session.run(outputs).ravel().tolist() == pytest.approx([-1, 1], abs=1e-3)
        assert session.run(mean).tolist() == [1.0]


def test_a_small_network_of_images_has_the_usual_names() -> None:
    net = slim.conv2d(tf.ones([1, 8, 8, 3]), 4, [3, 3], scope="conv1")
    net = slim.max_pool2d(net, [2, 2], scope="pool1")
    net = slim.dropout(slim.flatten(net), 0.5, is_training=False)
    net = slim.fully_connected(net, 2, activation_fn=None, scope="logits")
    assert net.shape == [1, 2]
    assert names(slim.get_model_variables()) == ["conv1/weights", "conv1/biases", "logits/weights", "logits/biases"]
    assert names(slim.get_variables("conv1")) == ["conv1/weights", "conv1/biases"]


def test_argument_scopes_set_defaults_and_calls_override_them() -> None:
    with slim.arg_scope(
        [slim.fully_connected, slim.conv2d], activation_fn=tf.tanh, weights_regularizer=slim.l2_regularizer(0.1)
    ):
        assert slim.fully_connected(tf.ones([1, 2]), 2).op.type == "Tanh"
        assert slim.fully_connected(tf.ones([1, 2]), 2, activation_fn=tf.sigmoid).op.type == "Sigmoid"
        with slim.arg_scope([slim.fully_connected], activation_fn=None) as inner:
            assert slim.fully_connected(tf.ones([1, 2]), 2).op.type == "BiasAdd"
    with slim.arg_scope(inner):
        assert slim.fully_connected(tf.ones([1, 2]), 2).op.type == "BiasAdd"
    assert slim.fully_connected(tf.ones([1, 2]), 2).op.type == "Relu"
    assert len(tf.losses.get_regularization_losses()) == 4


def test_argument_scopes_refuse_what_is_not_decorated() -> None:
    with pytest.raises(ValueError, match="is not decorated with @add_arg_scope"), slim.arg_scope([tf.matmul], name="x"):
        pass
    with pytest.raises(TypeError, match="list_ops_or_scope must either be"), slim.arg_scope(slim.conv2d, stride=2):
        pass
    with pytest.raises(ValueError, match="kwargs must be empty"), slim.arg_scope({}, stride=2):
        pass


def test_variables_go_to_collections_by_part() -> None:
    collections = {"weights": ["w"], "biases": ["b"]}
    layers.fully_connected(tf.ones([1, 2]), 2, variables_collections=collections, outputs_collections="out", scope="fc")
    assert names(tf.get_collection("w")) == ["fc/weights"]
    assert names(tf.get_collection("b")) == ["fc/biases"]
    assert names(tf.get_collection("out")) == ["fc/Relu"]


def test_model_variables_are_found_by_name() -> None:
    with tf.variable_scope("net"):
        weights = framework.model_variable("weights", shape=[2], regularizer=layers.l1_regularizer(0.5))
        step = framework.variable("step", shape=[], trainable=False, device="/cpu:0")
    local = framework.local_variable(0, name="count")
    assert tf.model_variables() == [weights]
    assert step.device == "/device:CPU:0"
    assert framework.get_local_variables() == [local]
    assert framework.get_variables_by_name("weights") == [weights]
    assert framework.get_variables(suffix="step") == [step]
    assert framework.get_variables_to_restore(exclude=["net/step"]) == [weights]
    assert framework.filter_variables(tf.global_variables(), ["wei"], None) == [weights]
    assert framework.get_unique_variable("net/step") is step
    with pytest.raises(ValueError, match="Couldn't find variable nothing"):
        framework.get_unique_variable("nothing")


def test_penalties_are_those_of_their_formulas() -> None:
    weights = tf.constant([3.0, -4.0])
    penalties = [
        layers.l1_regularizer(0.1)(weights), layers.l2_regularizer(0.1)(weights), layers.l1_l2_regularizer(0.1, 0.2)(weights),
        layers.apply_regularization(layers.l2_regularizer(1.0), [weights, weights]),
    ]  # fmt: skip
    assert run(penalties) == pytest.approx([0.7, 1.25, 0.7 + 2.5, 25.0])
    assert penalties[0].op.name == "l1_regularizer"
    assert layers.l2_regularizer(0.0)(weights) is None
    assert tf.get_collection(tf.GraphKeys.REGULARIZATION_LOSSES) == [penalties[-1]]


@pytest.mark.parametrize(
    ("scale", "message"), [(1, "scale cannot be an integer: 1"), (-0.5, "less than 0 on a regularizer: -0.5")]
)
def test_penalties_refuse_wrong_scales(scale: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        layers.l2_regularizer(scale)


def test_initializers_scale_by_inputs_and_outputs() -> None:
    uniform = run(layers.xavier_initializer(seed=1)([300, 100], tf.float32))
    assert np.abs(uniform).max() == pytest.approx(np.sqrt(3 / 200), rel=1e-2)
    normal = run(layers.variance_scaling_initializer(seed=1)([300, 100], tf.float32))
    assert normal.std() == pytest.approx(np.sqrt(2 / 300), rel=0.02)
    with pytest.raises(TypeError, match="Unknown mode"):
        layers.variance_scaling_initializer(mode="fan_in")
    with pytest.raises(TypeError, match="non-floating point type"):
        layers.xavier_initializer(dtype=tf.int32)


@pytest.mark.parametrize(("name", "function"), [("avg_pool3d", np.mean), ("max_pool3d", np.max)])
def test_volumes_are_pooled_under_the_names_of_tensorflow(name: str, function) -> None:
    volumes = np.random.default_rng(0).normal(size=(1, 4, 4, 4, 2)).astype(np.float32)
    pool = getattr(tf.contrib.layers, name)
    pooled = pool(volumes, 2, outputs_collections="pooled", scope="mine")
    kind = name.replace("avg", "Avg").replace("max", "Max").replace("_pool3d", "Pool3D")
    assert pooled.name == f"mine/{kind}:0"
    assert tf.get_collection("pooled") == [pooled]
    cubes = volumes.reshape(1, 2, 2, 2, 2, 2, 2, 2)
    with tf.Session() as session:
        np.testing.assert_allclose(session.run(pooled), function(cubes, axis=(2, 4, 6)), rtol=1e-5)
    with pytest.raises(ValueError, match="data_format has to be either NCDHW or NDHWC"):
        pool(volumes, 2, data_format="NHWC")
