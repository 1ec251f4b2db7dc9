"""Layers tell the shape of their outputs without a call."""

from __future__ import annotations

import pytest

import weft as tf

layers = tf.layers


@pytest.mark.parametrize(
    ("layer", "inputs", "outputs"),
    [
        (layers.Dense(5), [2, 3, 4], [2, 3, 5]),
        (layers.Flatten(), [4], [4, 1]), (layers.Flatten("channels_first"), [None, 3, None], [None, None]),
        (layers.Conv1D(5, 3, 2, "same"), [2, 9, 3], [2, 5, 5]),
        (layers.Conv2D(5, 3, dilation_rate=2), [None, 9, None, 3], [None, 5, None, 5]),
        (layers.Conv2D(5, 3, data_format="channels_first"), [2, 3, 9, 8], [2, 5, 7, 6]),
        (layers.Conv2DTranspose(5, 3, 2), [2, 9, None, 3], [2, 19, None, 5]),
        (layers.Conv3DTranspose(5, 3, 2, "same"), [2, 9, 9, 9, 3], [2, 18, 18, 18, 5]),
        (layers.SeparableConv1D(5, 3, 2, "same"), [2, 9, 3], [2, 5, 5]),
        (layers.MaxPooling2D(3, 2), [2, 1, 9, 3], [2, 0, 4, 3]),
        (layers.AveragePooling1D(3, 2, "same", "channels_first"), [2, 3, 9], [2, 3, 5]),
        (layers.Dropout(), [None, 4], [None, 4]), (layers.BatchNormalization(), [2, 4], [2, 4]),
    ],
)  # fmt: skip
def test_shapes_follow_from_what_a_layer_was_made_with(layer, inputs, outputs) -> None:
    assert layer.compute_output_shape(inputs).as_list() == outputs


@pytest.mark.parametrize(
    ("layer", "inputs", "told"),
    [
        (layers.Dense(5), [None, None], "innermost dimension"), (layers.Dense(5), [4], "rank at least 2"),
        (layers.Flatten(), None, "unknown TensorShape"), (layers.Conv2D(5, 3), [2, 3], "rank 4"),
        (layers.Conv2D(5, 3), [2, 1, 1, 3], "-1"),
    ],
)  # fmt: skip
def test_shapes_that_do_not_fit_are_refused(layer, inputs, told) -> None:
    with pytest.raises(ValueError, match=told):
        layer.compute_output_shape(inputs)


def test_a_layer_with_layers_in_it_can_be_called_after_it_told_its_shape() -> None:
    class Deep(tf.layers.Dense):
        def __init__(self) -> None:
            super().__init__(2)
            self.inner = tf.layers.Dense(5)

        def call(self, inputs):
            return super().call(self.inner(inputs))

        def build(self, input_shape) -> None:
            super().build([*input_shape[:-1], 5])
            self.input_axis = None

    layer = Deep()
    assert layer.compute_output_shape([None, 4]).as_list() == [None, 2]
    assert layer(tf.ones([2, 4])).dims == (2, 2)


def test_activations_may_use_tensors_and_scopes_be_shared() -> None:
    factor = tf.constant(2.0)
    tf.layers.Dense(5, name="shared")(tf.ones([2, 4]))
    again = tf.layers.Dense(5, activation=lambda x: x * factor, _scope="shared", _reuse=True)
    assert again.compute_output_shape([2, 4]).as_list() == [2, 5]
