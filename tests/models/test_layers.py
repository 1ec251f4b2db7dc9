"""tf.layers: the names of variables and results, sharing, and batch normalization's moving averages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import weft as tf


@pytest.fixture(autouse=True)
def graph() -> Any:
    with tf.Graph().as_default() as made:
        yield made


def test_layers_name_variables_and_results_after_themselves() -> None:
    images = tf.placeholder(tf.float32, [None, 8, 8, 1])
    x = tf.layers.conv2d(images, 4, 3, padding="same", activation=tf.nn.relu)
    pooled = tf.layers.max_pooling2d(x, 2, 2)
    first = tf.layers.dense(tf.layers.flatten(pooled), 5)
    second = tf.layers.dense(first, 3, use_bias=False)
    assert [each.name for each in (x, pooled, first, second)] == [
        "conv2d/Relu:0", "max_pooling2d/MaxPool:0", "dense/BiasAdd:0", "dense_1/MatMul:0",
    ]  # fmt: skip
    assert [each.op.name for each in tf.trainable_variables()] == [
        "conv2d/kernel", "conv2d/bias", "dense/kernel", "dense/bias", "dense_1/kernel",
    ]  # fmt: skip
    assert second.shape.as_list() == [None, 3]


def test_a_layer_called_twice_shares_its_variables() -> None:
    layer = tf.layers.Dense(2)
    x = tf.ones([3, 4])
    assert (layer(x).name, layer(x).name) == ("dense/BiasAdd:0", "dense/BiasAdd_1:0")
    assert layer.variables == tf.global_variables()


def test_a_name_is_taken_until_it_is_reused() -> None:
    x = tf.ones([3, 4])
    tf.layers.dense(x, 2, name="shared")
    tf.layers.dense(x, 2, name="shared", reuse=True)
    assert len(tf.global_variables()) == 2
    with pytest.raises(ValueError, match="Variable shared/kernel already exists"):
        tf.layers.dense(x, 2, name="shared")


@pytest.mark.parametrize("shape", [(6, 3), (6, 2, 2, 3)])
def test_moving_averages_follow_the_batches_when_updates_run(shape: tuple[int, ...]) -> None:
    batch = np.random.default_rng(0).normal(2, 3, size=shape).astype(np.float32)
    x, training = tf.placeholder(tf.float32, [None, *shape[1:]]), tf.placeholder(tf.bool, [])
    made = tf.layers.batch_normalization(x, momentum=0.5, training=training)
    updates = tf.get_collection(tf.GraphKeys.UPDATE_OPS)
    axes = tuple(range(len(shape) - 1))
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        found, _ = session.run([made, updates], {x: batch, training: True})
        assert found.mean(axes) == pytest.approx(np.zeros(3), abs=1e-4)
        (mean,) = session.run([v for v in tf.global_variables() if "moving_mean" in v.name])
        assert mean == pytest.approx(batch.mean(axes) / 2, rel=1e-4)
        session.run(updates, {x: batch, training: False})
        (unmoved,) = session.run([v for v in tf.global_variables() if "moving_mean" in v.name])
        assert np.array_equal(unmoved, mean)


def test_regularizers_make_losses_and_the_width_of_inputs_must_be_known() -> None:
    tf.layers.dense(tf.ones([3, 4]), 2, kernel_regularizer=tf.nn.l2_loss)
    assert len(tf.losses.get_regularization_losses()) == 1
    with pytest.raises(ValueError, match="The last dimension of the inputs to `Dense` should be defined"):
        tf.layers.dense(tf.placeholder(tf.float32, [3, None]), 2)


def test_separable_and_transposed_layers_agree_with_plain_ones():
    images = np.random.RandomState(0).randn(2, 6, 7, 3).astype(np.float32)
    x = tf.constant(images)
    layer = tf.layers.SeparableConv2D(4, (3, 2), strides=1, padding="same", depth_multiplier=2, name="s")
    y = layer(x)
    whole = tf.einsum("hwim,imo->hwio", layer.depthwise_kernel, tf.reshape(layer.pointwise_kernel, [3, 2, 4]))
    plain = tf.nn.conv2d(x, whole, [1, 1, 1, 1], "SAME")
    row = tf.layers.separable_conv1d(x[:, 0], 5, 3, dilation_rate=2)
    volume = tf.layers.conv3d_transpose(tf.ones([1, 2, 2, 2, 3]), 4, 3, strides=2)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        made, expected = session.run([y, plain])
        np.testing.assert_allclose(made, expected, rtol=1e-4, atol=1e-4)
        assert session.run(row).shape == tuple(row.shape.as_list()) == (2, 3, 5)
        assert session.run(volume).shape == tuple(volume.shape.as_list()) == (1, 5, 5, 5, 4)
    assert [v.name for v in layer.variables] == ["s/depthwise_kernel:0", "s/pointwise_kernel:0", "s/bias:0"]


def test_layers_without_variables_take_what_every_layer_takes() -> None:
    pool = tf.layers.MaxPooling2D(2, 2, _scope="s", trainable=False)
    flat = tf.layers.Flatten(dtype=tf.float32, trainable=False)
    drop = tf.layers.Dropout(0.5, trainable=False, dtype=tf.float32)
    assert [layer(tf.ones([1, 4, 4, 2])).shape.as_list() for layer in (pool, flat, drop)] == [
        [1, 2, 2, 2],
        [1, 32],
        [1, 4, 4, 2],
    ]


def test_batch_normalization_takes_its_arguments_in_tensorflows_order() -> None:
    weights = [tf.zeros_initializer()] * 4 + [None] * 4
    renorm, clipping, momentum, fused, trainable = False, None, 0.9, True, True
    layer = tf.layers.BatchNormalization(-1, 0.9, 1e-3, True, True, *weights, renorm, clipping, momentum, fused, trainable)
    assert (layer.fused, layer.trainable) == (True, True)


def test_a_window_may_be_a_part_of_a_shape() -> None:
    images = tf.ones([1, 4, 6, 3])
    pooled = tf.contrib.slim.avg_pool2d(images, images.get_shape()[1:3], padding="VALID")
    mapped = tf.layers.conv2d(images, 2, (tf.Dimension(2), np.int64(2)))
    assert (pooled.shape.as_list(), mapped.shape.as_list()) == ([1, 1, 1, 3], [1, 3, 5, 2])
    for wrong in ([1], tf.TensorShape([None, 2]), 1.5, None):
        with pytest.raises(ValueError, match=r"The `pool_size` argument must be a tuple of 2 integers\. Received: "):
            tf.layers.max_pooling2d(images, wrong, 1)


def test_a_layer_checks_its_inputs_by_its_spec() -> None:
    class Doubled(tf.layers.Layer):
        def __init__(self) -> None:
            super().__init__(name="doubled")
            self.input_spec = tf.layers.InputSpec(ndim=2, axes={-1: 3})

        def call(self, inputs: tf.Tensor) -> tf.Tensor:
            return 2 * inputs

    layer = Doubled()
    assert layer(tf.zeros([4, 3])).shape == [4, 3]
    with pytest.raises(ValueError, match=r"Input 0 of layer doubled is incompatible with the layer: expected ndim=2"):
        layer(tf.zeros([3]))
    with pytest.raises(ValueError, match=r"expected axis -1 of input shape to have value 3"):
        layer(tf.zeros([4, 5]))


def test_layers_and_cells_take_what_keras_has_by_name() -> None:
    x = tf.placeholder(tf.float32, [None, 3])
    options = {"kernel_initializer": "ones", "kernel_regularizer": "l2", "kernel_constraint": "non_neg"}
    y = tf.layers.dense(x, 2, activation="hard_sigmoid", **options)
    cell = tf.nn.rnn_cell.GRUCell(2, activation="relu", kernel_initializer="zeros")
    state, _ = cell(x, tf.ones([1, 2]))
    (penalty,) = tf.losses.get_regularization_losses()
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        dense, new_state, loss = session.run([y, state, penalty], {x: [[1.0, 0.0, 0.5]]})
    np.testing.assert_allclose(dense, [[0.8, 0.8]], rtol=1e-6)
    # Gates of 1 / (1 + exp(-1)) by their bias of 1.
    np.testing.assert_allclose(new_state, [[0.7310586, 0.7310586]], rtol=1e-6)
    assert loss == pytest.approx(0.06)
    with pytest.raises(
        ValueError, match=r"Unknown initializer:oness\. Did you mean 'ones'\? A layer takes an initializer itself"
    ):
        tf.layers.Dense(2, kernel_initializer="oness")


def test_a_layer_that_was_built_is_not_built_again() -> None:
    made = (tf.layers.Dense(2), tf.layers.Conv2D(2, 3), tf.layers.SeparableConv2D(2, 3), tf.layers.BatchNormalization())
    for layer in made:
        layer.build([2, 4, 4, 3])
        variables = layer.variables
        layer(tf.ones([2, 4, 4, 3]))
        assert layer.variables == variables


def test_a_frozen_layer_trains_nothing() -> None:
    layer = tf.layers.Dense(2)
    layer(tf.ones([2, 3]))
    layer.trainable = False
    assert layer.trainable_weights == []
    assert [each.op.name for each in layer.non_trainable_weights] == ["dense/kernel", "dense/bias"]


def test_what_a_getter_gives_that_is_not_trained_is_no_trained_variable_of_the_layer() -> None:
    def fixed(getter: Any, *args: Any, **kwargs: Any) -> Any:
        made = getter(*args, **{**kwargs, "trainable": False})
        return tf.identity(made, name="copy") if kwargs["name"].endswith("bias") else made

    with tf.variable_scope("fixed", custom_getter=fixed):
        layer = tf.layers.Dense(3)
        layer(tf.zeros([1, 2]))
    assert layer.trainable_variables == []
    assert [each.op.name for each in layer.non_trainable_variables] == ["fixed/dense/kernel", "copy"]
