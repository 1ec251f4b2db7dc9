"""Pooling as nodes: MaxPool and AvgPool of images and volumes, their gradients, and the maximum with its position."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result
from weft.framework.nodes.constant_value import constant_shape, constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims, merge_dims
from weft.framework.types.dtypes import DType
from weft.ops.array.filling import zeros_like
from weft.ops.array.shape_ops import INDEX, shape_internal
from weft.ops.declaration import op
from weft.ops.math.elementwise import FLOATS, REAL
from weft.ops.nn import pooling as pooling
from weft.ops.nn.window import LAYOUTS_2D, LAYOUTS_3D, PADDINGS, Window, check_rank, check_window_attrs, output_size, place
from weft.ops.size_checks import check_size

_PACKED_LAYOUTS: Final = (*LAYOUTS_2D, "NCHW_VECT_C")
_SIZES_2D: Final = {"ksize": 4, "strides": 4}
_LIMITS_2D: Final[dict[str, int | tuple[str, ...]]] = {**_SIZES_2D, "data_format": LAYOUTS_2D}
_LIMITS_3D: Final[dict[str, int | tuple[str, ...]]] = {"ksize": 5, "strides": 5, "data_format": LAYOUTS_3D}
_MAX_TYPES: Final = tuple(dtype for dtype in REAL if dtype not in (dtypes.uint32, dtypes.uint64))
_HALF_TO_SINGLE: Final = (dtypes.float16, dtypes.bfloat16, dtypes.float32)


def _checked_rank(node: Operation) -> int:
    return check_window_attrs(node.type, node.attrs, LAYOUTS_3D if "3D" in node.type else LAYOUTS_2D)


def _pooled_dims(node: Operation, size: Array, strides: Array) -> Dims:
    rank = _checked_rank(node)
    dims = node.inputs[0].dims
    if node.attrs["padding"] == "EXPLICIT" and len(node.attrs.get("explicit_paddings") or ()) != 2 * rank:
        count = len(node.attrs.get("explicit_paddings") or ())
        raise ValueError(f"explicit_paddings attribute must contain {2 * rank} values, but got: {count}")
    check_rank(dims, rank)
    if dims is None or size is None or strides is None:
        return (None,) * rank
    pairs = node.attrs.get("explicit_paddings") or (0,) * (2 * rank)
    return tuple(
        count
        if size[i] == strides[i] == 1 and not any(pairs[2 * i : 2 * i + 2])
        else output_size(count, size[i], strides[i], node.attrs["padding"], 1, pairs[2 * i] + pairs[2 * i + 1])
        for i, count in enumerate(dims)
    )


def _pooled(node: Operation) -> list[Dims]:
    return [_pooled_dims(node, node.attrs["ksize"], node.attrs["strides"])] * len(node.outputs)


def _pooled_again(node: Operation) -> list[Dims]:
    """The shape of a second gradient, which is that of the pooled output and of the gradient that comes in."""
    (dims,) = _pooled(node)
    merge_dims(node.inputs[0].dims, node.inputs[2].dims)
    return [merge_dims(dims, node.inputs[1].dims)]


def _pooled_v2(node: Operation) -> list[Dims]:
    size, strides = (constant_value(tensor) for tensor in node.inputs[1:])
    rank = len(node.attrs["data_format"])
    for tensor in node.inputs[1:]:
        check_size(tensor, 0, rank)
    for name, values in (("Stride", strides), ("Window size", size)):
        if values is not None and values.min() <= 0:
            raise ValueError(f"{name} must be > 0, but got {values.min()}")
    return [_pooled_dims(node, size, strides)]


def _like_input(node: Operation) -> list[Dims]:
    rank = _checked_rank(node)
    check_rank(dims := node.inputs[0].dims, rank)
    return [(None,) * rank if dims is None else dims]


def _from_shape(node: Operation) -> list[Dims]:
    rank = _checked_rank(node)
    known = constant_shape(node.inputs[0])
    check_rank(known, rank)
    return [(None,) * rank if known is None else known]


def _window(shape: Array, ksize: Array, strides: Array, padding: str, explicit: Sequence[int] = ()) -> Window:
    sizes = [int(size) for size in shape]
    return place(sizes, [int(k) for k in ksize], [int(s) for s in strides], padding, None, explicit)


def _attrs(node: Operation, *left_out: str) -> dict[str, Any]:
    return {key: node.attrs[key] for key in node.op_def.kernel_attrs if key not in left_out}


# The maximum of images.


def _max_pool_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [max_pool_grad(node.inputs[0], node.outputs[0], grad, **_attrs(node))]


@op("MaxPool", "input: T -> output: T", infer=_pooled, types={"T": _MAX_TYPES}, defaults={"T": dtypes.float32},
    gradient=_max_pool_gradient, limits={**_LIMITS_2D, "padding": PADDINGS, "data_format": _PACKED_LAYOUTS})  # fmt: skip
def max_pool_node(
    xp: ArrayModule, input: Array, *, ksize: list[int], strides: list[int], padding: str,
    explicit_paddings: Sequence[int] = (), data_format: str = "NHWC",
) -> Result:  # fmt: skip
    """The greatest element of each window.

    `[batch, height, width, channels] -> [batch, out_height, out_width, channels]`
    """
    return pooling.greatest(xp, input, _window(input.shape, ksize, strides, padding, explicit_paddings))


def _max_pool_v2_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, size, strides = node.inputs
    return [max_pool_grad_v2(x, node.outputs[0], grad, size, strides, **_attrs(node)), None, None]


@op("MaxPoolV2", "input: T, ksize: int32, strides: int32 -> output: T",
    ranks={"ksize": 1, "strides": 1}, infer=_pooled_v2, types={"T": _MAX_TYPES}, limits={"data_format": _PACKED_LAYOUTS},
    defaults={"T": dtypes.float32}, static=("ksize", "strides"), gradient=_max_pool_v2_gradient)  # fmt: skip
def max_pool_v2_node(
    xp: ArrayModule, input: Array, ksize: Array, strides: Array, *, padding: str, data_format: str = "NHWC"
) -> Result:
    """The greatest element of each window; the window's size is an input.

    `[batch, height, width, channels], [4] int32, [4] int32 -> [batch, out_height, out_width, channels]`
    """
    return pooling.greatest(xp, input, _window(input.shape, ksize, strides, padding))


def _max_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, made = node.inputs[:2]
    second = max_pool_grad_grad if "3D" not in node.type else max_pool3d_grad_grad
    return [zeros_like(x), zeros_like(made), second(x, made, grad, **_attrs(node, "explicit_paddings", "TInput"))]


@op("MaxPoolGrad", "orig_input: T, orig_output: T, grad: T -> output: T", infer=_like_input, types={"T": REAL},
    defaults={"T": dtypes.float32}, gradient=_max_grad_gradient, limits={**_LIMITS_2D, "padding": PADDINGS})  # fmt: skip
def max_pool_grad(
    xp: ArrayModule, orig_input: Array, orig_output: Array, grad: Array, *, ksize: list[int], strides: list[int],
    padding: str, explicit_paddings: Sequence[int] = (), data_format: str = "NHWC",
) -> Result:  # fmt: skip
    """The gradient of MaxPool: all of it goes to the first greatest element of a window.

    `[batch, height, width, channels], [batch, out_height, out_width, channels], [batch, out_height, out_width,
    channels] -> [batch, height, width, channels]`
    """
    window = _window(orig_input.shape, ksize, strides, padding, explicit_paddings)
    return pooling.greatest_gradient(xp, orig_input, orig_output, grad, window)


def _by_the_other_v2(node: Operation, grad: Tensor, other: Callable[..., Tensor]) -> Gradients:
    """The gradient of MaxPoolGradV2, which is MaxPoolGradGradV2, or the other way round."""
    x, made, _, size, strides = node.inputs
    return [zeros_like(x), zeros_like(made), other(x, made, grad, size, strides, **_attrs(node)), None, None]


def _max_grad_v2_gradient(node: Operation, grad: Tensor) -> Gradients:
    return _by_the_other_v2(node, grad, max_pool_grad_grad_v2)


@op("MaxPoolGradV2", "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T",
    infer=_like_input, types={"T": REAL}, defaults={"T": dtypes.float32}, static=("ksize", "strides"),
    gradient=_max_grad_v2_gradient, limits={"data_format": LAYOUTS_2D})  # fmt: skip
def max_pool_grad_v2(
    xp: ArrayModule, orig_input: Array, orig_output: Array, grad: Array, ksize: Array, strides: Array, *, padding: str,
    data_format: str = "NHWC",
) -> Result:  # fmt: skip
    """The gradient of MaxPoolV2.

    `[batch, height, width, channels], [batch, out_height, out_width, channels], [batch, out_height, out_width,
    channels], [4] int32, [4] int32 -> [batch, height, width, channels]`
    """
    window = _window(orig_input.shape, ksize, strides, padding)
    return pooling.greatest_gradient(xp, orig_input, orig_output, grad, window)


def _max_grad_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, made = node.inputs[:2]
    first = max_pool_grad if "3D" not in node.type else max_pool3d_grad
    return [zeros_like(x), zeros_like(made), first(x, made, grad, **_attrs(node))]


@op("MaxPoolGradGrad", "orig_input: T, orig_output: T, grad: T -> output: T", types={"T": REAL},
    infer=_pooled_again, gradient=_max_grad_grad_gradient, limits=_LIMITS_2D)  # fmt: skip
def max_pool_grad_grad(
    xp: ArrayModule, orig_input: Array, orig_output: Array, grad: Array, *, ksize: list[int], strides: list[int], padding: str,
    data_format: str = "NHWC",
) -> Result:  # fmt: skip
    """The gradient of MaxPoolGrad for its third input.

    `[batch, height, width, channels], [batch, out_height, out_width, channels], [batch, height, width,
    channels] -> [batch, out_height, out_width, channels]`
    """
    window = _window(orig_input.shape, ksize, strides, padding)
    return pooling.greatest_second_gradient(xp, orig_input, orig_output, grad, window)


def _pooled_again_v2(node: Operation) -> list[Dims]:
    size, strides = (constant_value(tensor) for tensor in node.inputs[3:])
    merge_dims(node.inputs[0].dims, node.inputs[2].dims)
    return [merge_dims(_pooled_dims(node, size, strides), node.inputs[1].dims)]


def _max_grad_grad_v2_gradient(node: Operation, grad: Tensor) -> Gradients:
    return _by_the_other_v2(node, grad, max_pool_grad_v2)


@op("MaxPoolGradGradV2", "orig_input: T, orig_output: T, grad: T, ksize: int32, strides: int32 -> output: T",
    infer=_pooled_again_v2, types={"T": REAL}, static=("ksize", "strides"), gradient=_max_grad_grad_v2_gradient,
    ranks={"ksize": 1, "strides": 1}, limits={"data_format": LAYOUTS_2D})  # fmt: skip
def max_pool_grad_grad_v2(
    xp: ArrayModule, orig_input: Array, orig_output: Array, grad: Array, ksize: Array, strides: Array, *, padding: str,
    data_format: str = "NHWC",
) -> Result:  # fmt: skip
    """The gradient of MaxPoolGradV2 for its third input.

    `[batch, height, width, channels], [batch, out_height, out_width, channels], [batch, height, width,
    channels], [4] int32, [4] int32 -> [batch, out_height, out_width, channels]`
    """
    window = _window(orig_input.shape, ksize, strides, padding)
    return pooling.greatest_second_gradient(xp, orig_input, orig_output, grad, window)


# The maximum of volumes.


def _max_pool3d_gradient(node: Operation, grad: Tensor) -> Gradients:
    return [max_pool3d_grad(node.inputs[0], node.outputs[0], grad, **_attrs(node))]


@op("MaxPool3D", "input: T -> output: T", infer=_pooled, types={"T": _HALF_TO_SINGLE},
    gradient=_max_pool3d_gradient, limits=_LIMITS_3D)  # fmt: skip
def max_pool3d_node(
    xp: ArrayModule, input: Array, *, ksize: list[int], strides: list[int], padding: str, data_format: str = "NDHWC"
) -> Result:
    """The greatest element of each window.

    `[batch, depth, height, width, channels] -> [batch, out_depth, out_height, out_width, channels]`
    """
    return pooling.greatest(xp, input, _window(input.shape, ksize, strides, padding))


@op("MaxPool3DGrad", "orig_input: TInput, orig_output: TInput, grad: T -> output: T", infer=_like_input,
    types={"T": _HALF_TO_SINGLE, "TInput": _HALF_TO_SINGLE}, gradient=_max_grad_gradient,
    defaults={"T": dtypes.float32, "TInput": dtypes.float32}, limits=_LIMITS_3D)  # fmt: skip
def max_pool3d_grad(
    xp: ArrayModule,
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    data_format: str = "NDHWC",
) -> Result:
    """The gradient of MaxPool3D.

    `[batch, depth, height, width, channels], [batch, out_depth, out_height, out_width, channels], [batch,
    out_depth, out_height, out_width, channels] -> [batch, depth, height, width, channels]`
    """
    window = _window(orig_input.shape, ksize, strides, padding)
    return pooling.greatest_gradient(xp, orig_input, orig_output, grad, window)


@op("MaxPool3DGradGrad", "orig_input: T, orig_output: T, grad: T -> output: T", types={"T": REAL},
    infer=_pooled_again, gradient=_max_grad_grad_gradient, limits=_LIMITS_3D)  # fmt: skip
def max_pool3d_grad_grad(
    xp: ArrayModule,
    orig_input: Array,
    orig_output: Array,
    grad: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    data_format: str = "NDHWC",
) -> Result:
    """The gradient of MaxPool3DGrad for its third input.

    `[batch, depth, height, width, channels], [batch, out_depth, out_height, out_width, channels], [batch,
    depth, height, width, channels] -> [batch, out_depth, out_height, out_width, channels]`
    """
    window = _window(orig_input.shape, ksize, strides, padding)
    return pooling.greatest_second_gradient(xp, orig_input, orig_output, grad, window)


# The mean.


def _mean_gradient(node: Operation, grad: Tensor) -> Gradients:
    back = avg_pool3d_grad if "3D" in node.type else avg_pool_grad
    return [back(shape_internal(node.inputs[0]), grad, **_attrs(node))]


def _mean_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    forward = avg_pool3d_node if "3D" in node.type else avg_pool_node
    return [None, forward(grad, **_attrs(node))]


@op("AvgPool", "value: T -> output: T", infer=_pooled, gradient=_mean_gradient, types={"T": FLOATS}, limits=_LIMITS_2D)
def avg_pool_node(
    xp: ArrayModule, value: Array, *, ksize: list[int], strides: list[int], padding: str, data_format: str = "NHWC"
) -> Result:
    """The mean of each window; padding does not count.

    `[batch, height, width, channels] -> [batch, out_height, out_width, channels]`
    """
    return pooling.mean(xp, value, _window(value.shape, ksize, strides, padding))


@op("AvgPoolGrad", "orig_input_shape: int32, grad: T -> output: T",
    ranks={"orig_input_shape": 1}, infer=_from_shape, gradient=_mean_grad_gradient,
    static=("orig_input_shape",), types={"T": FLOATS}, limits=_LIMITS_2D)  # fmt: skip
def avg_pool_grad(
    xp: ArrayModule,
    orig_input_shape: Array,
    grad: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    data_format: str = "NHWC",
) -> Result:
    """The gradient of AvgPool.

    `[4] int32, [batch, out_height, out_width, channels] -> [batch, height, width, channels]`
    """
    shape = [int(size) for size in orig_input_shape]
    return pooling.mean_gradient(xp, shape, grad, _window(shape, ksize, strides, padding))


@op("AvgPool3D", "input: T -> output: T", infer=_pooled, gradient=_mean_gradient, types={"T": FLOATS}, limits=_LIMITS_3D)
def avg_pool3d_node(
    xp: ArrayModule, input: Array, *, ksize: list[int], strides: list[int], padding: str, data_format: str = "NDHWC"
) -> Result:
    """The mean of each window; padding does not count.

    `[batch, depth, height, width, channels] -> [batch, out_depth, out_height, out_width, channels]`
    """
    return pooling.mean(xp, input, _window(input.shape, ksize, strides, padding))


@op("AvgPool3DGrad", "orig_input_shape: int32, grad: T -> output: T",
    ranks={"orig_input_shape": 1}, infer=_from_shape, gradient=_mean_grad_gradient,
    static=("orig_input_shape",), types={"T": FLOATS}, limits=_LIMITS_3D)  # fmt: skip
def avg_pool3d_grad(
    xp: ArrayModule,
    orig_input_shape: Array,
    grad: Array,
    *,
    ksize: list[int],
    strides: list[int],
    padding: str,
    data_format: str = "NDHWC",
) -> Result:
    """The gradient of AvgPool3D.

    `[5] int32, [batch, out_depth, out_height, out_width, channels] -> [batch, depth, height, width, channels]`
    """
    shape = [int(size) for size in orig_input_shape]
    return pooling.mean_gradient(xp, shape, grad, _window(shape, ksize, strides, padding))


# The maximum and its position.


def _argmax_gradient(node: Operation, grad: Tensor, position_grad: Tensor) -> Gradients:
    if grad is None:
        return [None]
    return [max_pool_grad_with_argmax(node.inputs[0], grad, node.outputs[1], **_attrs(node))]


@op("MaxPoolWithArgmax", "input: T -> output: T, argmax: Targmax", infer=_pooled, gradient=_argmax_gradient,
    types={"T": REAL, "Targmax": INDEX}, limits=_SIZES_2D)  # fmt: skip
def max_pool_with_argmax_node(
    xp: ArrayModule, input: Array, *, ksize: list[int], strides: list[int], Targmax: DType = dtypes.int64,
    padding: str, include_batch_in_index: bool = False,
) -> tuple[Result, Result]:  # fmt: skip
    """The greatest element of each window and its position in the flat image (or batch).

    `[batch, height, width, channels] -> [batch, out_height, out_width, channels], [batch, out_height,
    out_width, channels]`
    """
    window = _window(input.shape, ksize, strides, padding)
    made = pooling.greatest(xp, input, window)
    return made, pooling.greatest_position(xp, input, made, window, include_batch_in_index)


def _argmax_grad_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, _, argmax = node.inputs
    return [zeros_like(x), max_pool_grad_grad_with_argmax(x, grad, argmax, **_attrs(node)), None]


def _flat_positions(shape: Array, argmax: Array, with_batch: bool) -> Array:
    """The positions in the whole flat batch."""
    if with_batch:
        return argmax.reshape(-1)
    image = int(np.prod(shape[1:]))
    starts = (np.arange(shape[0]) * image).astype(argmax.dtype).reshape(-1, 1, 1, 1)
    return (argmax + starts).reshape(-1)


@op("MaxPoolGradWithArgmax", "input: T, grad: T, argmax: Targmax -> output: T", infer=_like_input,
    gradient=_argmax_grad_gradient, types={"T": REAL, "Targmax": INDEX}, limits=_SIZES_2D)  # fmt: skip
def max_pool_grad_with_argmax(
    xp: ArrayModule, input: Array, grad: Array, argmax: Array, *, ksize: list[int], strides: list[int], padding: str,
    include_batch_in_index: bool = False, Targmax: DType,
) -> Result:  # fmt: skip
    """The gradient of MaxPoolWithArgmax.

    `[batch, height, width, channels], [batch, out_height, out_width, channels], [batch, out_height, out_width,
    channels] -> [batch, height, width, channels]`
    """
    positions = _flat_positions(input.shape, argmax, include_batch_in_index)
    if xp is np:
        flat = np.zeros(input.size, grad.dtype)
        np.add.at(flat, positions, grad.reshape(-1))
    else:
        flat = xp.zeros(input.size, grad.dtype).at[positions].add(grad.reshape(-1))
    return flat.reshape(input.shape)


def _argmax_second_shape(node: Operation) -> list[Dims]:
    return [merge_dims(_pooled(node)[0], node.inputs[2].dims)]


def _argmax_second_gradient(node: Operation, grad: Tensor) -> Gradients:
    x, _, argmax = node.inputs
    return [zeros_like(x), max_pool_grad_with_argmax(x, grad, argmax, **_attrs(node)), None]


@op("MaxPoolGradGradWithArgmax", "input: T, grad: T, argmax: Targmax -> output: T", infer=_argmax_second_shape,
    gradient=_argmax_second_gradient, types={"T": REAL, "Targmax": INDEX}, limits=_SIZES_2D)  # fmt: skip
def max_pool_grad_grad_with_argmax(
    xp: ArrayModule, input: Array, grad: Array, argmax: Array, *, ksize: list[int], strides: list[int], padding: str,
    include_batch_in_index: bool = False, Targmax: DType,
) -> Result:  # fmt: skip
    """The gradient of MaxPoolGradWithArgmax for its second input.

    `[batch, height, width, channels], [batch, height, width, channels], [batch, out_height, out_width,
    channels] -> [batch, out_height, out_width, channels]`
    """
    positions = _flat_positions(input.shape, argmax, include_batch_in_index)
    return xp.take(grad.reshape(-1), positions).reshape(argmax.shape)
