"""The functions that pool: the greatest element or the mean of windows, in one, two or three dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from weft.framework.building.aliases import DTypeLike, Padding, Sizes, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.blocks import batch_to_space_nd, space_to_batch_nd
from weft.ops.array.shape_ops import expand_dims, shape, squeeze
from weft.ops.array.transposing import transpose
from weft.ops.input_scope import input_scope
from weft.ops.nn.conv import per_dimension
from weft.ops.nn.pool_op import (
    avg_pool3d_node,
    avg_pool_node,
    max_pool3d_node,
    max_pool_node,
    max_pool_with_argmax_node,
)
from weft.platform.logs.deprecation import deprecated_argument_lookup


def _pooled(
    node: Callable[..., Tensor], default: str, value: TensorLike | None, ksize: Sizes, strides: Sizes, padding: Padding,
    data_format: str | None, name: str | None, count: int = 2,
) -> Tensor:  # fmt: skip
    layout = ("NHWC" if count == 2 else "NDHWC") if data_format is None else data_format
    channel = 1 if layout.startswith("NC") else count + 1
    with input_scope(name, default, (value,)) as scope:
        return node(
            convert_to_tensor(value), ksize=per_dimension(ksize, count, channel, "ksize"),
            strides=per_dimension(strides, count, channel, "strides"), padding=padding, data_format=layout, name=scope,
        )  # fmt: skip


def max_pool(
    value: TensorLike, ksize: Sizes, strides: Sizes, padding: Padding, data_format: str | None = "NHWC",
    name: str | None = None, input: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """The greatest element of each window of images.

    Args:
        value: the images.
        ksize: the window's size: one number, two, or four in the order of the layout.
        strides: how far apart the windows are; as `ksize`.
        padding: "SAME" or "VALID".
        data_format: "NHWC" or "NCHW".
        name: the node's name.
        input: another name of `value`.

    Returns:
        A tensor of the type of `value`, [batch, height, width, channels] in the order of `data_format`.

    Raises:
        ValueError: the images are not of rank 4, the windows don't fit, or the padding or the layout is another.

    >>> tf.nn.max_pool(tf.ones([1, 4, 4, 3]), [1, 2, 2, 1], [1, 2, 2, 1], "VALID").shape
    TensorShape([Dimension(1), Dimension(2), Dimension(2), Dimension(3)])
    """
    return _pooled(
        max_pool_node,
        "MaxPool",
        deprecated_argument_lookup("input", input, "value", value),
        ksize,
        strides,
        padding,
        data_format,
        name,
    )


def avg_pool(
    value: TensorLike, ksize: Sizes, strides: Sizes, padding: Padding, data_format: str | None = "NHWC",
    name: str | None = None, input: TensorLike | None = None,
) -> Tensor:  # fmt: skip
    """The mean of each window of images, padding not counted; arguments as of max_pool.

    Args:
        value, input: two names of the [batch, height, width, channels] tensor of a floating dtype ([batch, channels, height,
            width] for NCHW).
        ksize: the size of a window in each dimension: an int, two, or a list of four.
        strides: how far it moves at a time, given as `ksize`.
        padding: 'SAME' or 'VALID'.
        data_format: 'NHWC' or 'NCHW'.

    Returns:
        [batch, out_height, out_width, channels] tensor of the same dtype.

    Raises:
        ValueError: the images are not of rank 4, the windows don't fit, or the padding or the layout is another.
    """
    return _pooled(
        avg_pool_node,
        "AvgPool",
        deprecated_argument_lookup("input", input, "value", value),
        ksize,
        strides,
        padding,
        data_format,
        name,
    )


def max_pool2d(
    input: TensorLike, ksize: Sizes, strides: Sizes, padding: Padding, data_format: str = "NHWC", name: str | None = None
) -> Tensor:
    """The greatest element of each window of images.

    Args:
        input: [batch, height, width, channels] tensor of a real dtype ([batch, channels, height, width] for NCHW).
        ksize: the size of a window in each dimension: an int, two, or a list of four.
        strides: how far it moves at a time, given as `ksize`.
        padding: 'SAME' or 'VALID'.
        data_format: 'NHWC' or 'NCHW'.

    Returns:
        [batch, out_height, out_width, channels] tensor of the same dtype.
    """
    return _pooled(max_pool_node, "MaxPool2d", input, ksize, strides, padding, data_format, name)


def max_pool3d(
    input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The greatest element of each window of volumes.

    Args: those of `tf.nn.avg_pool3d`.

    Returns:
        [batch, out_depth, out_height, out_width, channels] tensor of the same dtype.
    """
    return _pooled(max_pool3d_node, "MaxPool3D", input, ksize, strides, padding, data_format, name, 3)


def avg_pool3d(
    input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    data_format: str | None = "NDHWC",
    name: str | None = None,
) -> Tensor:
    """The mean of each window of volumes, padding not counted.

    Args:
        input: [batch, depth, height, width, channels] tensor of a floating dtype ([batch, channels, ...] for NCDHW).
        ksize: the size of a window in each dimension: an int, three, or a list of five.
        strides: how far it moves at a time, given as `ksize`.
        padding: 'SAME' or 'VALID'.
        data_format: 'NDHWC' or 'NCDHW'.

    Returns:
        [batch, out_depth, out_height, out_width, channels] tensor of the same dtype.
    """
    return _pooled(avg_pool3d_node, "AvgPool3D", input, ksize, strides, padding, data_format, name, 3)


def _pooled_rows(
    node: Callable[..., Tensor], default: str, input: TensorLike, ksize: Sizes, strides: Sizes, padding: Padding,
    data_format: str | None, name: str | None,
) -> Tensor:  # fmt: skip
    """Sequences as images of one row."""
    layout = "NWC" if data_format is None else data_format
    if layout not in ("NWC", "NCW"):
        raise ValueError('data_format must be "NWC" or "NCW".')
    channel, row = (1, 2) if layout == "NCW" else (2, 1)
    sizes, steps = (per_dimension(each, 1, channel, what) for each, what in ((ksize, "ksize"), (strides, "strides")))
    with input_scope(name, default, (input,)):
        made = node(
            expand_dims(convert_to_tensor(input), row), ksize=[*sizes[:row], 1, *sizes[row:]],
            strides=[*steps[:row], 1, *steps[row:]], padding=padding, data_format="NCHW" if row == 2 else "NHWC",
        )  # fmt: skip
        return squeeze(made, [row])


def max_pool1d(
    input: TensorLike, ksize: Sizes, strides: Sizes, padding: Padding, data_format: str = "NWC", name: str | None = None
) -> Tensor:
    """The greatest element of each window of sequences.

    Args: those of `tf.nn.avg_pool1d`.

    Returns:
        [batch, out_width, channels] tensor of the same dtype.
    """
    return _pooled_rows(max_pool_node, "MaxPool1d", input, ksize, strides, padding, data_format, name)


def avg_pool1d(
    input: TensorLike, ksize: Sizes, strides: Sizes, padding: Padding, data_format: str = "NWC", name: str | None = None
) -> Tensor:
    """The mean of each window of sequences, padding not counted.

    Args:
        input: [batch, width, channels] tensor of a floating dtype ([batch, channels, width] for NCW).
        ksize: the size of a window, an int.
        strides: how far it moves at a time, an int.
        padding: 'SAME' or 'VALID'.
        data_format: 'NWC' or 'NCW'.

    Returns:
        [batch, out_width, channels] tensor of the same dtype.
    """
    return _pooled_rows(avg_pool_node, "AvgPool1D", input, ksize, strides, padding, data_format, name)


def max_pool_with_argmax(
    input: TensorLike, ksize: Sizes, strides: Sizes, padding: Padding, data_format: str = "NHWC",
    Targmax: DTypeLike | None = None, name: str | None = None, output_dtype: DTypeLike | None = None,
    include_batch_in_index: bool = False,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """The greatest element of each window and its position, `(y * width + x) * channels + channel`.

    Args:
        input: [batch, height, width, channels] tensor of a real dtype.
        ksize: the size of a window in each dimension: an int, two, or a list of four.
        strides: how far it moves at a time, given as `ksize`.
        padding: 'SAME' or 'VALID'.
        data_format: must be 'NHWC'.
        Targmax, output_dtype: two names of the positions' dtype, int32 or int64 (the default).
        include_batch_in_index: whether positions count the images before, too.

    Returns:
        Two tensors, [batch, out_height, out_width, channels]: elements and positions.

    Raises:
        ValueError: the layout is not NHWC.
        TypeError: a size is no whole number.
    """
    if data_format != "NHWC":
        raise ValueError("data_format values other  than 'NHWC' are not supported")
    for key, size in (("ksize", ksize), ("strides", strides)):
        if size is None or isinstance(size, float):
            raise TypeError(f"Expected list for {key!r} argument to 'max_pool_with_argmax' Op, not {size!r}: [1, 2, 2, 1]")
    kind = deprecated_argument_lookup("output_dtype", output_dtype, "Targmax", Targmax)
    return max_pool_with_argmax_node(
        input, ksize=per_dimension(ksize, 2, 3, "ksize"), strides=per_dimension(strides, 2, 3, "strides"),
        padding=padding, Targmax=dtypes.int64 if kind is None else kind,
        include_batch_in_index=include_batch_in_index, name=name,
    )  # fmt: skip


def pool(
    input: TensorLike, window_shape: Sequence[int], pooling_type: str, padding: str, dilation_rate: Sequence[int] | None = None,
    strides: Sequence[int] | None = None, name: str | None = None, data_format: str | None = None,
    dilations: Sequence[int] | None = None,
) -> Tensor:  # fmt: skip
    """The greatest element ("MAX") or mean ("AVG") of each window of one, two or three dimensions.

    Args:
        input: [batch, *spatial, channels] tensor of a floating dtype ([batch, channels, *spatial] where `data_format` says
            so).
        window_shape: the size of a window in each spatial dimension.
        pooling_type: "MAX" or "AVG".
        padding: 'SAME' or 'VALID'.
        dilation_rate, dilations: two names of how far apart the elements of a window are in each spatial dimension; 1 when
            None.
        strides: how far it moves at a time in each spatial dimension; 1 when None.
        data_format: 'NWC', 'NHWC' or 'NDHWC', as when None; or 'NCW', 'NCHW' or 'NCDHW'.

    Returns:
        [batch, *out_spatial, channels] tensor of the same dtype.

    Raises:
        ValueError: the window has no such number of dimensions, the type is neither of the two, or there are gaps as well as
            strides.
    """
    rates = deprecated_argument_lookup("dilations", dilations, "dilation_rate", dilation_rate)
    functions: dict[tuple[str, int], Callable[..., Tensor]] = {
        ("MAX", 1): max_pool1d, ("MAX", 2): max_pool, ("MAX", 3): max_pool3d,
        ("AVG", 1): avg_pool1d, ("AVG", 2): avg_pool, ("AVG", 3): avg_pool3d,
    }  # fmt: skip
    count = len(window_shape)
    if not 1 <= count <= 3:
        raise ValueError(f"Input must have 1, 2 or 3 spatial dimensions; window_shape is {list(window_shape)}")
    if pooling_type not in ("MAX", "AVG"):
        raise ValueError(f"pooling_type must be MAX or AVG, not {pooling_type!r}")
    with input_scope(name, f"{pooling_type.lower()}_pool", (input,)) as scope:
        steps = list(strides) if strides is not None else [1] * count
        if len(steps) != count:
            raise ValueError(f"len(strides)={len(steps)} but should be {count}: one for each spatial dimension")
        layout = ("NWC", "NHWC", "NDHWC")[count - 1] if data_format is None else data_format
        function = functions[pooling_type, count]
        if rates is not None and max(rates) > 1:
            if max(steps) > 1:
                raise ValueError("strides > 1 not supported in conjunction with dilation_rate > 1")
            return _with_gaps(function, input, list(window_shape), list(rates), padding, layout)
        return function(input, list(window_shape), steps, padding, data_format=layout, name=scope)


def _with_gaps(
    function: Callable[..., Tensor], input: TensorLike, window: list[int], rates: list[int], padding: str, layout: str
) -> Tensor:
    """Windows whose elements are apart: what lies so far apart is brought together in the batch, and back afterwards."""
    count = len(window)
    is_last = layout.endswith("C")
    input = convert_to_tensor(input)
    plain = input if is_last else transpose(input, [0, *range(2, count + 2), 1])
    sizes = shape(plain)
    known = plain.get_shape().as_list()
    pads, crops = [], []
    for axis, (width, rate) in enumerate(zip(window, rates, strict=True)):
        margin = (width - 1) * rate if padding == "SAME" else 0
        before, after = margin // 2, margin - margin // 2
        size: Any = sizes[axis + 1] if known[axis + 1] is None else known[axis + 1]
        more = (rate - (size + margin) % rate) % rate
        pads.append([before, after + more])
        crops.append([0, more])
    dealt = space_to_batch_nd(plain, rates, pads)
    made = function(dealt, window, [1] * count, "VALID", data_format=("NWC", "NHWC", "NDHWC")[count - 1])
    result = batch_to_space_nd(made, rates, crops)
    return result if is_last else transpose(result, [0, count + 1, *range(1, count + 1)])


def _by_rank(
    functions: tuple[Any, Any, Any],
    input: TensorLike,
    ksize: Sizes,
    strides: Sizes,
    padding: Padding,
    data_format: str | None,
    name: str | None,
) -> Tensor:
    layouts = ("NWC", "NHWC", "NDHWC")
    input = convert_to_tensor(input)
    count = len(data_format) - 2 if data_format else (input.get_shape().ndims or 0) - 2
    if count not in (1, 2, 3):
        raise ValueError(
            f"Input tensor must be of rank 3, 4 or 5 but was {count + 2}. It has 1, 2 or 3 spatial dimensions; its shape is "
            f"{input.get_shape()}"
        )
    made: Tensor = functions[count - 1](
        input, ksize, strides, padding, data_format=data_format or layouts[count - 1], name=name
    )
    return made


def max_pool_v2(
    input: TensorLike, ksize: Sizes, strides: Sizes, padding: Padding, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """The greatest element of each window of sequences, images or volumes, as the rank says; arguments as of `max_pool`.

    Args: those of `tf.nn.avg_pool_v2`.

    Returns:
        [batch, *out_spatial, channels] tensor of the same dtype.
    """
    return _by_rank((max_pool1d, max_pool, max_pool3d), input, ksize, strides, padding, data_format, name)


def avg_pool_v2(
    input: TensorLike, ksize: Sizes, strides: Sizes, padding: Padding, data_format: str | None = None, name: str | None = None
) -> Tensor:
    """The mean of each window of sequences, images or volumes, as the rank says; arguments as of `avg_pool`.

    Args:
        input: [batch, *spatial, channels] tensor of a floating dtype, of rank 3, 4 or 5.
        ksize: the size of a window: an int, or one for each spatial dimension.
        strides: how far it moves at a time, given as `ksize`.
        padding: 'SAME' or 'VALID'.
        data_format: 'NWC', 'NHWC' or 'NDHWC', as when None; or the one with the channels second.

    Returns:
        [batch, *out_spatial, channels] tensor of the same dtype.
    """
    return _by_rank((avg_pool1d, avg_pool, avg_pool3d), input, ksize, strides, padding, data_format, name)
