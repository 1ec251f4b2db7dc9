"""Configs of layers, and what layers tell of their arguments, masks and states: all as TensorFlow 1.15 was asked."""

from __future__ import annotations

import inspect
import sys

import numpy as np
import pytest

import weft as tf

keras = tf.keras
layers = keras.layers


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default():
        yield
    keras.backend.clear_session()


_LAST = {"data_format": "channels_last"}
_GLOROT = {"class_name": "GlorotUniform", "config": {"seed": None, "dtype": "float32"}}
_DEPTHWISE = {"kernel_size": (3, 3), "strides": (1, 1), "dilation_rate": (1, 1), **_LAST}


@pytest.mark.parametrize(
    ("make", "expected"),
    [
        (lambda: layers.AveragePooling1D(), {"pool_size": (2,), "strides": (2,), **_LAST}),
        (lambda: layers.MaxPooling2D(3), {"pool_size": (3, 3), "strides": (3, 3), "padding": "valid", **_LAST}),
        (lambda: layers.MaxPooling3D(2, 1), {"pool_size": (2, 2, 2), "strides": (1, 1, 1), **_LAST}),
        (lambda: layers.GlobalMaxPooling2D(), _LAST),
        (lambda: layers.Flatten(), _LAST),
        (lambda: layers.Conv1D(2, 3, padding="causal"),
         {"kernel_size": (3,), "strides": (1,), "dilation_rate": (1,), "padding": "causal", **_LAST}),
        (lambda: layers.Conv2D(2, 3), _DEPTHWISE),
        (lambda: layers.Conv2DTranspose(2, 3), {**_DEPTHWISE, "output_padding": None}),
        (lambda: layers.SeparableConv1D(2, 3), {"kernel_size": (3,), "dilation_rate": (1,), "depth_multiplier": 1, **_LAST}),
        (lambda: layers.SeparableConv2D(2, 3),
         {"kernel_initializer": _GLOROT, "kernel_regularizer": None, "kernel_constraint": None}),
        (lambda: layers.DepthwiseConv2D(3), _DEPTHWISE),
        (lambda: layers.LocallyConnected1D(2, 3), {"kernel_size": (3,), "strides": (1,), **_LAST}),
        (lambda: layers.ConvLSTM2D(2, 3, return_state=True),
         {**_DEPTHWISE, "return_state": True, "unroll": False, "time_major": False}),
        (lambda: layers.Cropping2D(), {"cropping": ((0, 0), (0, 0)), **_LAST}),
        (lambda: layers.Cropping1D(2), {"cropping": (2, 2)}),
        (lambda: layers.ZeroPadding1D(1), {"padding": (1, 1)}),
        (lambda: layers.ZeroPadding2D((1, 2)), {"padding": ((1, 1), (2, 2)), **_LAST}),
        (lambda: layers.UpSampling3D(), {"size": (2, 2, 2), **_LAST}),
        (lambda: layers.SpatialDropout2D(0.5), {"rate": 0.5, "noise_shape": None, "seed": None}),
        (lambda: layers.LeakyReLU(), {"alpha": 0.30000001192092896}),
        (lambda: layers.PReLU(), {"shared_axes": None}),
        (lambda: layers.PReLU(shared_axes=2), {"shared_axes": [2]}),
        (lambda: keras.metrics.AUC(num_thresholds=4), {"num_thresholds": 4, "thresholds": [1 / 3, 2 / 3]}),
        (lambda: keras.metrics.AUC(thresholds=[0.1, 0.3]), {"num_thresholds": 4, "thresholds": [0.1, 0.3]}),
        (lambda: layers.Lambda(lambda x: x, output_shape=(3,)),
         {"output_shape": (3,), "output_shape_type": "raw", "output_shape_module": None, "arguments": {}}),
    ],
)  # fmt: skip
def test_a_config_has_the_sizes_of_each_axis_and_the_layout(make, expected) -> None:
    config = make().get_config()
    assert {name: config[name] for name in expected} == expected
    again = type(make()).from_config(config).get_config()
    # The code of a lambda is written with counts of references.
    assert {name: each for name, each in again.items() if name != "function"} == {
        name: each for name, each in config.items() if name != "function"
    }


@pytest.mark.parametrize("kind", [layers.CuDNNLSTM, layers.CuDNNGRU])
def test_a_config_has_nothing_that_tensorflows_layer_does_not_take(kind) -> None:
    assert "unroll" not in kind(3).get_config()
    assert "data_format" not in layers.SpatialDropout2D(0.5).get_config()
    assert layers.AlphaDropout(0.5, noise_shape=[1], seed=3).get_config().keys() == {"name", "trainable", "dtype", "rate"}
    assert layers.SpatialDropout2D(0.5, "channels_first").get_config()["data_format"] == "channels_first"


def test_a_config_follows_what_a_program_sets_later() -> None:
    dense, dropped = layers.Dense(2, activation="softmax"), layers.Dropout(0.5)
    dense.activation, dropped.rate = keras.activations.linear, 0.25
    assert (dense.get_config()["activation"], dropped.get_config()["rate"]) == ("linear", 0.25)


def test_the_places_of_inputs_and_outputs_are_lists_as_in_json() -> None:
    inputs = keras.Input((4,))
    config = keras.Model(inputs, layers.Dense(2)(inputs)).get_config()
    assert (config["input_layers"], config["output_layers"]) == ([["input_1", 0, 0]], [["dense", 0, 0]])


def _doubled(x):
    return tf.multiply(x, 2.0)


def test_a_model_with_functions_of_its_program_is_cloned_and_loaded(tmp_path) -> None:
    def _tripled(x):
        return tf.multiply(x, 3.0)

    model = keras.Sequential(
        [layers.Lambda(_doubled, input_shape=(1,)), layers.Lambda(_tripled), layers.Lambda(lambda x: tf.add(x, 1.0))]
    )
    assert keras.models.clone_model(model).predict(np.ones((1, 1))).tolist() == [[7.0]]
    model.save(str(tmp_path / "model.h5"))
    assert keras.models.load_model(str(tmp_path / "model.h5")).predict(np.ones((1, 1))).tolist() == [[7.0]]


def test_a_model_with_a_function_loads_where_its_program_is_not(tmp_path, monkeypatch) -> None:
    keras.Sequential([layers.Lambda(_doubled, input_shape=(1,))]).save(str(tmp_path / "model.h5"))
    monkeypatch.delattr(sys.modules[__name__], "_doubled")
    assert keras.models.load_model(str(tmp_path / "model.h5")).predict(np.ones((1, 1))).tolist() == [[2.0]]


def test_a_bidirectional_layer_keeps_its_own_backward_layer() -> None:
    backward = layers.LSTM(3, go_backwards=True, activation="relu", name="own")
    config = layers.Bidirectional(layers.LSTM(3), backward_layer=backward).get_config()
    assert config["backward_layer"]["class_name"] == "LSTM"
    made = layers.Bidirectional.from_config(config)
    assert (made.backward_layer.name, made.backward_layer.get_config()["activation"]) == ("own", "relu")
    assert "backward_layer" not in layers.Bidirectional(layers.LSTM(3)).get_config()


def test_recurrent_layers_take_their_arguments_in_tensorflows_order() -> None:
    lstm = list(inspect.signature(layers.LSTM.__init__).parameters)
    assert lstm == [
        "self", "units", "activation", "recurrent_activation", "use_bias", "kernel_initializer", "recurrent_initializer",
        "bias_initializer", "unit_forget_bias", "kernel_regularizer", "recurrent_regularizer", "bias_regularizer",
        "activity_regularizer", "kernel_constraint", "recurrent_constraint", "bias_constraint", "dropout",
        "recurrent_dropout", "implementation", "return_sequences", "return_state", "go_backwards", "stateful", "unroll",
        "kwargs",
    ]  # fmt: skip
    assert list(inspect.signature(layers.GRU.__init__).parameters)[-3:] == ["unroll", "reset_after", "kwargs"]
    assert list(inspect.signature(layers.CuDNNGRU.__init__).parameters)[-2:] == ["stateful", "kwargs"]
    config = layers.LSTM(
        3, "relu", "sigmoid", True, "zeros", "zeros", "ones", False, "l1", "l2", "l1", "l2", "non_neg", None, None, 0.1, 0.2,
        2, True, True,
    ).get_config()  # fmt: skip
    assert config["activity_regularizer"]["config"] == {"l1": 0.0, "l2": 0.009999999776482582}
    told = ("kernel_constraint", "recurrent_dropout", "implementation", "return_sequences", "return_state", "unroll")
    assert [config[name] for name in told] == [{"class_name": "NonNeg", "config": {}}, 0.2, 2, True, True, False]
    with pytest.raises(TypeError, match=r"LSTM.__init__\(\) too many positional arguments"):
        layers.LSTM(*range(30))


def test_the_states_of_a_recurrent_layer_are_a_list_in_the_form_of_its_cell() -> None:
    assert layers.LSTM(3).states == [None, None]
    assert layers.GRU(3).states == [None]
    assert layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)]).states == ([None, None], None)
    lstm = layers.LSTM(3, stateful=True, batch_input_shape=(2, 4, 3))
    keras.Sequential([lstm])
    assert [each.shape.as_list() for each in lstm.states] == [[2, 3], [2, 3]]
    stacked = layers.RNN([layers.LSTMCell(3), layers.GRUCell(2)], stateful=True, batch_input_shape=(2, 4, 3))
    keras.Sequential([stacked])
    (output, memory), below = stacked.states
    assert [each.shape.as_list() for each in (output, memory, below)] == [[2, 3], [2, 3], [2, 2]]
    stacked.reset_states()


def test_a_layer_tells_the_masks_of_its_first_call() -> None:
    masking, dense = layers.Masking(0.0), layers.Dense(2)
    for name, told in (("input_mask", "is not connected, no input"), ("output_mask", "no inbound nodes")):
        with pytest.raises(AttributeError, match=told):
            getattr(dense, name)
    masked = masking(keras.Input((4, 3)))
    assert masking.input_mask is None
    assert (masking.output_mask.dtype, masking.output_mask.shape.as_list()) == (tf.bool, [None, 4])
    dense(masked)
    assert dense.input_mask is masking.output_mask
    added = layers.Add()
    added([masked, masked])
    assert added.input_mask == [masking.output_mask, masking.output_mask]


def test_a_causal_convolution_is_as_long_as_its_inputs() -> None:
    for kind in (layers.Conv1D, layers.SeparableConv1D):
        layer = kind(2, 3, padding="causal")
        assert layer.compute_output_shape((None, 10, 4)).as_list() == [None, 10, 2]
        assert layer(keras.Input((10, 4))).shape.as_list() == [None, 10, 2]


@pytest.mark.parametrize(
    ("name", "kind"),
    [("nonneg", "NonNeg"), ("maxnorm", "MaxNorm"), ("unitnorm", "UnitNorm"), ("Constraint", "Constraint")],
)
def test_constraints_are_known_by_their_old_names(name, kind) -> None:
    assert type(keras.constraints.deserialize(name)).__name__ == kind
    assert type(keras.constraints.get(name)).__name__ == kind
    for unknown in ("minmaxnorm", "radialconstraint"):
        with pytest.raises(ValueError, match=f"Unknown constraint:{unknown}"):
            keras.constraints.deserialize(unknown)
