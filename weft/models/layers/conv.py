"""The layers that convolve: Conv1D, Conv2D, Conv3D and the transposes Conv2DTranspose and Conv3DTranspose."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from weft.framework.building.aliases import (
    Activation,
    Constraint,
    DTypeLike,
    Initializer,
    Regularizer,
    ShapeLike,
    SizeLike,
    Sizes,
    VariableLike,
)
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.tensor_shape import as_dims
from weft.models.layers.conv_arguments import layout_of, padding_of, per_axis, whole_filters
from weft.models.layers.core import ZEROS
from weft.models.layers.layer import activated
from weft.models.layers.named_objects import WeightOptions, activation_of, weight_options
from weft.models.layers.output_shapes import Convolving
from weft.ops.array.shape_ops import shape_internal
from weft.ops.array.slicing import slice_helper
from weft.ops.array.stacking import stack
from weft.ops.nn.bias import bias_add
from weft.ops.nn.conv import conv1d as nn_conv1d
from weft.ops.nn.conv import conv2d as nn_conv2d
from weft.ops.nn.conv import conv2d_transpose as nn_conv2d_transpose
from weft.ops.nn.conv import conv3d as nn_conv3d
from weft.ops.nn.conv import conv3d_transpose as nn_conv3d_transpose
from weft.ops.nn.convolution import nodes_of_gaps
from weft.ops.variables.scopes import ScopeLike
from weft.ops.variables.variable_store import Reuse


class Convolution(Convolving):
    """A layer with a kernel, a bias and an activation over 1, 2 or 3 spatial dimensions: the base of all of these."""

    rank = 2

    def __init__(
        self, filters: int, kernel_size: Sizes, strides: Sizes = 1, padding: str = "valid",
        data_format: str = "channels_last", dilation_rate: Sizes = 1, activation: Activation | None = None,
        use_bias: bool = True, kernel_initializer: Initializer | None = None, bias_initializer: Initializer = ZEROS,
        kernel_regularizer: Regularizer | None = None, bias_regularizer: Regularizer | None = None,
        activity_regularizer: Regularizer | None = None, kernel_constraint: Constraint | None = None,
        bias_constraint: Constraint | None = None, trainable: bool = True, name: str | None = None, *,
        dtype: DTypeLike | None = None, _scope: ScopeLike = None, _reuse: Reuse = None,
    ) -> None:  # fmt: skip
        super().__init__(trainable, name, dtype, activity_regularizer, _scope, _reuse)
        kernel = (kernel_initializer, kernel_regularizer, kernel_constraint)
        bias = (bias_initializer, bias_regularizer, bias_constraint)
        self.configure(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias, kernel, bias)

    def configure(
        self, filters: int, kernel_size: Sizes, strides: Sizes, padding: str, data_format: str, dilation_rate: Sizes,
        activation: Activation | None, use_bias: bool, kernel: WeightOptions, bias: WeightOptions,
    ) -> None:  # fmt: skip
        """Take the arguments of the constructor that are not any layer's.

        Args:
            filters: how many channels come out.
            kernel_size, strides, dilation_rate: a number for all dimensions, or one for each.
            padding: "valid" or "same", in any case.
            data_format: "channels_last" or "channels_first".
            activation: a function of the sums; None for none.
            use_bias: whether a bias is added.
            kernel, bias: initializer, regularizer and constraint of each.

        Raises:
            ValueError: an argument is not such as a convolution of its rank takes.
        """
        self.input_rank = self.rank + 2
        self.filters, self.activation, self.use_bias = whole_filters(filters), activation_of(activation), use_bias
        self.kernel_size = per_axis(kernel_size, self.rank, "kernel_size")
        self.strides = per_axis(strides, self.rank, "strides")
        self.dilation_rate = per_axis(dilation_rate, self.rank, "dilation_rate")
        if max(self.strides) > 1 and max(self.dilation_rate) > 1:
            raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
        self.padding, self.layout = padding_of(padding), layout_of(data_format, self.rank)
        self.data_format = data_format
        self._kernel_options, self._bias_options = weight_options(kernel), weight_options(bias)
        self.kernel: VariableLike = None
        self.bias: VariableLike = None

    def _kernel_shape(self, channels: int) -> list[int]:
        return [*self.kernel_size, channels, self.filters]

    def build(self, input_shape: ShapeLike) -> None:
        """Make kernel and bias."""
        dims = as_dims(input_shape)
        channels = None if dims is None else dims[self.layout.index("C")]
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self._make_kernel(self._kernel_shape(channels))
        if self.use_bias:
            initializer, regularizer, constraint = self._bias_options
            self.bias = self.add_variable("bias", [self.filters], None, initializer, regularizer, constraint=constraint)
        self.built = True

    def _make_kernel(self, shape: list[int]) -> None:
        initializer, regularizer, constraint = self._kernel_options
        self.kernel = self.add_variable("kernel", shape, None, initializer, regularizer, constraint=constraint)

    def _spare_nodes(self, inputs: Tensor) -> None:
        """Count TensorFlow's nodes that spread a window: later random nodes get their seeds by the count."""
        spatial = as_dims(inputs.shape.as_list()[2:] if self.layout.startswith("NC") else inputs.shape.as_list()[1:-1])
        has_gaps = max(self.dilation_rate) > 1
        get_default_graph().node_count.total += nodes_of_gaps(spatial, self.padding.upper()) if has_gaps else 1

    def _finished(self, outputs: Tensor) -> Tensor:
        if self.use_bias:
            outputs = bias_add(outputs, self.bias, self.layout)
        return activated(self.activation, outputs)


class Conv1D(Convolution):
    """A convolution of sequences, a bias and an activation.

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
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        kernel_initializer: makes the kernel's first value; the variable scope's initializer, else Glorot's uniform one, when
            None.
        bias_initializer: makes the bias's first value.
        kernel_regularizer, bias_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES, once for each variable.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        kernel_constraint, bias_constraint: functions that project a variable's value after an optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope; made of the class's name, and made unique, when None.
        dtype: the type of the variables; that of the first inputs when None.

    Raises:
        ValueError: a size, padding or layout is none of these, strides and dilations are both above 1, or the number of the
            first inputs' channels is not known.
    """

    rank = 1

    def call(self, inputs: Tensor) -> Tensor:
        """The activated convolution."""
        self._spare_nodes(inputs)
        return self._finished(nn_conv1d(
            inputs, self.kernel, list(self.strides), self._op_padding(), data_format=self.layout,
            dilations=list(self.dilation_rate),
        ))  # fmt: skip


class Conv2D(Convolution):
    """A convolution of images, a bias and an activation.

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
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        kernel_initializer: makes the kernel's first value; the variable scope's initializer, else Glorot's uniform one, when
            None.
        bias_initializer: makes the bias's first value.
        kernel_regularizer, bias_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES, once for each variable.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        kernel_constraint, bias_constraint: functions that project a variable's value after an optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope; made of the class's name, and made unique, when None.
        dtype: the type of the variables; that of the first inputs when None.

    Raises:
        ValueError: a size, padding or layout is none of these, strides and dilations are both above 1, or the number of the
            first inputs' channels is not known.
    """

    def call(self, inputs: Tensor) -> Tensor:
        """The activated convolution."""
        self._spare_nodes(inputs)
        return self._finished(nn_conv2d(
            inputs, self.kernel, list(self.strides), self.padding.upper(), data_format=self.layout,
            dilations=list(self.dilation_rate),
        ))  # fmt: skip


class Conv3D(Convolution):
    """A convolution of volumes, a bias and an activation.

    `[batch, depth, height, width, channels] -> [batch, new_depth, new_height, new_width, filters]`, or the channels
    second with "channels_first".

    Args:
        filters: the number of output channels.
        kernel_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which pads with zeros so that the outputs are as large as
            the inputs divided by the strides.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        dilation_rate: the distance between the elements that a window takes, one int or one for each spatial dimension; 1
            unless the strides are 1.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        kernel_initializer: makes the kernel's first value; the variable scope's initializer, else Glorot's uniform one, when
            None.
        bias_initializer: makes the bias's first value.
        kernel_regularizer, bias_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES, once for each variable.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        kernel_constraint, bias_constraint: functions that project a variable's value after an optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope; made of the class's name, and made unique, when None.
        dtype: the type of the variables; that of the first inputs when None.

    Raises:
        ValueError: a size, padding or layout is none of these, strides and dilations are both above 1, or the number of the
            first inputs' channels is not known.
    """

    rank = 3

    def call(self, inputs: Tensor) -> Tensor:
        """The activated convolution."""
        self._spare_nodes(inputs)
        return self._finished(nn_conv3d(
            inputs, self.kernel, list(self.strides), self.padding.upper(), self.layout, list(self.dilation_rate)
        ))  # fmt: skip


class Transpose(Convolution):
    """The transpose of a convolution: the base of those over images and volumes."""

    function: Callable[..., Tensor]
    # How much longer each dimension is made than it need be, or None for the longest that the stride leaves open.
    output_padding: tuple[int, ...] | None = None

    def __init__(
        self, filters: int, kernel_size: Sizes, strides: Sizes = 1, padding: str = "valid",
        data_format: str = "channels_last", activation: Activation | None = None, use_bias: bool = True,
        kernel_initializer: Initializer | None = None, bias_initializer: Initializer = ZEROS,
        kernel_regularizer: Regularizer | None = None, bias_regularizer: Regularizer | None = None,
        activity_regularizer: Regularizer | None = None, kernel_constraint: Constraint | None = None,
        bias_constraint: Constraint | None = None, trainable: bool = True, name: str | None = None, *,
        dtype: DTypeLike | None = None, _scope: ScopeLike = None, _reuse: Reuse = None,
    ) -> None:  # fmt: skip
        super().__init__(
            filters, kernel_size, strides, padding, data_format, 1, activation, use_bias, kernel_initializer,
            bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
            bias_constraint, trainable, name, dtype=dtype, _scope=_scope, _reuse=_reuse,
        )  # fmt: skip

    def _kernel_shape(self, channels: int) -> list[int]:
        return [*self.kernel_size, self.filters, channels]

    def _windows(self, size: int, axis: int) -> int:
        length = self._length(size, axis)
        assert isinstance(length, int), "that of a number is one"
        return length

    def _length(self, size: SizeLike, axis: int) -> SizeLike:
        length, stride = self.kernel_size[axis], self.strides[axis]
        if self.output_padding is None:
            return size * stride + (max(length - stride, 0) if self.padding == "valid" else 0)
        cut = 2 * (length // 2) if self.padding == "same" else 0
        return (size - 1) * stride + length - cut + self.output_padding[axis]

    def call(self, inputs: Tensor) -> Tensor:
        """The activated transpose."""
        graph, sizes = get_default_graph(), list[Any]()
        before = graph.node_count.total
        lengths = iter(range(self.rank))
        known = [None] * (self.rank + 2) if inputs.dims is None else inputs.dims
        actual = shape_internal(inputs)
        for axis, letter in enumerate(self.layout):
            size: Any = slice_helper(actual, axis) if known[axis] is None else known[axis]
            if letter == "C":
                size = self.filters
            elif letter != "N":
                size = self._length(size, next(lengths))
            sizes.append(size)
        whole = sizes if all(isinstance(size, int) for size in sizes) else stack(sizes)
        # TensorFlow computes the sizes in nodes, also those that are known; later random nodes get their seeds by the count.
        per_side = 8 if self.padding == "valid" and self.output_padding is None else 6
        known_there = (11 if self.rank == 2 else 7) + per_side * self.rank
        made = graph.node_count.total - before + (1 if whole is sizes else 0)
        graph.node_count.total += max(known_there - made, 0)
        function = type(self).function
        return self._finished(function(inputs, self.kernel, whole, list(self.strides), self.padding.upper(), self.layout))


class Conv2DTranspose(Transpose):
    """The transpose of a convolution, which makes images larger, a bias and an activation.

    `[batch, height, width, channels] -> [batch, new_height, new_width, filters]`: a side becomes `side * stride` with "same",
    `side * stride + max(kernel - stride, 0)` with "valid".

    Args:
        filters: the number of output channels.
        kernel_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which pads with zeros so that the outputs are as large as
            the inputs divided by the strides.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        kernel_initializer: makes the kernel's first value; the variable scope's initializer, else Glorot's uniform one, when
            None.
        bias_initializer: makes the bias's first value.
        kernel_regularizer, bias_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES, once for each variable.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        kernel_constraint, bias_constraint: functions that project a variable's value after an optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope; made of the class's name, and made unique, when None.
        dtype: the type of the variables; that of the first inputs when None.

    Raises:
        ValueError: a size, padding or layout is none of these, or the number of the first inputs' channels is not known.
    """

    function = staticmethod(nn_conv2d_transpose)


class Conv3DTranspose(Transpose):
    """The transpose of a convolution, which makes volumes larger, a bias and an activation.

    `[batch, depth, height, width, channels] -> [batch, new_depth, new_height, new_width, filters]`: a side becomes
    `side * stride` with "same", `side * stride + max(kernel - stride, 0)` with "valid".

    Args:
        filters: the number of output channels.
        kernel_size: the size of the window, one int for all spatial dimensions or one for each.
        strides: how far the window moves, one int or one for each spatial dimension.
        padding: "valid", which uses whole windows only, or "same", which pads with zeros so that the outputs are as large as
            the inputs divided by the strides.
        data_format: "channels_last" or "channels_first", which dimension of the inputs has the channels.
        activation: a function of the outputs, such as tf.nn.relu, or a name as "relu"; None leaves them as they are.
        use_bias: whether a vector, one number per output channel, is added before the activation.
        kernel_initializer: makes the kernel's first value; the variable scope's initializer, else Glorot's uniform one, when
            None.
        bias_initializer: makes the bias's first value.
        kernel_regularizer, bias_regularizer: functions of the variable; what they return is added to the collection
            REGULARIZATION_LOSSES, once for each variable.
        activity_regularizer: a function of the outputs; what it returns is added to REGULARIZATION_LOSSES at each call.
        kernel_constraint, bias_constraint: functions that project a variable's value after an optimizer has updated it.
        trainable: whether the variables are added to the collection TRAINABLE_VARIABLES.
        name: the layer's variable scope; made of the class's name, and made unique, when None.
        dtype: the type of the variables; that of the first inputs when None.

    Raises:
        ValueError: a size, padding or layout is none of these, or the number of the first inputs' channels is not known.
    """

    rank, function = 3, staticmethod(nn_conv3d_transpose)
