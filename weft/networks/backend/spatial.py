"""tf.keras.backend's functions of sequences and images: convolutions, pooling, borders, repeats and sizes."""

from __future__ import annotations

import numpy as np

from weft.framework.aliases import Nest, Sizes
from weft.framework.operation import Tensor
from weft.models.layers import conv
from weft.networks.layers.spatial.borders import UpSampling2D
from weft.networks.state.defaults import layout_or_default
from weft.ops.array.joining import concat, split
from weft.ops.array.padding import pad
from weft.ops.array.stacking import stack
from weft.ops.array.tiling import reverse as reversed_along
from weft.ops.array.transposing import transpose
from weft.ops.nn.convolution import convolution
from weft.ops.nn.pool import pool


def _convolved(
    x: Tensor, kernel: Tensor, strides: Sizes, padding: str, data_format: str | None, dilation_rate: Sizes, rank: int
) -> Tensor:
    layout = layout_or_default(data_format)
    how = conv.padding_of(padding).upper()
    first = layout == "channels_first"
    inputs = transpose(x, [0, *range(2, rank + 2), 1]) if first else x
    apart = conv.per_axis(dilation_rate, rank, "dilation_rate")
    made: Tensor = convolution(inputs, kernel, how, conv.per_axis(strides, rank, "strides"), apart)
    return transpose(made, [0, rank + 1, *range(1, rank + 1)]) if first else made


def conv1d(
    x: Tensor, kernel: Tensor, strides: Sizes = 1, padding: str = "valid", data_format: str | None = None,
    dilation_rate: Sizes = 1,
) -> Tensor:  # fmt: skip
    """The convolution of sequences; a causal one sees zeros before the first step."""
    if padding == "causal":
        if layout_or_default(data_format) != "channels_last":
            raise ValueError("conv1d: causal padding is for channels_last")
        reach = conv.per_axis(dilation_rate, 1, "dilation_rate")[0] * (int(kernel.shape.as_list()[0] or 1) - 1)
        x, padding = temporal_padding(x, (reach, 0)), "valid"
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate, 1)


def conv2d(
    x: Tensor, kernel: Tensor, strides: Sizes = (1, 1), padding: str = "valid", data_format: str | None = None,
    dilation_rate: Sizes = (1, 1),
) -> Tensor:  # fmt: skip
    """The convolution of images."""
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate, 2)


def conv3d(
    x: Tensor, kernel: Tensor, strides: Sizes = (1, 1, 1), padding: str = "valid", data_format: str | None = None,
    dilation_rate: Sizes = (1, 1, 1),
) -> Tensor:  # fmt: skip
    """The convolution of volumes."""
    return _convolved(x, kernel, strides, padding, data_format, dilation_rate, 3)


def _pooled(
    x: Tensor, pool_size: Sizes, strides: Sizes, padding: str, data_format: str | None, pool_mode: str, rank: int
) -> Tensor:
    if pool_mode not in ("max", "avg"):
        raise ValueError("Invalid pooling mode: " + str(pool_mode))
    first = layout_or_default(data_format) == "channels_first"
    inputs = transpose(x, [0, *range(2, rank + 2), 1]) if first else x
    window, steps = conv.per_axis(pool_size, rank, "pool_size"), conv.per_axis(strides, rank, "strides")
    made: Tensor = pool(inputs, window, pool_mode.upper(), conv.padding_of(padding).upper(), strides=steps)
    return transpose(made, [0, rank + 1, *range(1, rank + 1)]) if first else made


def pool2d(
    x: Tensor, pool_size: Sizes, strides: Sizes = (1, 1), padding: str = "valid", data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:  # fmt: skip
    """The greatest or the mean of each window of images."""
    return _pooled(x, pool_size, strides, padding, data_format, pool_mode, 2)


def pool3d(
    x: Tensor, pool_size: Sizes, strides: Sizes = (1, 1, 1), padding: str = "valid", data_format: str | None = None,
    pool_mode: str = "max",
) -> Tensor:  # fmt: skip
    """The greatest or the mean of each window of volumes."""
    return _pooled(x, pool_size, strides, padding, data_format, pool_mode, 3)


def temporal_padding(x: Tensor, padding: tuple[int, int] = (1, 1)) -> Tensor:
    """Zeros before and after the steps of sequences."""
    return pad(x, [[0, 0], list(padding), [0, 0]])


def spatial_2d_padding(x: Tensor, padding: Nest = ((1, 1), (1, 1)), data_format: str | None = None) -> Tensor:
    """Zeros around images."""
    inner = [list(each) for each in padding]
    last = layout_or_default(data_format) == "channels_last"
    return pad(x, [[0, 0], *inner, [0, 0]] if last else [[0, 0], [0, 0], *inner])


def spatial_3d_padding(x: Tensor, padding: Nest = ((1, 1), (1, 1), (1, 1)), data_format: str | None = None) -> Tensor:
    """Zeros around volumes."""
    return spatial_2d_padding(x, padding, data_format)


def resize_images(x: Tensor, height_factor: int, width_factor: int, data_format: str, interpolation: str = "nearest") -> Tensor:
    """Images that are larger by whole factors."""
    layer = UpSampling2D((height_factor, width_factor), layout_or_default(data_format), interpolation)
    made: Tensor = layer.call(x)
    return made


def repeat(x: Tensor, n: int) -> Tensor:
    """`[batch, depth] -> [batch, n, depth]`: each row again and again."""
    if x.shape.ndims != 2:
        raise ValueError(f"repeat: x is [batch, depth], but has {x.shape.ndims} dimensions")
    return stack([x] * n, axis=1)


def repeat_elements(x: Tensor, rep: int, axis: int) -> Tensor:
    """Each slice along an axis of known size, several times."""
    count = x.shape.as_list()[axis]
    if count is None:
        raise ValueError(f"repeat_elements: the size along axis {axis} of {x.name} must be known; it is {x.shape}")
    return concat([each for part in split(x, count, axis=axis) for each in [part] * rep], axis=axis)


def reverse(x: Tensor, axes: Nest) -> Tensor:
    """The elements along axes in the other order."""
    return reversed_along(x, [axes] if isinstance(axes, int | np.integer) else list(axes))
