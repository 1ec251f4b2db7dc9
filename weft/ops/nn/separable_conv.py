"""Convolutions with gaps in the filter, of each channel by itself, and of both kinds one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Padding, ShapeLike, Sizes, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.ops.input_scope import input_scope
from weft.ops.nn.conv import channel_of, conv2d, conv2d_transpose, explicit_padding, per_dimension
from weft.ops.nn.conv_op import (
    depthwise_conv2d_node,
)
from weft.ops.nn.convolution import nodes_of_gaps
from weft.platform.logs.deprecation import deprecated_argument_lookup


def atrous_conv2d(value: TensorLike, filters: TensorLike, rate: int, padding: str, name: str | None = None) -> Tensor:
    """The convolution of images by filters whose elements are `rate` apart.

    Args:
        value: [batch, height, width, channels] tensor of a floating dtype.
        filters: [filter_height, filter_width, channels, outputs] tensor of the same dtype.
        rate: how far apart the filter's elements are, 1 or more.
        padding: 'SAME' or 'VALID'.

    Returns:
        [batch, out_height, out_width, outputs] tensor of the same dtype.
    """
    with input_scope(name, "convolution", (value, filters)) as scope:
        value = convert_to_tensor(value, name="value")
        if rate > 1 and value.dims is not None:
            get_default_graph().node_count.total += nodes_of_gaps(value.dims[1:-1], padding)
        return conv2d(value, filters, 1, padding, dilations=[1, rate, rate, 1], name=scope)


def atrous_conv2d_transpose(
    value: TensorLike, filters: TensorLike, output_shape: ShapeLike, rate: int, padding: str, name: str | None = None
) -> Tensor:
    """The transpose of atrous_conv2d, with filters `[height, width, outputs, channels]`, to a given shape.

    Args:
        value: [batch, height, width, channels] tensor of a floating dtype.
        filters: [filter_height, filter_width, outputs, channels] tensor of the same dtype.
        output_shape: [4] int32: the shape of the result.
        rate: how far apart the filter's elements are, 1 or more.
        padding: 'SAME' or 'VALID'.

    Returns:
        A tensor of that shape and the same dtype.
    """
    with input_scope(name, "atrous_conv2d_transpose", (value, filters, output_shape)) as scope:
        return conv2d_transpose(value, filters, output_shape, 1, padding, name=scope, dilations=[1, rate, rate, 1])


# Channel by channel.


def _rates(rate: TensorLike | None, dilations: Sizes | None, data_format: str) -> list[int]:
    rate = deprecated_argument_lookup("dilations", dilations, "rate", rate)
    return per_dimension(rate, 2, channel_of(data_format), "rate")


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
        rates = _rates(rate, dilations, layout)
        _count_beside(input, layout, rates)
        return _depthwise(input, filter, strides, padding, layout, rates, scope)


def _count_beside(input: Tensor, layout: str, rates: Sequence[int]) -> None:
    """Count what TensorFlow has beside a convolution of each channel: later random nodes get their seeds by the count."""
    count = get_default_graph().node_count
    count.total += 2
    if max(rates) > 1 and input.dims is not None:
        count.total += nodes_of_gaps(input.dims[2:] if layout == "NCHW" else input.dims[1:-1], None) - 1


def _depthwise(
    input: TensorLike, filter: TensorLike, strides: Sizes, padding: Padding, layout: str, rates: Sizes | None, name: str | None
) -> Tensor:
    mode, explicit = explicit_padding(padding)
    return depthwise_conv2d_node(
        input, filter, strides=strides, padding=mode, explicit_paddings=explicit, data_format=layout,
        dilations=rates, name=name,
    )  # fmt: skip


def depthwise_conv2d_native(
    input: TensorLike, filter: TensorLike, strides: Sizes, padding: Padding, data_format: str = "NHWC",
    dilations: Sizes = (1, 1, 1, 1), name: str | None = None,
) -> Tensor:  # fmt: skip
    """The convolution of each channel with filters of its own, as one node.

    Args:
        input: [batch, height, width, channels] tensor of a floating dtype ([batch, channels, height, width] for NCHW).
        filter: [filter_height, filter_width, channels, multiplier] tensor of the same dtype.
        strides: how far the filter moves at a time in each dimension, a list of four.
        padding: 'SAME' or 'VALID'.
        data_format: 'NHWC' or 'NCHW'.
        dilations: how far apart the filter's elements are in each dimension, a list of four.

    Returns:
        [batch, out_height, out_width, channels * multiplier] tensor of the same dtype.
    """
    return _depthwise(input, filter, strides, padding, data_format, dilations, name)


def separable_conv2d(
    input: TensorLike, depthwise_filter: TensorLike, pointwise_filter: TensorLike, strides: Sizes, padding: Padding,
    rate: TensorLike | None = None, name: str | None = None, data_format: str | None = None,
    dilations: Sizes | None = None,
) -> Tensor:  # fmt: skip
    """A depthwise convolution and then one by filters `[1, 1, channels * multiplier, outputs]`.

    Args:
        input: [batch, height, width, channels] tensor of a floating dtype ([batch, channels, height, width] for NCHW).
        depthwise_filter: [filter_height, filter_width, channels, multiplier] tensor of the same dtype.
        pointwise_filter: [1, 1, channels * multiplier, outputs] tensor of the same dtype.
        strides: how far the first filter moves at a time in each dimension, a list of four.
        padding: 'SAME' or 'VALID'.
        rate, dilations: two names of how far apart the first filter's elements are, a list of two.
        data_format: 'NHWC' or 'NCHW'.

    Returns:
        [batch, out_height, out_width, outputs] tensor of the same dtype.

    Raises:
        ValueError: the second filters are larger than 1 by 1, or don't fit the first.
    """
    layout = "NHWC" if data_format is None else data_format
    with input_scope(name, "separable_conv2d", (input, depthwise_filter, pointwise_filter)) as scope:
        input = convert_to_tensor(input, name="tensor_in")
        depthwise_filter = convert_to_tensor(depthwise_filter, name="depthwise_filter")
        pointwise_filter = convert_to_tensor(pointwise_filter, name="pointwise_filter")
        pointwise_filter.shape.with_rank(4)[:2].assert_is_compatible_with([1, 1])
        rates = _rates(rate, dilations, layout)
        between = _depthwise(input, depthwise_filter, strides, padding, layout, rates, "depthwise")
        _count_beside(input, layout, rates)
        return conv2d(between, pointwise_filter, [1, 1, 1, 1], "VALID", data_format=layout, name=scope)


# One dimension, as images of one row.
