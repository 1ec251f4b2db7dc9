"""tf.keras.backend's further convolutions: transposed, separable, and with filters that differ from place to place."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.building.aliases import Nest, Sizes
from weft.framework.nodes.operation import Tensor
from weft.models.layers.conv_arguments import padding_of, per_axis
from weft.networks.layers.spatial.borders import repeat_elements
from weft.networks.layers.spatial.layouts import in_layout, with_channels_last
from weft.networks.layers.spatial.local import locally_convolved, nodes_of_places
from weft.networks.state.defaults import layout_or_default
from weft.ops.array.shape_ops import shape as shape_of
from weft.ops.array.stacking import stack
from weft.ops.nn import conv as convolutions
from weft.ops.nn import separable_conv


def conv2d_transpose(
    x: Tensor, kernel: Tensor, output_shape: Nest, strides: Sizes = (1, 1), padding: str = "valid",
    data_format: str | None = None, dilation_rate: Sizes = (1, 1),
) -> Tensor:  # fmt: skip
    """The transpose of a convolution of images, `[batch, rows, columns, channels] -> output_shape`.

    Args:
        x: the images, of a floating dtype.
        kernel: `[rows, columns, filters, channels]`, of the same dtype.
        output_shape: the shape of the result, four ints or a tensor; a batch of None is that of `x`.
        strides: how far the window moves, a number or one for each spatial dimension.
        padding: "valid" or "same".
        data_format: "channels_last", or "channels_first" for channels before the rest; `image_data_format()` when None.
        dilation_rate: the distance of the kernel's elements, a number or one for each spatial dimension.
    """
    sizes = list(output_shape) if isinstance(output_shape, list | tuple) else output_shape
    layout = layout_or_default(data_format)
    first = layout == "channels_first"
    if isinstance(sizes, list):
        sizes = [shape_of(x)[0] if sizes[0] is None else sizes[0], *(sizes[2:] + sizes[1:2] if first else sizes[1:])]
        wanted: Nest = stack(sizes)
    else:
        wanted = stack([sizes[each] for each in (0, 2, 3, 1)]) if first else sizes
    made = convolutions.conv2d_transpose(
        with_channels_last(x, layout, 2), kernel, wanted, per_axis(strides, 2, "strides"),
        padding_of(padding).upper(), dilations=per_axis(dilation_rate, 2, "dilation_rate"),
    )  # fmt: skip
    if isinstance(sizes, list):
        made.set_shape([each if isinstance(each, int) else None for each in sizes])
    return in_layout(made, layout, 2)


def separable_conv2d(
    x: Tensor, depthwise_kernel: Tensor, pointwise_kernel: Tensor, strides: Sizes = (1, 1), padding: str = "valid",
    data_format: str | None = None, dilation_rate: Sizes = (1, 1),
) -> Tensor:  # fmt: skip
    """A convolution of each channel by filters of its own, and then one of single places over all channels.

    Args:
        x: the images, `[batch, rows, columns, channels]` of a floating dtype.
        depthwise_kernel: `[rows, columns, channels, multiplier]`, of the same dtype.
        pointwise_kernel: `[1, 1, channels * multiplier, filters]`, of the same dtype.
        strides: how far the window moves, one number or two that are equal.
        padding: "valid" or "same".
        data_format: "channels_last", or "channels_first" for channels before the rest; `image_data_format()` when None.
        dilation_rate: the distance of the first kernel's elements, a number or one for each spatial dimension.
    """
    layout = layout_or_default(data_format)
    made = separable_conv.separable_conv2d(
        with_channels_last(x, layout, 2), depthwise_kernel, pointwise_kernel, [1, *per_axis(strides, 2, "strides"), 1],
        padding_of(padding).upper(), per_axis(dilation_rate, 2, "dilation_rate"),
    )  # fmt: skip
    return in_layout(made, layout, 2)


def local_conv1d(inputs: Tensor, kernel: Tensor, kernel_size: Sizes, strides: Sizes, data_format: str | None = None) -> Tensor:
    """A convolution of sequences whose filters differ from step to step.

    Args:
        inputs: the sequences, of a floating dtype.
        kernel: `[places, size * channels, filters]`, of the same dtype.
        kernel_size: the size of the window.
        strides: how far it moves.
        data_format: "channels_last", or "channels_first" for `[batch, channels, steps]`; `image_data_format()` when None.

    Returns:
        The outputs, `[batch, places, filters]`.
    """
    places = [int(kernel.shape.as_list()[0] or 0)]
    return _local(inputs, kernel, per_axis(kernel_size, 1, "kernel_size"), per_axis(strides, 1, "strides"), places,
                  data_format)  # fmt: skip


def local_conv2d(
    inputs: Tensor, kernel: Tensor, kernel_size: Sizes, strides: Sizes, output_shape: Sequence[int],
    data_format: str | None = None,
) -> Tensor:  # fmt: skip
    """A convolution of images whose filters differ from place to place.

    Args:
        inputs: the images, `[batch, rows, columns, channels]` of a floating dtype.
        kernel: `[places, rows * columns * channels, filters]`, of the same dtype.
        kernel_size: the sizes of the window.
        strides: how far it moves along each.
        output_shape: the numbers of places along rows and columns.
        data_format: "channels_last", or "channels_first" for channels before the rest; `image_data_format()` when None.

    Returns:
        The outputs, `[batch, new rows, new columns, filters]`.
    """
    return _local(inputs, kernel, per_axis(kernel_size, 2, "kernel_size"), per_axis(strides, 2, "strides"),
                  [int(each) for each in output_shape], data_format)  # fmt: skip


def _local(
    inputs: Tensor, kernel: Tensor, window: Sequence[int], strides: Sequence[int], places: Sequence[int],
    data_format: str | None,
) -> Tensor:  # fmt: skip
    layout = layout_or_default(data_format)
    with nodes_of_places(places, with_variable=False):
        return in_layout(locally_convolved(inputs, kernel, window, strides, places, layout), layout, len(window))


def resize_volumes(x: Tensor, depth_factor: int, height_factor: int, width_factor: int, data_format: str) -> Tensor:
    """The volumes, larger by whole factors.

    Args:
        x: the volumes, `[batch, depth, rows, columns, channels]`, whose sizes are known.
        depth_factor, height_factor, width_factor: how many times as deep, high and wide.
        data_format: "channels_last", or "channels_first" for channels before the spatial dimensions.

    Raises:
        ValueError: another layout.
    """
    if data_format not in ("channels_first", "channels_last"):
        raise ValueError("Invalid data_format: " + str(data_format))
    axis = 2 if data_format == "channels_first" else 1
    for offset, factor in enumerate((depth_factor, height_factor, width_factor)):
        x = repeat_elements(x, factor, axis + offset)
    return x
