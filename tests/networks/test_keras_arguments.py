"""Functions of tf.keras take their arguments by the names that TensorFlow 1.15 has for them."""

from __future__ import annotations

import numpy as np
import pytest

import weft as tf

keras = tf.keras
K = keras.backend


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield
    K.clear_session()


def test_constants_are_floats_unless_told_otherwise() -> None:
    assert K.constant(1).dtype == tf.float32
    assert K.constant([1, 2], "int32", (2, 1), "a").name == "a:0"


@pytest.mark.parametrize(
    ("sizes", "form", "aligned"),
    [((4,), None, (1, 1, 4)), ((3,), "channels_first", (1, 3, 1)), ((3, 4), None, (1, 3, 4))],
)
def test_a_bias_is_one_of_channels_or_of_examples(sizes, form, aligned) -> None:
    x, bias = np.arange(24.0, dtype=np.float32).reshape(2, 3, 4), np.arange(np.prod(sizes), dtype=np.float32)
    found = K.eval(K.bias_add(x=tf.constant(x), bias=tf.constant(bias.reshape(sizes)), data_format=form))
    np.testing.assert_array_equal(found, x + bias.reshape(aligned))


def test_a_bias_of_examples_has_its_channels_last_where_examples_have_them_first() -> None:
    x, bias = np.zeros((2, 3, 4), np.float32), np.arange(12.0, dtype=np.float32).reshape(4, 3)
    found = K.eval(K.bias_add(tf.constant(x), tf.constant(bias), "channels_first"))
    np.testing.assert_array_equal(found, np.broadcast_to(bias.T, (2, 3, 4)))


def test_biases_of_other_ranks_and_unknown_layouts_are_refused() -> None:
    with pytest.raises(ValueError, match="Unexpected bias dimensions 3, expect to be 1 or 3 dimensions"):
        K.bias_add(tf.zeros((2, 3, 4)), tf.zeros((2, 3, 4)))
    with pytest.raises(ValueError, match="Unknown data_format: other"):
        K.bias_add(tf.zeros((2, 3)), tf.zeros((3,)), "other")


def test_functions_take_the_names_of_keras() -> None:
    x = tf.constant(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    made = {
        "gather": (K.gather(reference=x, indices=[1]), [[3, 4, 5]]),
        "pow": (K.pow(x=x, a=2)[1, 2], 25),
        "tile": (K.tile(x=tf.constant([1.0, 2.0]), n=2), [1, 2, 1, 2]),
        "squeeze": (K.squeeze(x=x[:1], axis=0), [0, 1, 2]),
        "stack": (K.stack(x=[x[0], x[1]], axis=1)[0], [0, 3]),
        "transpose": (K.transpose(x=x)[0], [0, 3]),
        "reshape": (K.reshape(x=x, shape=(3, -1))[0], [0, 1]),
        "shape": (K.shape(x=x), [2, 3]),
        "ones_like": (K.ones_like(x=x, dtype="int32")[0], [1, 1, 1]),
        "zeros_like": (K.zeros_like(x=x)[0], [0, 0, 0]),
        "foldl": (K.foldl(lambda so_far, each: so_far - each, x, None, "left"), [-3, -3, -3]),
        "foldr": (K.foldr(lambda so_far, each: so_far - each, x, None, "right"), [3, 3, 3]),
        "map_fn": (K.map_fn(lambda each: each[1], x, "mapped"), [1, 4]),
        "stop_gradient": (K.stop_gradient(variables=[x, x])[1][0], [0, 1, 2]),
    }
    values = K.get_session().run({name: tensor for name, (tensor, _) in made.items()})
    for name, (_, expected) in made.items():
        np.testing.assert_array_equal(values[name], expected, err_msg=name)


def test_objects_become_configs_under_the_names_of_their_kinds() -> None:
    assert keras.losses.serialize(loss=keras.losses.MeanSquaredError())["class_name"] == "MeanSquaredError"
    assert keras.optimizers.serialize(optimizer=keras.optimizers.SGD())["class_name"] == "SGD"
    assert keras.layers.serialize(layer=keras.layers.Dense(2))["class_name"] == "Dense"
    assert keras.losses.deserialize(name="mse") is keras.losses.mean_squared_error
    assert keras.activations.deserialize(name="relu") is keras.activations.relu


def test_recurrent_layers_have_the_arguments_of_their_cells() -> None:
    layer = keras.layers.LSTM(3, dropout=0.1, recurrent_activation="sigmoid", kernel_regularizer="l2")
    assert (layer.units, layer.dropout, layer.implementation, layer.unit_forget_bias) == (3, 0.1, 1, True)
    assert layer.recurrent_activation is keras.activations.sigmoid
    assert [each.shape.as_list() for each in layer.get_initial_state(tf.zeros((2, 4, 5)))] == [[2, 3], [2, 3]]
    copy = keras.layers.LSTM.from_config(layer.get_config())
    assert copy.dropout == 0.1


def test_no_model_runs_eagerly() -> None:
    model = keras.Sequential([keras.layers.Dense(2, input_shape=(3,))])
    model.run_eagerly = False
    assert model.run_eagerly is False
    with pytest.raises(ValueError, match="You can only set `run_eagerly=True` if eager execution is enabled"):
        model.compile("sgd", "mse", run_eagerly=True)


def test_policies_tell_types_by_their_names() -> None:
    mixed = keras.mixed_precision.experimental
    policy = mixed.Policy("mixed_float16")
    assert (policy.compute_dtype, policy.variable_dtype, policy.should_cast_variables) == ("float16", "float32", True)
    assert repr(policy.loss_scale).startswith("DynamicLossScale(")
    assert repr(mixed.Policy("infer_with_float32_vars")) == '<Policy "infer_with_float32_vars", loss_scale=None>'
    assert mixed.global_policy().compute_dtype is None
    assert keras.layers.Dense(2, dtype=mixed.Policy("float16"))(tf.zeros((1, 2), tf.float16)).dtype == tf.float16
    mixed.set_policy("infer")
    with pytest.raises(ValueError, match="can only be set to a non-infer policy in TensorFlow 2"):
        mixed.set_policy("mixed_float16")
    with pytest.raises(ValueError, match="Cannot convert value nonsense to a mixed precision Policy"):
        mixed.Policy("nonsense")
    with pytest.raises(ValueError, match="Cannot convert value mixed_float16_with_float32_vars to a mixed precision Policy"):
        mixed.Policy("mixed_float16_with_float32_vars")
    with pytest.raises(TypeError, match="'name' must be a string, but got: None"):
        mixed.Policy(None)
    with pytest.raises(NotImplementedError, match="would keep variables of float32 and compute in float16"):
        keras.layers.Dense(2, dtype=policy)


def test_images_grow_bilinearly_from_the_centres_of_their_pixels() -> None:
    x = tf.constant(np.arange(4, dtype=np.float32).reshape(1, 2, 2, 1))
    expected = np.array([[0, 0.25, 0.75, 1], [0.5, 0.75, 1.25, 1.5], [1.5, 1.75, 2.25, 2.5], [2, 2.25, 2.75, 3]])
    first = tf.transpose(x, [0, 3, 1, 2])
    grown = keras.layers.UpSampling2D(2, interpolation="bilinear")(x)
    found, other, slope = K.get_session().run([
        grown, K.resize_images(first, 2, 2, "channels_first", "bilinear"), tf.gradients(tf.reduce_sum(grown**2), x)[0],
    ])  # fmt: skip
    np.testing.assert_allclose(found[0, :, :, 0], expected)
    np.testing.assert_allclose(other[0, 0], expected)
    np.testing.assert_allclose(slope.ravel(), [4.5, 9.5, 14.5, 19.5])
