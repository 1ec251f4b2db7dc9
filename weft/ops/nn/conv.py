"""The functions that convolve: conv1d, conv2d, conv3d, depthwise, separable, dilated and transposed."""

from __future__ import annotations

from collections.abc import Sequence, Sized
from typing import Any

from weft.framework.building.aliases import Array, Padding, ShapeLike, Sizes, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, squeeze
from weft.ops.input_scope import input_scope
from weft.ops.nn.conv_op import (
    conv2d_backprop_filter,
    conv2d_backprop_input,
    conv2d_node,
    conv3d_backprop_input,
    conv3d_node,
)
from weft.platform.logs.deprecation import deprecated_argument_lookup

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


def explicit_padding(padding: Padding | None) -> tuple[Any, list[int]]:
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


def channel_of(data_format: str) -> int:
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

    Returns:
        A tensor of the input's type, [batch, height, width, filters] in the order of `data_format`.

    Raises:
        ValueError: shapes, strides, padding or layout don't fit.

    >>> images, filters = tf.ones([1, 4, 4, 1]), tf.ones([2, 2, 1, 3])
    >>> tf.nn.conv2d(images, filters, strides=[1, 1, 1, 1], padding="VALID").shape
    TensorShape([Dimension(1), Dimension(3), Dimension(3), Dimension(3)])
    """
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    mode, explicit = explicit_padding(padding)
    layout = "NHWC" if data_format is None else data_format
    return conv2d_node(
        input, filter, strides=per_dimension(strides, 2, channel_of(layout), "strides"), padding=mode,
        use_cudnn_on_gpu=use_cudnn_on_gpu, explicit_paddings=explicit, data_format=layout,
        dilations=per_dimension(dilations, 2, channel_of(layout), "dilations"), name=name,
    )  # fmt: skip


def conv2d_transpose(
    value: TensorLike | None = None, filter: TensorLike | None = None, output_shape: ShapeLike = None,
    strides: Sizes | None = None, padding: Padding = "SAME", data_format: str | None = "NHWC",
    name: str | None = None, input: TensorLike | None = None, filters: TensorLike | None = None,
    dilations: Sizes | None = None,
) -> Tensor:  # fmt: skip
    """The transpose (gradient) of conv2d, with filters `[height, width, outputs, channels]`, to a given shape.

    Args:
        value, input: two names of the [batch, height, width, channels] tensor of a floating dtype ([batch, channels, height,
            width] for NCHW).
        filter, filters: two names of the [filter_height, filter_width, outputs, channels] tensor of the same dtype.
        output_shape: [4] int32: the shape of the result.
        strides: how far the filter moves at a time: an int, one for each spatial dimension, or a list of four.
        padding: 'SAME' or 'VALID'.
        data_format: 'NHWC' or 'NCHW'.
        dilations: how far apart the filter's elements are, given as `strides`.

    Returns:
        A tensor of that shape and the same dtype.

    Raises:
        ValueError: the channels of images, filters and `output_shape` don't fit, or the padding or the layout is another.
        InvalidArgumentError: in a run, `output_shape` is none that a convolution makes the images of.
    """
    value = deprecated_argument_lookup("input", input, "value", value)
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    layout = "NHWC" if data_format is None else data_format
    mode, explicit = explicit_padding(padding)
    with input_scope(name, "conv2d_transpose", (value, filter, output_shape)) as scope:
        return conv2d_backprop_input(
            _sizes(output_shape), filter, value, strides=per_dimension(strides, 2, channel_of(layout), "strides"),
            padding=mode, explicit_paddings=explicit, data_format=layout,
            dilations=per_dimension(dilations, 2, channel_of(layout), "dilations"), name=scope,
        )  # fmt: skip


def _sizes(shape: Array) -> Tensor:
    if shape is None:
        raise ValueError(
            "None values not supported. output_shape has to be given, such as tf.stack([tf.shape(value)[0], height, width, "
            "channels]): strides and padding do not tell it alone."
        )
    return convert_to_tensor(shape, name="output_shape")


def conv2d_gradient_of_input(
    input_sizes: TensorLike, filter: TensorLike | None = None, out_backprop: TensorLike | None = None,
    strides: Sizes | None = None, padding: Padding | None = None, use_cudnn_on_gpu: bool = True,
    data_format: str = "NHWC", dilations: Sizes = (1, 1, 1, 1), name: str | None = None,
    filters: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """The gradient of conv2d for its input.

    Args:
        input_sizes: [4] int32: the shape of the input.
        filter, filters: two names of the [filter_height, filter_width, channels, outputs] tensor of a floating dtype.
        out_backprop: [batch, out_height, out_width, outputs] tensor of the same dtype: the gradient of the output.
        strides: how far the filter moves at a time in each dimension, a list of four.
        padding: 'SAME', 'VALID' or explicit paddings, a pair for each dimension.
        use_cudnn_on_gpu: has no effect.
        data_format: 'NHWC' or 'NCHW'.
        dilations: how far apart the filter's elements are in each dimension, a list of four.

    Returns:
        A tensor of the shape `input_sizes` and the same dtype.
    """
    mode, explicit = explicit_padding(padding)
    return conv2d_backprop_input(
        input_sizes, deprecated_argument_lookup("filters", filters, "filter", filter), out_backprop, strides=strides,
        padding=mode, use_cudnn_on_gpu=use_cudnn_on_gpu, explicit_paddings=explicit, data_format=data_format,
        dilations=dilations, name=name,
    )  # fmt: skip


def conv2d_gradient_of_filter(
    input: TensorLike, filter_sizes: TensorLike, out_backprop: TensorLike, strides: Sizes | None = None,
    padding: Padding | None = None, use_cudnn_on_gpu: bool = True, data_format: str = "NHWC",
    dilations: Sizes = (1, 1, 1, 1), name: str | None = None,
) -> Tensor:  # fmt: skip
    """The gradient of conv2d for its filter.

    Args:
        input: [batch, height, width, channels] tensor of a floating dtype ([batch, channels, height, width] for NCHW).
        filter_sizes: [4] int32: the shape of the filter.
        out_backprop: [batch, out_height, out_width, outputs] tensor of the same dtype: the gradient of the output.
        strides: how far the filter moves at a time in each dimension, a list of four.
        padding: 'SAME', 'VALID' or explicit paddings, a pair for each dimension.
        use_cudnn_on_gpu: has no effect.
        data_format: 'NHWC' or 'NCHW'.
        dilations: how far apart the filter's elements are in each dimension, a list of four.

    Returns:
        [filter_height, filter_width, channels, outputs] tensor of the same dtype.
    """
    mode, explicit = explicit_padding(padding)
    return conv2d_backprop_filter(
        input, filter_sizes, out_backprop, strides=strides, padding=mode, use_cudnn_on_gpu=use_cudnn_on_gpu,
        explicit_paddings=explicit, data_format=data_format, dilations=dilations, name=name,
    )  # fmt: skip


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
    """The convolution of sequences `[batch, width, channels]` (NWC or NCW) with filters `[width, channels, outputs]`.

    Args:
        value, input: two names of the [batch, width, channels] tensor of a floating dtype ([batch, channels, width] for NCW).
        filters: [filter_width, channels, outputs] tensor of the same dtype.
        stride: how far the filter moves at a time, an int.
        padding: 'SAME' or 'VALID'.
        use_cudnn_on_gpu: has no effect.
        data_format: 'NWC' (the default) or 'NCW'.
        dilations: how far apart the filter's elements are, an int.

    Returns:
        [batch, out_width, outputs] tensor of the same dtype, in the order of `data_format`.
    """
    value = deprecated_argument_lookup("input", input, "value", value)
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
    """The transpose (gradient) of conv1d, with filters `[width, outputs, channels]`, to a given shape.

    Args:
        input: [batch, width, channels] tensor of a floating dtype ([batch, channels, width] for NCW).
        filters: [filter_width, outputs, channels] tensor of the same dtype.
        output_shape: [3] int32: the shape of the result.
        strides: how far the filter moves at a time, an int.
        padding: 'SAME' or 'VALID'.
        data_format: 'NWC' or 'NCW'.
        dilations: how far apart the filter's elements are, an int.

    Returns:
        A tensor of that shape and the same dtype.
    """
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
    """The convolution of volumes with filters `[depth, height, width, channels, outputs]`.

    Args:
        input: [batch, depth, height, width, channels] tensor of a floating dtype ([batch, channels, ...] for NCDHW).
        filter, filters: two names of the [filter_depth, filter_height, filter_width, channels, outputs] tensor of the same
            dtype.
        strides: how far the filter moves at a time in each dimension, a list of five.
        padding: 'SAME' or 'VALID'.
        data_format: 'NDHWC' or 'NCDHW'.
        dilations: how far apart the filter's elements are in each dimension, a list of five.

    Returns:
        [batch, out_depth, out_height, out_width, outputs] tensor of the same dtype, in the order of `data_format`.
    """
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    return conv3d_node(
        input, filter, strides=per_dimension(strides, 3, channel_of(data_format), "strides"), padding=padding,
        data_format=data_format, dilations=per_dimension(dilations, 3, channel_of(data_format), "dilations"), name=name,
    )  # fmt: skip


def conv3d_transpose(
    value: TensorLike | None, filter: TensorLike | None = None, output_shape: ShapeLike = None, strides: Sizes | None = None,
    padding: str = "SAME", data_format: str = "NDHWC", name: str | None = None, input: TensorLike | None = None,
    filters: TensorLike | None = None, dilations: Sizes | None = None,
) -> Tensor:  # fmt: skip
    """The transpose (gradient) of conv3d, with filters `[depth, height, width, outputs, channels]`, to a given shape.

    Args:
        value, input: two names of the [batch, depth, height, width, channels] tensor of a floating dtype ([batch, channels,
            ...] for NCDHW).
        filter, filters: two names of the [filter_depth, filter_height, filter_width, outputs, channels] tensor of the same
            dtype.
        output_shape: [5] int32: the shape of the result.
        strides: how far the filter moves at a time: an int, one for each spatial dimension, or a list of five.
        padding: 'SAME' or 'VALID'.
        data_format: 'NDHWC' or 'NCDHW'.
        dilations: how far apart the filter's elements are, given as `strides`.

    Returns:
        A tensor of that shape and the same dtype.
    """
    value = deprecated_argument_lookup("input", input, "value", value)
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    with input_scope(name, "conv3d_transpose", (value, filter, output_shape)) as scope:
        return conv3d_backprop_input(
            _sizes(output_shape), filter, value, strides=per_dimension(strides, 3, channel_of(data_format), "strides"),
            padding=padding, data_format=data_format,
            dilations=per_dimension(dilations, 3, channel_of(data_format), "dilations"), name=scope,
        )  # fmt: skip
