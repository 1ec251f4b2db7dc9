"""The functions that convolve: conv1d, conv2d, conv3d, depthwise, separable, dilated and transposed."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

from weft.framework.aliases import Array, Padding, ShapeLike, Sizes, TensorLike
from weft.framework.operation import Tensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, squeeze
from weft.ops.input_scope import input_scope
from weft.ops.math.reduce_functions import either
from weft.ops.nn.conv_op import (
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv2d_node,
    conv3d_backprop_input,
    conv3d_node,
    depthwise_conv2d_node,
)

# Arguments in the forms that programs give them.


def per_dimension(value: TensorLike | None, count: int, channel: int, name: str) -> list[int]:
    """One number, one per spatial dimension, or one per dimension, as one per dimension.

    Raises:
        ValueError: the list has none of these lengths.
    """
    if value is None:
        value = [1]
    elif not isinstance(value, Sized):
        value = [value]
    given = list(value)
    if len(given) == count + 2:
        return given
    if len(given) == 1:
        given = given * count
    elif len(given) != count:
        layout = [1, 1, *[2] * count] if channel == 1 else [1, *[2] * count, 1]
        raise ValueError(
            f"{name} should be of length 1, {count} or {count + 2} but was {len(given)}\n  {name}: {value}\n  Give one number, "
            f"{count} for the spatial dimensions, or {count + 2} in the order of data_format, such as {layout} where batch "
            "and channels have 1."
        )
    return [1, 1, *given] if channel == 1 else [1, *given, 1]


def _padding(padding: Padding | None) -> tuple[Any, list[int]]:
    """The padding attribute and the explicit paddings, flat."""
    if padding == "EXPLICIT":
        raise ValueError(
            '"EXPLICIT" is not a valid value for the padding parameter. To use explicit padding, the padding parameter '
            "must be a list."
        )
    if not isinstance(padding, list | tuple):
        return padding, []
    for index, pair in enumerate(padding):
        if not isinstance(pair, list | tuple):
            found = f"Element with index {index} of padding is not a list/tuple"
        elif len(pair) != 2:
            found = f"Element with index {index} of padding has size {len(pair)}"
        else:
            continue
        raise ValueError(f"When padding is a list, each element of padding must be a list/tuple of size 2. {found}")
    if len(padding) != 4:
        raise ValueError(f"When padding is a list, it must be of size 4. Got padding of size: {len(padding)}")
    return "EXPLICIT", [pad for pair in padding for pad in pair]


def _channel(data_format: str) -> int:
    return 1 if data_format.startswith("NC") else len(data_format) - 1


# Two dimensions.


def conv2d(
    input: TensorLike, filter: TensorLike | None = None, strides: Sizes | None = None, padding: Padding | None = None,
    use_cudnn_on_gpu: bool = True, data_format: str | None = "NHWC", dilations: Sizes = (1, 1, 1, 1),
    name: str | None = None, filters: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """The convolution of images.

    Args:
        input: the images, `[batch, height, width, channels]`, or in NCHW `[batch, channels, height, width]`.
        filter: `[height, width, channels, outputs]`.
        strides: how far apart the windows are: one number, two, or four in the order of the layout.
        padding: "SAME", "VALID", or a list of four pairs.
        use_cudnn_on_gpu: has no effect.
        data_format: "NHWC" or "NCHW".
        dilations: how far apart the elements of a window are; as `strides`.
        name: the node's name.
        filters: another name of `filter`.

    Raises:
        ValueError: shapes, strides, padding or layout don't fit.

    >>> images, filters = tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 3])
    >>> tf.nn.conv2d(images, filters, strides=[1, 1, 1, 1], padding="VALID").shape
    TensorShape([Dimension(1), Dimension(3), Dimension(3), Dimension(3)])
    """
    filter = either("filters", filters, "filter", filter)
    mode, explicit = _padding(padding)
    layout = data_format or "NHWC"
    return conv2d_node(
        input, filter, strides=per_dimension(strides, 2, _channel(layout), "strides"), padding=mode,
        use_cudnn_on_gpu=use_cudnn_on_gpu, explicit_paddings=explicit, data_format=layout,
        dilations=per_dimension(dilations, 2, _channel(layout), "dilations"), name=name,
    )  # fmt: skip


def conv2d_transpose(
    value: TensorLike | None = None, filter: TensorLike | None = None, output_shape: ShapeLike = None,
    strides: Sizes | None = None, padding: Padding = "SAME", data_format: str | None = "NHWC",
    name: str | None = None, input: TensorLike | None = None, filters: TensorLike | None = None,
    dilations: Sizes | None = None,
) -> Tensor:  # fmt: skip
    """The transpose (gradient) of conv2d, with filters `[height, width, outputs, channels]`, to a given shape."""
    value = either("input", input, "value", value)
    filter = either("filters", filters, "filter", filter)
    layout = data_format or "NHWC"
    mode, explicit = _padding(padding)
    with input_scope(name, "conv2d_transpose", (value, filter, output_shape)) as scope:
        return conv2d_backprop_input(
            _sizes(output_shape), filter, value, strides=per_dimension(strides, 2, _channel(layout), "strides"),
            padding=mode, explicit_paddings=explicit, data_format=layout,
            dilations=per_dimension(dilations, 2, _channel(layout), "dilations"), name=scope,
        )  # fmt: skip


def _sizes(shape: Array) -> Tensor:
    return convert_to_tensor(shape, name="output_shape")


def conv2d_gradient_of_input(
    input_sizes: TensorLike, filter: TensorLike | None = None, out_backprop: TensorLike | None = None,
    strides: Sizes | None = None, padding: Padding | None = None, use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC", dilations: Sizes = (1, 1, 1, 1), name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """The gradient of conv2d for its input."""
    mode, explicit = _padding(padding)
    return conv2d_backprop_input(
        input_sizes, either("filters", filters, "filter", filter), out_backprop, strides=strides, padding=mode,
        use_cudnn_on_gpu=use_cudnn_on_gpu, explicit_paddings=explicit, data_format=data_format, dilations=dilations,
        name=name,
    )  # fmt: skip


def conv2d_gradient_of_filter(
    input: TensorLike, filter_sizes: TensorLike, out_backprop: TensorLike, strides: Sizes | None = None,
    padding: Padding | None = None, use_cudnn_on_gpu: bool = True, data_format: str = "NHWC",
    dilations: Sizes = (1, 1, 1, 1), name: str | None = None,
) -> Tensor:  # fmt: skip
    """The gradient of conv2d for its filter."""
    mode, explicit = _padding(padding)
    return conv2d_backprop_filter(
        input, filter_sizes, out_backprop, strides=strides, padding=mode, use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit, data_format=data_format, dilations=dilations, name=name,
    )  # fmt: skip


def atrous_conv2d(value: TensorLike, filters: TensorLike, rate: int, padding: str, name: str | None = None) -> Tensor:
    """The convolution of images by filters whose elements are `rate` apart."""
    with input_scope(name, "convolution", (value, filters)) as scope:
        return conv2d(value, filters, 1, padding, dilations=[1, rate, rate, 1], name=scope)


def atrous_conv2d_transpose(
    value: TensorLike, filters: TensorLike, output_shape: ShapeLike, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """The transpose of atrous_conv2d, with filters `[height, width, outputs, channels]`, to a given shape."""
    with input_scope(name, "atrous_conv2d_transpose", (value, filters, output_shape)) as scope:
        return conv2d_transpose(value, filters, output_shape, 1, padding, name=scope, dilations=[1, rate, rate, 1])


# Channel by channel.


def _rates(rate: TensorLike | None, dilations: Sizes | None, data_format: str) -> list[int]:
    rate = either("dilations", dilations, "rate", rate)
    return per_dimension(rate, 2, _channel(data_format), "rate")


def depthwise_conv2d(
    input: TensorLike, filter: TensorLike, strides: Sizes, padding: Padding, rate: TensorLike | None = None,
    name: str | None = None, data_format: str | None = None, dilations: Sizes | None = None,
) -> Tensor:  # fmt: skip
    """The convolution of each channel with filters of its own.

    Args:
        input: the images.
        filter: `[height, width, channels, multiplier]`; there are `channels * multiplier` outputs.
        strides: four numbers, in the order of the layout.
        padding: "SAME", "VALID", or a list of four pairs.
        rate: how far apart the elements of a window are, two numbers.
        name: the name scope.
        data_format: "NHWC" or "NCHW".
        dilations: another name of `rate`.
    """
    layout = data_format or "NHWC"
    with input_scope(name, "depthwise", (input, filter)) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        filter = convert_to_tensor(filter, name="filter_in")
        return _depthwise(input, filter, strides, padding, layout, _rates(rate, dilations, layout), scope)


def _depthwise(
    input: TensorLike, filter: TensorLike, strides: Sizes, padding: Padding, layout: str, rates: Sizes | None, name: str | None
) -> Tensor:
    mode, explicit = _padding(padding)
    return depthwise_conv2d_node(
        input, filter, strides=strides, padding=mode, explicit_paddings=explicit, data_format=layout,
        dilations=rates, name=name,
    )  # fmt: skip


def depthwise_conv2d_native(
    input: TensorLike, filter: TensorLike, strides: Sizes, padding: Padding, data_format: str = "NHWC",
    dilations: Sizes = (1, 1, 1, 1), name: str | None = None,
) -> Tensor:  # fmt: skip
    """The convolution of each channel with filters of its own, as one node."""
    return _depthwise(input, filter, strides, padding, data_format, dilations, name)


def separable_conv2d(
    input: TensorLike, depthwise_filter: TensorLike, pointwise_filter: TensorLike, strides: Sizes, padding: Padding,
    rate: TensorLike | None = None, name: str | None = None, data_format: str | None = None,
    dilations: Sizes | None = None,
) -> Tensor:  # fmt: skip
    """A depthwise convolution and then one by filters `[1, 1, channels * multiplier, outputs]`.

    Raises:
        ValueError: the second filters are larger than 1 by 1, or don't fit the first.
    """
    layout = data_format or "NHWC"
    with input_scope(name, "separable_conv2d", (input, depthwise_filter, pointwise_filter)) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        pointwise_filter.shape.with_rank(4)[:2].assert_is_compatible_with([1, 1])
        rates = _rates(rate, dilations, layout)
        between = _depthwise(input, depthwise_filter, strides, padding, layout, rates, "depthwise")
        return conv2d(between, pointwise_filter, [1, 1, 1, 1], "VALID", data_format=layout, name=scope)


# One dimension, as images of one row.


def _row_layout(data_format: str | None) -> tuple[str, int]:
    """The layout of the images and where their row is put in."""
    if data_format in (None, "NHWC", "NWC"):
        return "NHWC", 1
    if data_format in ("NCHW", "NCW"):
        return "NCHW", 2
    raise ValueError('data_format must be "NWC" or "NCW".')


def conv1d(
    value: object = None, filters: Any = None, stride: Sizes | None = None,
    padding: Padding | None = None, use_cudnn_on_gpu: bool | None = None, data_format: str | None = None,
    name: str | None = None, input: TensorLike | None = None, dilations: Sizes | None = None,
) -> Tensor:  # fmt: skip
    """The convolution of sequences `[batch, width, channels]` (NWC or NCW) with filters `[width, channels, outputs]`."""
    value = either("input", input, "value", value)
    with input_scope(name, "conv1d", (value, filters)) as scope:
        layout, row = _row_layout(data_format)
        strides, rates = (_with_row(given, row, what) for given, what in ((stride, "stride"), (dilations, "dilations")))
        images = expand_dims(convert_to_tensor(value), row)
        made = conv2d(images, expand_dims(filters, 0), strides, padding, data_format=layout, dilations=rates, name=scope)
        return squeeze(made, [row])


def _with_row(value: int | Sequence[int] | None, row: int, name: str) -> list[int]:
    numbers = per_dimension(value, 1, 1 if row == 2 else 2, name)
    return [*numbers[:row], 1, *numbers[row:]]


def conv1d_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: Sizes, padding: Padding = "SAME",
    data_format: str = "NWC", dilations: Sizes | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The transpose (gradient) of conv1d, with filters `[width, outputs, channels]`, to a given shape."""
    with input_scope(name, "conv1d_transpose", (input, filters, output_shape)) as scope:
        layout, row = _row_layout(data_format)
        steps, rates = (_with_row(given, row, what) for given, what in ((strides, "strides"), (dilations, "dilations")))
        sizes: Any = _sizes(output_shape)
        sizes = concat([sizes[:row], [1], sizes[row:]], 0)
        made = conv2d_backprop_input(
            sizes, expand_dims(filters, 0), expand_dims(convert_to_tensor(input), row), strides=steps, padding=padding,
            data_format=layout, dilations=rates, name=scope,
        )  # fmt: skip
        return squeeze(made, [row])


# Three dimensions, and any number.


def conv3d(
    input: TensorLike, filter: TensorLike | None = None, strides: Sizes | None = None, padding: Padding | None = None,
    data_format: str = "NDHWC", dilations: Sizes = (1, 1, 1, 1, 1), name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """The convolution of volumes with filters `[depth, height, width, channels, outputs]`."""
    filter = either("filters", filters, "filter", filter)
    return conv3d_node(
        input, filter, strides=per_dimension(strides, 3, _channel(data_format), "strides"), padding=padding,
        data_format=data_format, dilations=per_dimension(dilations, 3, _channel(data_format), "dilations"), name=name,
    )  # fmt: skip


def conv3d_transpose(
    value: TensorLike | None, filter: TensorLike | None = None, output_shape: ShapeLike = None, strides: Sizes | None = None,
    padding: str = "SAME", data_format: str = "NDHWC", name: str | None = None, input: TensorLike | None = None,
    filters: TensorLike | None = None, dilations: Sizes | None = None,
) -> Tensor:  # fmt: skip
    """The transpose (gradient) of conv3d, with filters `[depth, height, width, outputs, channels]`, to a given shape."""
    value = either("input", input, "value", value)
    filter = either("filters", filters, "filter", filter)
    with input_scope(name, "conv3d_transpose", (value, filter, output_shape)) as scope:
        return conv3d_backprop_input(
            _sizes(output_shape), filter, value, strides=per_dimension(strides, 3, _channel(data_format), "strides"),
            padding=padding, data_format=data_format,
            dilations=per_dimension(dilations, 3, _channel(data_format), "dilations"), name=scope,
        )  # fmt: skip


def convolution(
    input: TensorLike, filter: TensorLike | None = None, padding: Padding | None = None, strides: Sizes | None = None,
    dilation_rate: Sizes | None = None, name: str | None = None, data_format: str | None = None,
    filters: TensorLike | None = None, dilations: Sizes | None = None,
) -> Tensor:  # fmt: skip
    """A convolution of one, two or three spatial dimensions, as many as the filter has.

    Raises:
        ValueError: the filter's rank is not known or is none of these, or both strides and dilations are above one.
    """
    filter = convert_to_tensor(either("filters", filters, "filter", filter), name="filter")
    rates = either("dilations", dilations, "dilation_rate", dilation_rate)
    rank = filter.shape.ndims
    if rank is None or not 3 <= rank <= 5:
        raise ValueError(f"num_spatial_dims must be one of 1, 2 or 3; the filter has shape {filter.shape}")
    count = rank - 2
    steps, rates = (per_dimension(each, count, count + 1, "strides")[1:-1] for each in (strides, rates))
    if max(steps) > 1 and max(rates) > 1:
        raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
    with input_scope(name, "convolution", (input, filter)) as scope:
        input = convert_to_tensor(input, name="input")
        if count == 1:
            return conv1d(input, filter, steps, padding, data_format=data_format, name=scope, dilations=rates)
        if count == 2:
            return conv2d(input, filter, steps, padding, data_format=data_format, dilations=rates, name=scope)
        return conv3d(input, filter, steps, padding, data_format or "NDHWC", rates, scope)


def conv_transpose(
    input: TensorLike, filters: TensorLike, output_shape: ShapeLike, strides: Sizes, padding: Padding = "SAME",
    data_format: str | None = None, dilations: Sizes | None = None, name: str | None = None,
) -> Tensor:  # fmt: skip
    """The transpose (gradient) of a convolution of sequences, images or volumes, as the rank says, to a given shape.

    Raises:
        ValueError: there are not 1, 2 or 3 spatial dimensions.
    """
    input = convert_to_tensor(input)
    count = (input.get_shape().ndims or 0) - 2
    functions: dict[int, Any] = {1: conv1d_transpose, 2: conv2d_transpose, 3: conv3d_transpose}
    if count not in functions:
        raise ValueError(f"Input must have 1, 2 or 3 spatial dimensions, its shape is {input.get_shape()}")
    layout = data_format or ("NWC", "NHWC", "NDHWC")[count - 1]
    made: Tensor = functions[count](
        input, filters, output_shape, strides, padding, data_format=layout, dilations=dilations, name=name or "conv_transpose"
    )
    return made
