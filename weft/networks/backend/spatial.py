"""tf.keras.backend's functions of sequences and images: convolutions, pooling, borders, repeats and sizes."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Nest, Sizes, TensorLike
from weft.framework.nodes.operation import Tensor
from weft.models.layers.conv_arguments import padding_of, per_axis
from weft.networks.layers.spatial.borders import UpSampling2D
from weft.networks.layers.spatial.layouts import in_layout, with_channels_last
from weft.networks.state.defaults import layout_or_default
from weft.ops.array.padding import pad
from weft.ops.array.shape_ops import expand_dims
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import reverse as reversed_along
from weft.ops.array.tiling import tile
from weft.ops.nn.convolution import convolution
from weft.ops.nn.pool import pool


def _convolved(
    x: Tensor, kernel: Tensor, strides: Sizes, padding: str, data_format: str | None, dilation_rate: Sizes, rank: int
) -> Tensor:
    layout = layout_or_default(data_format)
    how = padding_of(padding).upper()
    inputs = with_channels_last(x, layout, rank)
    apart = per_axis(dilation_rate, rank, "dilation_rate")
    made: Tensor = convolution(inputs, kernel, how, per_axis(strides, rank, "strides"), apart)
    return in_layout(made, layout, rank)


def conv1d(
    x: Tensor, kernel: Tensor, strides: Sizes = 1, padding: str = "valid", data_format: str | None = None,
    dilation_rate: Sizes = 1,
) -> Tensor:  # fmt: skip
    """The convolution of sequences, `[batch, steps, channels] -> [batch, new steps, filters]`.

    A causal one sees zeros before the first step.

    Args:
        x: the sequences, of a floating dtype.
        kernel: `[size, channels, filters]`, of the same dtype.
        strides: how many steps the window moves.
        padding: "valid", "same" or "causal".
        data_format: "channels_last", or "channels_first" for `[batch, channels, steps]`; `image_data_format()` when None.
        dilation_rate: the distance of the kernel's elements.

    Raises:
        ValueError: causal padding with channels first.
    """
    if padding == "causal":
        if layout_or_default(data_format) != "channels_last":
            raise ValueError("conv1d: causal padding is for channels_last")
        reach = per_axis(dilation_rate, 1, "dilation_rate")[0] * (int(kernel.shape.as_list()[0] or 1) - 1)
        x, padding = temporal_padding(x, (reach, 0)), "valid"
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate, 1)


def conv2d(
    x: Tensor, kernel: Tensor, strides: Sizes = (1, 1), padding: str = "valid", data_format: str | None = None,
    dilation_rate: Sizes = (1, 1),
) -> Tensor:  # fmt: skip
    """The convolution of images, `[batch, rows, columns, channels] -> [batch, new rows, new columns, filters]`.

    Args:
        x: the images, of a floating dtype.
        kernel: `[rows, columns, channels, filters]`, of the same dtype.
        strides: how far the window moves, a number or one for each spatial dimension.
        padding: "valid" or "same".
        data_format: "channels_last", or "channels_first" for channels before the rest; `image_data_format()` when None.
        dilation_rate: the distance of the kernel's elements, a number or one for each spatial dimension.
    """
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate, 2)


def conv3d(
    x: Tensor, kernel: Tensor, strides: Sizes = (1, 1, 1), padding: str = "valid", data_format: str | None = None,
    dilation_rate: Sizes = (1, 1, 1),
) -> Tensor:  # fmt: skip
    """The convolution of volumes, `[batch, depth, rows, columns, channels] -> [batch, ..., filters]`.

    Args:
        x: the volumes, of a floating dtype.
        kernel: `[depth, rows, columns, channels, filters]`, of the same dtype.
        strides: how far the window moves, a number or one for each spatial dimension.
        padding: "valid" or "same".
        data_format: "channels_last", or "channels_first" for channels before the rest; `image_data_format()` when None.
        dilation_rate: the distance of the kernel's elements, a number or one for each spatial dimension.
    """
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate, 3)


def _pooled(
    x: Tensor, pool_size: Sizes, strides: Sizes, padding: str, data_format: str | None, pool_mode: str, rank: int
) -> Tensor:
    if pool_mode not in ("max", "avg"):
        raise ValueError("Invalid pooling mode: " + str(pool_mode))
    layout = layout_or_default(data_format)
    inputs = with_channels_last(x, layout, rank)
    window, steps = per_axis(pool_size, rank, "pool_size"), per_axis(strides, rank, "strides")
    made: Tensor = pool(inputs, window, pool_mode.upper(), padding_of(padding).upper(), strides=steps)
    return in_layout(made, layout, rank)


def pool2d(
    x: Tensor, pool_size: Sizes, strides: Sizes = (1, 1), padding: str = "valid", data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:  # fmt: skip
    """The greatest or the mean of each window of images.

    Args:
        x: the images, `[batch, rows, columns, channels]` of a floating dtype.
        pool_size: the window's size, a number or one for each spatial dimension.
        strides: how far the window moves, likewise.
        padding: "valid" or "same".
        data_format: "channels_last", or "channels_first" for channels before the rest; `image_data_format()` when None.
        pool_mode: "max" or "avg".
    """
    return _pooled(x, pool_size, strides, padding, data_format, pool_mode, 2)


def pool3d(
    x: Tensor, pool_size: Sizes, strides: Sizes = (1, 1, 1), padding: str = "valid", data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:  # fmt: skip
    """The greatest or the mean of each window of volumes.

    Args: those of `tf.keras.backend.pool2d`.
    """
    return _pooled(x, pool_size, strides, padding, data_format, pool_mode, 3)


def temporal_padding(x: Tensor, padding: tuple[int, int] = (1, 1)) -> Tensor:
    """Zeros before and after the steps of sequences, `[batch, steps, channels]`.

    Args:
        x: the sequences.
        padding: how many before, and how many after.
    """
    return pad(x, [[0, 0], list(padding), [0, 0]])


def spatial_2d_padding(x: Tensor, padding: Nest = ((1, 1), (1, 1)), data_format: str | None = None) -> Tensor:
    """Zeros around images.

    Args:
        x: the images, `[batch, rows, columns, channels]`.
        padding: how many before and after, a pair for the rows and a pair for the columns.
        data_format: "channels_last", or "channels_first" for channels before the rest; `image_data_format()` when None.
    """
    inner = [list(each) for each in padding]
    last = layout_or_default(data_format) == "channels_last"
    return pad(x, [[0, 0], *inner, [0, 0]] if last else [[0, 0], [0, 0], *inner])


def spatial_3d_padding(x: Tensor, padding: Nest = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None) -> Tensor:
    """Zeros around volumes.

    Args:
        x: the volumes, `[batch, depth, rows, columns, channels]`.
        padding: how many before and after, a pair for each spatial dimension.
        data_format: "channels_last", or "channels_first" for channels before the rest; `image_data_format()` when None.
    """
    return spatial_2d_padding(x, padding, data_format)


def resize_images(x: Tensor, height_factor: int, width_factor: int, data_format: str, interpolation: str = "nearest") -> Tensor:
    """The images, larger by whole factors.

    Args:
        x: the images, `[batch, rows, columns, channels]`.
        height_factor, width_factor: how many times as high and as wide.
        data_format: "channels_last", or "channels_first" for channels before the spatial dimensions.
        interpolation: "nearest" or "bilinear".
    """
    layer = UpSampling2D((height_factor, width_factor), layout_or_default(data_format), interpolation)
    made: Tensor = layer.call(x)
    return made


def repeat(x: Tensor, n: TensorLike) -> Tensor:
    """`[batch, depth] -> [batch, n, depth]`: each row again and again.

    Args:
        x: a matrix.
        n: how many times, an int or a scalar that only a run tells.

    Returns:
        The rows, in a new dimension in the middle.

    Raises:
        ValueError: `x` has another rank than 2.
    """
    if x.shape.ndims != 2:
        raise ValueError(f"repeat: x is [batch, depth], but has {x.shape.ndims} dimensions")
    return tile(expand_dims(x, 1), stack([1, n, 1]))


def reverse(x: Tensor, axes: Nest) -> Tensor:
    """The tensor with its elements along axes in the other order.

    Args:
        x: a tensor.
        axes: one dimension or a list of them.
    """
    return reversed_along(x, [axes] if isinstance(axes, int | np.integer) else list(axes))
