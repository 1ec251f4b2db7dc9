"""The layers that convolve: Conv1D to Conv3D, their transposes, the separable ones and DepthwiseConv2D."""

from __future__ import annotations

from typing import Final

from weft.framework.building.aliases import Nest, ShapeLike, Sizes
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.models.layers import conv, separable
from weft.models.layers.conv_arguments import layout_of, padding_of, per_axis
from weft.models.layers.input_spec import InputSpec
from weft.models.layers.layer import activated
from weft.networks.config import Config, Options
from weft.networks.engine.layer import Layer
from weft.networks.objects.arguments import config_of, keeps_arguments, resolved
from weft.networks.state.defaults import layout_or_default
from weft.ops.array.padding import pad
from weft.ops.nn.bias import bias_add
from weft.ops.nn.separable_conv import depthwise_conv2d


class _Conv(Layer, conv.Convolution):
    """What the convolutions share."""

    @keeps_arguments
    def __init__(
        self, filters: int, kernel_size: Sizes, strides: Sizes = 1, padding: str = "valid", data_format: str | None = None,
        dilation_rate: Sizes = 1, activation: Nest = None, use_bias: bool = True,
        kernel_initializer: Nest = "glorot_uniform", bias_initializer: Nest = "zeros", kernel_regularizer: Nest = None,
        bias_regularizer: Nest = None, activity_regularizer: Nest = None, kernel_constraint: Nest = None,
        bias_constraint: Nest = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        Layer.__init__(self, activity_regularizer=activity_regularizer, **kwargs)
        is_causal = padding == "causal"
        if is_causal and self.rank != 1:
            raise ValueError("Causal padding is only supported for `Conv1D` and `SeparableConv1D`.")
        self.configure(
            filters, kernel_size, strides, "valid" if is_causal else padding, layout_or_default(data_format),
            dilation_rate, activation, use_bias, (kernel_initializer, kernel_regularizer, kernel_constraint),
            (bias_initializer, bias_regularizer, bias_constraint),
        )  # fmt: skip
        if is_causal:
            self.padding = "causal"
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernel and bias."""
        conv.Convolution.build(self, input_shape)
        axis = self.layout.index("C")
        channels = (as_dims(input_shape) or ())[axis]
        self.input_spec = InputSpec(ndim=self.rank + 2, axes={-1 if axis else axis: channels} if axis > 1 else {1: channels})
        self.built = True


class Conv1D(_Conv, conv.Conv1D):
    """A convolution of sequences, a bias and an activation: `[batch, steps, channels] -> [batch, new_steps, filters]`.

    Args:
        filters: the number of outputs for each step.
        kernel_size: the size of the window, a number or one for each spatial dimension.
        strides: how far it moves, likewise.
        padding: "valid", "same", or "causal" where no output sees later steps.
        data_format: "channels_last", or "channels_first" for `[batch, channels, steps]`.
        dilation_rate: the distance of the window's elements.
        activation: a function or its name; none when None.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: what the variables begin with.
        kernel_regularizer, bias_regularizer, activity_regularizer: penalties on the variables and the outputs.
        kernel_constraint, bias_constraint: projections after updates.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    @keeps_arguments
    def __init__(
        self, filters: int, kernel_size: Sizes, strides: Sizes = 1, padding: str = "valid",
        data_format: str = "channels_last", dilation_rate: Sizes = 1, activation: Nest = None, use_bias: bool = True,
        kernel_initializer: Nest = "glorot_uniform", bias_initializer: Nest = "zeros", kernel_regularizer: Nest = None,
        bias_regularizer: Nest = None, activity_regularizer: Nest = None, kernel_constraint: Nest = None,
        bias_constraint: Nest = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        _Conv.__init__(
            self, filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip

    def call(self, inputs: Tensor) -> Tensor:
        """The activated convolution; a causal one sees zeros before the first step."""
        if self.padding == "causal":
            before = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
            steps_first = self.data_format == "channels_last"
            inputs = pad(inputs, [[0, 0], before, [0, 0]] if steps_first else [[0, 0], [0, 0], before])
        return conv.Conv1D.call(self, inputs)


class Conv2D(_Conv, conv.Conv2D):
    """A convolution of images, a bias and an activation.

    `[batch, height, width, channels] -> [batch, new_height, new_width, filters]`, or the channels second with
    "channels_first".

    Args:
        filters: the number of outputs.
        kernel_size, strides, dilation_rate: one number, or one per spatial dimension.
        padding: "valid" or "same".
        data_format: "channels_last" or "channels_first"; the default of Keras when None.
        activation: a function of the outputs, its name, or None.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: initializers, or their names.
        kernel_regularizer, bias_regularizer, activity_regularizer: penalties.
        kernel_constraint, bias_constraint: projections after updates.
        kwargs: see Layer.
    """


class Conv3D(_Conv, conv.Conv3D):
    """A convolution of volumes, a bias and an activation; arguments as of Conv2D."""


class _ConvTranspose(Layer, conv.Transpose):
    """What the transposes share."""

    @keeps_arguments
    def __init__(
        self, filters: int, kernel_size: Sizes, strides: Sizes = 1, padding: str = "valid",
        output_padding: Sizes | None = None, data_format: str | None = None, activation: Nest = None,
        use_bias: bool = True, kernel_initializer: Nest = "glorot_uniform", bias_initializer: Nest = "zeros",
        kernel_regularizer: Nest = None, bias_regularizer: Nest = None, activity_regularizer: Nest = None,
        kernel_constraint: Nest = None, bias_constraint: Nest = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        Layer.__init__(self, activity_regularizer=activity_regularizer, **kwargs)
        self.configure(
            filters, kernel_size, strides, padding, layout_or_default(data_format), 1, activation, use_bias,
            (kernel_initializer, kernel_regularizer, kernel_constraint), (bias_initializer, bias_regularizer, bias_constraint),
        )  # fmt: skip
        self.output_padding = None if output_padding is None else per_axis(output_padding, self.rank, "output_padding")
        for stride, extra in zip(self.strides, self.output_padding or (), strict=False):
            if stride <= extra:
                raise ValueError(f"Stride {self.strides} must be greater than output padding {self.output_padding}")
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernel and bias."""
        conv.Transpose.build(self, input_shape)
        self.built = True


class Conv2DTranspose(_ConvTranspose, conv.Conv2DTranspose):
    """The transpose of a convolution, which makes images larger: `[batch, rows, columns, channels] -> [batch, ..., filters]`.

    Args:
        filters: the number of outputs for each place.
        kernel_size: the size of the window, a number or one for each spatial dimension.
        strides: how far it moves, likewise.
        padding: "valid" or "same".
        output_padding: how much longer than the shortest each dimension becomes; as TensorFlow chooses when None.
        data_format: "channels_last", or "channels_first" for channels before the rest; `image_data_format()` when None.
        dilation_rate: 1; others are refused.
        activation: a function or its name; none when None.
        use_bias: whether there is a bias.
        kernel_initializer, bias_initializer: what the variables begin with.
        kernel_regularizer, bias_regularizer, activity_regularizer: penalties on the variables and the outputs.
        kernel_constraint, bias_constraint: projections after updates.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.

    Raises:
        NotImplementedError: a dilation other than 1.
    """

    @keeps_arguments
    def __init__(
        self, filters: int, kernel_size: Sizes, strides: Sizes = (1, 1), padding: str = "valid",
        output_padding: Sizes | None = None, data_format: str | None = None, dilation_rate: Sizes = (1, 1),
        activation: Nest = None, use_bias: bool = True, kernel_initializer: Nest = "glorot_uniform",
        bias_initializer: Nest = "zeros", kernel_regularizer: Nest = None, bias_regularizer: Nest = None,
        activity_regularizer: Nest = None, kernel_constraint: Nest = None, bias_constraint: Nest = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        if set(per_axis(dilation_rate, 2, "dilation_rate")) != {1}:
            raise NotImplementedError(
                f"Conv2DTranspose: dilation_rate={dilation_rate}: only 1 is supported; call tf.nn.atrous_conv2d_transpose in a "
                "layer of your own"
            )
        _ConvTranspose.__init__(
            self, filters, kernel_size, strides, padding, output_padding, data_format, activation, use_bias,
            kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
            kernel_constraint, bias_constraint, **kwargs,
        )  # fmt: skip
        self.dilation_rate = (1, 1)


class Conv3DTranspose(_ConvTranspose, conv.Conv3DTranspose):
    """The transpose of a convolution, which makes volumes larger; arguments as of Conv2DTranspose, without dilations."""


_PLAIN_KERNEL: Final = {"kernel_initializer": "glorot_uniform", "kernel_regularizer": None, "kernel_constraint": None}


def _without_kernel(options: Config) -> Config:
    """Options without those of a plain kernel, which TensorFlow's configs of these layers have, and which mean nothing here."""
    return {name: value for name, value in options.items() if name != "filters" and not name.startswith("kernel_")}


class _SeparableConv(Layer, separable.Separable):
    """What the separable convolutions share."""

    @keeps_arguments
    def __init__(
        self, filters: int, kernel_size: Sizes, strides: Sizes = 1, padding: str = "valid", data_format: str | None = None,
        dilation_rate: Sizes = 1, depth_multiplier: int = 1, activation: Nest = None, use_bias: bool = True,
        depthwise_initializer: Nest = "glorot_uniform", pointwise_initializer: Nest = "glorot_uniform",
        bias_initializer: Nest = "zeros", depthwise_regularizer: Nest = None, pointwise_regularizer: Nest = None,
        bias_regularizer: Nest = None, activity_regularizer: Nest = None, depthwise_constraint: Nest = None,
        pointwise_constraint: Nest = None, bias_constraint: Nest = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        Layer.__init__(self, activity_regularizer=activity_regularizer, **_without_kernel(kwargs))
        self._plain_kernel = {name: resolved(name, kwargs.get(name, value)) for name, value in _PLAIN_KERNEL.items()}
        is_causal = padding == "causal"
        self.configure(
            filters, kernel_size, strides, "valid" if is_causal else padding, layout_or_default(data_format),
            dilation_rate, depth_multiplier, activation, use_bias,
            (depthwise_initializer, depthwise_regularizer, depthwise_constraint),
            (pointwise_initializer, pointwise_regularizer, pointwise_constraint),
            (bias_initializer, bias_regularizer, bias_constraint),
        )  # fmt: skip
        if is_causal:
            self.padding = "causal"
        self.input_spec = InputSpec(ndim=self.rank + 2)

    def build(self, input_shape: ShapeLike) -> None:
        """Make both kernels and the bias."""
        separable.Separable.build(self, input_shape)
        self.built = True

    def get_config(self) -> Config:
        """The arguments, and those of a plain convolution's kernel, which TensorFlow writes and which have no effect."""
        return {**super().get_config(), **config_of(self._plain_kernel)}


class SeparableConv1D(_SeparableConv, separable.SeparableConv1D):
    """A convolution of sequences in two parts, each channel by itself and then across the channels."""

    def call(self, inputs: Tensor) -> Tensor:
        """The activated convolution; a causal one sees zeros before the first step."""
        if self.padding == "causal":
            before = [self.dilation_rate[0] * (self.kernel_size[0] - 1), 0]
            steps_first = self.data_format == "channels_last"
            inputs = pad(inputs, [[0, 0], before, [0, 0]] if steps_first else [[0, 0], [0, 0], before])
        return separable.SeparableConv1D.call(self, inputs)


class SeparableConv2D(_SeparableConv, separable.SeparableConv2D):
    """A convolution of images in two parts, each channel by itself and then across the channels."""


class DepthwiseConv2D(Layer):
    """A convolution of images, each channel by itself, with `depth_multiplier` outputs for each.

    `[batch, height, width, channels] -> [batch, new_height, new_width, channels * depth_multiplier]`

    Args:
        kernel_size: the size of the window, a number or one for each spatial dimension.
        strides: how far it moves, likewise.
        padding: "valid" or "same".
        depth_multiplier: the number of outputs for each channel.
        data_format: "channels_last", or "channels_first" for channels before the rest; `image_data_format()` when None.
        activation: a function or its name; none when None.
        use_bias: whether there is a bias.
        depthwise_initializer, bias_initializer: what the variables begin with.
        depthwise_regularizer, bias_regularizer, activity_regularizer: penalties on the variables and the outputs.
        depthwise_constraint, bias_constraint: projections after updates.
        kwargs: `name`, `trainable`, `dtype`, `input_shape` and others of `tf.keras.layers.Layer`.
    """

    @keeps_arguments
    def __init__(
        self, kernel_size: Sizes, strides: Sizes = (1, 1), padding: str = "valid", depth_multiplier: int = 1,
        data_format: str | None = None, activation: Nest = None, use_bias: bool = True,
        depthwise_initializer: Nest = "glorot_uniform", bias_initializer: Nest = "zeros",
        depthwise_regularizer: Nest = None, bias_regularizer: Nest = None, activity_regularizer: Nest = None,
        depthwise_constraint: Nest = None, bias_constraint: Nest = None, **kwargs: Options,
    ) -> None:  # fmt: skip
        self.dilation_rate: tuple[int, ...] = per_axis(kwargs.pop("dilation_rate", 1), 2, "dilation_rate")
        super().__init__(activity_regularizer=activity_regularizer, **_without_kernel(kwargs))
        self.kernel_size = per_axis(kernel_size, 2, "kernel_size")
        self.strides = per_axis(strides, 2, "strides")
        self.padding, self.data_format = padding_of(padding), layout_or_default(data_format)
        self.layout = layout_of(self.data_format, 2)
        self.depth_multiplier, self.activation, self.use_bias = depth_multiplier, activation, use_bias
        self._depthwise = (depthwise_initializer, depthwise_regularizer, depthwise_constraint)
        self._bias = (bias_initializer, bias_regularizer, bias_constraint)
        self.input_spec = InputSpec(ndim=4)

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernel and bias."""
        channels = TensorShape(input_shape).as_list()[self.layout.index("C")]
        if channels is None:
            raise ValueError("The channel dimension of the inputs to `DepthwiseConv2D` should be defined. Found `None`.")
        initializer, regularizer, constraint = self._depthwise
        self.depthwise_kernel = self.add_weight(
            "depthwise_kernel", [*self.kernel_size, channels, self.depth_multiplier], None, initializer, regularizer,
            constraint=constraint,
        )  # fmt: skip
        initializer, regularizer, constraint = self._bias
        size = [channels * self.depth_multiplier]
        self.bias = (
            self.add_weight("bias", size, None, initializer, regularizer, constraint=constraint) if self.use_bias else None
        )
        self.built = True

    def get_config(self) -> Config:
        """The arguments, and the dilation."""
        return {**super().get_config(), "dilation_rate": self.dilation_rate}

    def call(self, inputs: Tensor) -> Tensor:
        """The activated convolution."""
        strides = [1, *self.strides, 1] if self.layout == "NHWC" else [1, 1, *self.strides]
        made = depthwise_conv2d(
            inputs, self.depthwise_kernel, strides, self.padding.upper(), self.dilation_rate, data_format=self.layout
        )
        if self.bias is not None:
            made = bias_add(made, self.bias, self.layout)
        return activated(self.activation, made)
