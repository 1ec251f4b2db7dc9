"""The layers SeparableConv1D and SeparableConv2D: a convolution of each channel by itself, then one across the channels."""

from __future__ import annotations

from typing import Any

from weft.framework.building.aliases import (
    Activation,
    Constraint,
    DTypeLike,
    Initializer,
    Regularizer,
    ShapeLike,
    Sizes,
    TensorLike,
    VariableLike,
)
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import as_dims
from weft.models.layers.conv_arguments import layout_of, padding_of, per_axis, whole_filters
from weft.models.layers.core import ZEROS
from weft.models.layers.layer import activated
from weft.models.layers.named_objects import WeightOptions, activation_of, weight_options
from weft.models.layers.output_shapes import Convolving
from weft.ops.array.shape_ops import expand_dims, squeeze
from weft.ops.nn.bias import bias_add
from weft.ops.nn.separable_conv import separable_conv2d as nn_separable_conv2d
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_store import Reuse


class Separable(Convolving):
    """A layer with two kernels, a bias and an activation: the base of both."""

    rank = 2

    def __init__(
        self, filters: int, kernel_size: Sizes, strides: Sizes = 1, padding: str = "valid",
        data_format: str = "channels_last", dilation_rate: Sizes = 1, depth_multiplier: int = 1,
        activation: Activation | None = None, use_bias: bool = True, depthwise_initializer: Initializer | None = None,
        pointwise_initializer: Initializer | None = None, bias_initializer: Initializer = ZEROS,
        depthwise_regularizer: Regularizer | None = None, pointwise_regularizer: Regularizer | None = None,
        bias_regularizer: Regularizer | None = None, activity_regularizer: Regularizer | None = None,
        depthwise_constraint: Constraint | None = None, pointwise_constraint: Constraint | None = None,
        bias_constraint: Constraint | None = None, trainable: bool = True, name: str | None = None, *,
        dtype: DTypeLike | None = None, _scope: ScopeLike = None, _reuse: Reuse = None,
    ) -> None:  # fmt: skip
        super().__init__(trainable, name, dtype, activity_regularizer, _scope, _reuse)
        self.configure(
            filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation, use_bias,
            (depthwise_initializer, depthwise_regularizer, depthwise_constraint),
            (pointwise_initializer, pointwise_regularizer, pointwise_constraint),
            (bias_initializer, bias_regularizer, bias_constraint),
        )  # fmt: skip

    def configure(
        self, filters: int, kernel_size: Sizes, strides: Sizes, padding: str, data_format: str, dilation_rate: Sizes,
        depth_multiplier: int, activation: Activation | None, use_bias: bool, depthwise: WeightOptions,
        pointwise: WeightOptions, bias: WeightOptions,
    ) -> None:  # fmt: skip
        """Take the arguments of the constructor that are not any layer's.

        Args:
            filters: how many channels come out.
            kernel_size, strides, dilation_rate: a number for all dimensions, or one for each.
            padding: "valid" or "same", in any case.
            data_format: "channels_last" or "channels_first".
            depth_multiplier: how many channels each channel becomes before they are mixed.
            activation: a function of the sums; None for none.
            use_bias: whether a bias is added.
            depthwise, pointwise, bias: initializer, regularizer and constraint of each.
        """
        self.input_rank = self.rank + 2
        self.filters, self.activation, self.use_bias = whole_filters(filters), activation_of(activation), use_bias
        self.depth_multiplier = depth_multiplier
        self.kernel_size = per_axis(kernel_size, self.rank, "kernel_size")
        self.strides = per_axis(strides, self.rank, "strides")
        self.dilation_rate = per_axis(dilation_rate, self.rank, "dilation_rate")
        self.padding, self.layout, self.data_format = padding_of(padding), layout_of(data_format, self.rank), data_format
        self._depthwise_options, self._pointwise_options, self._bias_options = map(weight_options, (depthwise, pointwise, bias))
        self.depthwise_kernel: VariableLike = None
        self.pointwise_kernel: VariableLike = None
        self.bias: VariableLike = None

    def build(self, input_shape: ShapeLike) -> None:
        """Make both kernels and the bias."""
        dims = as_dims(input_shape)
        channels = None if dims is None else dims[self.layout.index("C")]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        wide = channels * self.depth_multiplier
        self.depthwise_kernel = self._made(
            "depthwise_kernel", [*self.kernel_size, channels, self.depth_multiplier], self._depthwise_options
        )
        self.pointwise_kernel = self._made(
            "pointwise_kernel", [*([1] * self.rank), wide, self.filters], self._pointwise_options
        )
        self.bias = self._made("bias", [self.filters], self._bias_options) if self.use_bias else None
        self.built = True

    def _made(self, name: str, shape: list[int], options: tuple[Any, Any, Any]) -> Any:
        initializer, regularizer, constraint = options
        return self.add_variable(name, shape, None, initializer, regularizer, constraint=constraint)

    def _finished(self, outputs: Tensor) -> Tensor:
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, self.layout)
        return activated(self.activation, outputs)


class SeparableConv2D(Separable):
    """A convolution of each channel of images by itself, then one across the channels, a bias and an activation.

    `[batch, height, width, channels] -> [batch, new_height, new_width, filters]`, or the channels second with
    "channels_first".

    Args:
        filters: the number of output channels.
        kernel_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which pads with zeros so that the outputs are as large as
            the inputs divided by the strides.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        dilation_rate: the distance between the elements that a window takes, one int or one for each spatial dimension; 1
            unless the strides are 1.
        depth_multiplier: how many channels the first convolution makes of each channel.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        depthwise_initializer, pointwise_initializer: make the first values of the two kernels; the variable scope's
            initializer, else Glorot's uniform one, when None.
        bias_initializer: makes the bias's first value.
        depthwise_regularizer, pointwise_regularizer, bias_regularizer: functions of the variable; what they return is added
            to the collection REGULARIZATION_LOSSES.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        depthwise_constraint, pointwise_constraint, bias_constraint: functions that project a variable's value after an
            optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope; made of the class's name, and made unique, when None.
        dtype: the type of the variables; that of the first inputs when None.
    """

    def call(self, inputs: Tensor) -> Tensor:
        """The activated convolution."""
        strides = [1, *self.strides, 1] if self.layout == "NHWC" else [1, 1, *self.strides]
        return self._finished(nn_separable_conv2d(
            inputs, self.depthwise_kernel, self.pointwise_kernel, strides, self.padding.upper(), list(self.dilation_rate),
            data_format=self.layout,
        ))  # fmt: skip


class SeparableConv1D(Separable):
    """A convolution of each channel of sequences by itself, then one across the channels, a bias and an activation.

    `[batch, steps, channels] -> [batch, new_steps, filters]`, or the channels second with "channels_first".

    Args:
        filters: the number of output channels.
        kernel_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which pads with zeros so that the outputs are as large as
            the inputs divided by the strides.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        dilation_rate: the distance between the elements that a window takes, one int or one for each spatial dimension; 1
            unless the strides are 1.
        depth_multiplier: how many channels the first convolution makes of each channel.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        depthwise_initializer, pointwise_initializer: make the first values of the two kernels; the variable scope's
            initializer, else Glorot's uniform one, when None.
        bias_initializer: makes the bias's first value.
        depthwise_regularizer, pointwise_regularizer, bias_regularizer: functions of the variable; what they return is added
            to the collection REGULARIZATION_LOSSES.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        depthwise_constraint, pointwise_constraint, bias_constraint: functions that project a variable's value after an
            optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope; made of the class's name, and made unique, when None.
        dtype: the type of the variables; that of the first inputs when None.
    """

    rank = 1

    def call(self, inputs: Tensor) -> Tensor:
        """The activated convolution, that of images one pixel high."""
        last = self.layout == "NWC"
        axis = 1 if last else 2
        steps = [self.strides[0], self.strides[0]]
        made = nn_separable_conv2d(
            expand_dims(inputs, axis), expand_dims(self.depthwise_kernel, 0), expand_dims(self.pointwise_kernel, 0),
            [1, *steps, 1] if last else [1, 1, *steps], self._op_padding(), [1, self.dilation_rate[0]],
            data_format="NHWC" if last else "NCHW",
        )  # fmt: skip
        return self._finished(squeeze(made, [axis]))


def separable_conv2d(
    inputs: TensorLike, filters: int, kernel_size: Sizes, strides: Sizes = (1, 1), padding: str = "valid",
    data_format: str = "channels_last", dilation_rate: Sizes = (1, 1), depth_multiplier: int = 1,
    activation: Activation | None = None, use_bias: bool = True, depthwise_initializer: Initializer | None = None,
    pointwise_initializer: Initializer | None = None, bias_initializer: Initializer = ZEROS,
    depthwise_regularizer: Regularizer | None = None, pointwise_regularizer: Regularizer | None = None,
    bias_regularizer: Regularizer | None = None, activity_regularizer: Regularizer | None = None,
    depthwise_constraint: Constraint | None = None, pointwise_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None, trainable: bool = True, name: str | None = None, reuse: Reuse = None,
) -> Tensor:  # fmt: skip
    """A convolution of each channel of images by itself, then one across the channels: a SeparableConv2D layer, made or reused.

    Args:
        inputs: `[batch, height, width, channels]` floats, or `[batch, channels, height, width]` with "channels_first".
        filters: the number of output channels.
        kernel_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which pads with zeros so that the outputs are as large as
            the inputs divided by the strides.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        dilation_rate: the distance between the elements that a window takes, one int or one for each spatial dimension; 1
            unless the strides are 1.
        depth_multiplier: how many channels the first convolution makes of each channel.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        depthwise_initializer, pointwise_initializer: make the first values of the two kernels; the variable scope's
            initializer, else Glorot's uniform one, when None.
        bias_initializer: makes the bias's first value.
        depthwise_regularizer, pointwise_regularizer, bias_regularizer: functions of the variable; what they return is added
            to the collection REGULARIZATION_LOSSES.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        depthwise_constraint, pointwise_constraint, bias_constraint: functions that project a variable's value after an
            optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope. With None each call makes a layer with variables of its own.
        reuse: True to take the variables that an earlier call made under `name`, tf.AUTO_REUSE to make those that are
            missing.

    Returns:
        `[batch, new_height, new_width, filters]`, or the channels second with "channels_first"; of the inputs' type.
    """
    return SeparableConv2D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation, use_bias,
        depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer, pointwise_regularizer,
        bias_regularizer, activity_regularizer, depthwise_constraint, pointwise_constraint, bias_constraint, trainable,
        name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip


def separable_conv1d(
    inputs: TensorLike, filters: int, kernel_size: Sizes, strides: Sizes = 1, padding: str = "valid",
    data_format: str = "channels_last", dilation_rate: Sizes = 1, depth_multiplier: int = 1,
    activation: Activation | None = None, use_bias: bool = True, depthwise_initializer: Initializer | None = None,
    pointwise_initializer: Initializer | None = None, bias_initializer: Initializer = ZEROS,
    depthwise_regularizer: Regularizer | None = None, pointwise_regularizer: Regularizer | None = None,
    bias_regularizer: Regularizer | None = None, activity_regularizer: Regularizer | None = None,
    depthwise_constraint: Constraint | None = None, pointwise_constraint: Constraint | None = None,
    bias_constraint: Constraint | None = None, trainable: bool = True, name: str | None = None, reuse: Reuse = None,
) -> Tensor:  # fmt: skip
    """A convolution of each channel of sequences by itself, then one across the channels: a SeparableConv1D layer, made or
    reused.

    Args:
        inputs: `[batch, steps, channels]` floats, or `[batch, channels, steps]` with "channels_first".
        filters: the number of output channels.
        kernel_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which pads with zeros so that the outputs are as large as
            the inputs divided by the strides.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        dilation_rate: the distance between the elements that a window takes, one int or one for each spatial dimension; 1
            unless the strides are 1.
        depth_multiplier: how many channels the first convolution makes of each channel.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        depthwise_initializer, pointwise_initializer: make the first values of the two kernels; the variable scope's
            initializer, else Glorot's uniform one, when None.
        bias_initializer: makes the bias's first value.
        depthwise_regularizer, pointwise_regularizer, bias_regularizer: functions of the variable; what they return is added
            to the collection REGULARIZATION_LOSSES.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        depthwise_constraint, pointwise_constraint, bias_constraint: functions that project a variable's value after an
            optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope. With None each call makes a layer with variables of its own.
        reuse: True to take the variables that an earlier call made under `name`, tf.AUTO_REUSE to make those that are
            missing.

    Returns:
        `[batch, new_steps, filters]`, or the channels second with "channels_first"; of the inputs' type.
    """
    return SeparableConv1D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation, use_bias,
        depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer, pointwise_regularizer,
        bias_regularizer, activity_regularizer, depthwise_constraint, pointwise_constraint, bias_constraint, trainable,
        name, _scope=name, _reuse=reuse,
    )(inputs)  # fmt: skip
