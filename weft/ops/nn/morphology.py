"""Grey-scale dilation and erosion of images: the greatest, or least, sum or difference of each window and a filter."""

from __future__ import annotations

from typing import Any

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Result, Sizes, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.ops.array.tiling import reverse
from weft.ops.declaration import op
from weft.ops.input_scope import input_scope
from weft.ops.math.elementwise import neg
from weft.ops.nn.pooling import lowest
from weft.ops.symbolic_gradient import vjp
from weft.platform.logs.deprecation import deprecated_argument_lookup


def _sizes(size: int, width: int, stride: int, rate: int, padding: str) -> tuple[int, int, int]:
    """The number of windows along a dimension, and the padding before and after it."""
    if stride <= 0:
        raise ValueError(f"Stride must be > 0, but got {stride}")
    reach = (width - 1) * rate + 1
    if padding == "VALID":
        count = int((size - reach + stride) / stride)
        if count < 0:
            raise ValueError(
                f"Computed output size would be negative: {count} [input_size: {size}, effective_filter_size: {reach}, "
                f"stride: {stride}]"
            )
        return count, 0, 0
    count = -(-size // stride)
    missing = max((count - 1) * stride + reach - size, 0)
    return count, missing // 2, missing - missing // 2


def _dilated(node: Operation) -> list[Dims]:
    dims, filters = node.inputs[0].dims, node.inputs[1].dims
    for found, wanted in ((dims, 4), (filters, 3)):
        if found is not None and len(found) != wanted:
            raise ValueError(f"Shape must be rank {wanted} but is rank {len(found)}")
    if dims is None or filters is None:
        return [(None, None, None, None)]
    if None not in (dims[3], filters[2]) and dims[3] != filters[2]:
        raise ValueError(f"Dimensions must be equal, but are {dims[3]} and {filters[2]}")
    strides, rates, padding = node.attrs["strides"], node.attrs["rates"], node.attrs["padding"]
    spatial = [
        None if size is None or width is None else _sizes(size, width, strides[axis], rates[axis], padding)[0]
        for axis, (size, width) in enumerate(zip(dims[1:3], filters[:2], strict=True), 1)
    ]
    return [(dims[0], *spatial, dims[3] if filters[2] is None else filters[2])]


@op("Dilation2D", "input: T, filter: T -> output: T", infer=_dilated, gradient=vjp, limits={"rates": 4, "strides": 4})
def dilation2d_node(
    xp: ArrayModule, input: Array, filter: Array, *, strides: list[int], rates: list[int], padding: str
) -> Result:
    """The greatest sum of each window of an image and the filter.

    `[batch, height, width, channels], [filter_height, filter_width, channels] -> [batch, out_height, out_width,
    channels]`
    """
    if padding not in ("SAME", "VALID"):
        raise InvalidArgumentError.of(f"padding must be SAME or VALID, got {padding}")
    pairs = zip(input.shape[1:3], filter.shape[:2], strides[1:3], rates[1:3], strict=True)
    rows, columns = (_sizes(*each, padding) for each in pairs)
    padded = xp.pad(input, ((0, 0), rows[1:], columns[1:], (0, 0)), constant_values=lowest(input.dtype))
    within = np.pad(np.ones((1, *input.shape[1:3], 1), bool), ((0, 0), rows[1:], columns[1:], (0, 0)))
    if not filter.size:
        return xp.full((input.shape[0], rows[0], columns[0], input.shape[3]), lowest(input.dtype))
    made: Any = None
    for row in range(filter.shape[0]):
        for column in range(filter.shape[1]):
            top, left = row * rates[1], column * rates[2]
            at = (slice(None), slice(top, None, strides[1]), slice(left, None, strides[2]))
            inside = slice(None), slice(rows[0]), slice(columns[0])
            # What lies outside the image is no candidate, whatever the filter has there.
            part = xp.where(within[at][inside], padded[at][inside] + filter[row, column], lowest(input.dtype))
            made = part if made is None else xp.maximum(made, part)
    return made


def dilation2d(
    input: TensorLike, filter: TensorLike | None = None, strides: Sizes | None = None,
    rates: Sizes | None = None, padding: str | None = None, name: str | None = None,
    filters: TensorLike | None = None, dilations: Sizes | None = None,
) -> Tensor:  # fmt: skip
    """The greatest sum of each window of images and a filter.

    Args:
        input: `[batch, height, width, channels]`.
        filter: `[height, width, channels]`.
        strides: how far apart the windows are, four numbers of which the first and last are 1.
        rates: how far apart the elements of a window are, likewise.
        padding: "SAME" or "VALID".
        name: the node's name.
        filters, dilations: other names of `filter` and `rates`.
    """
    filter = deprecated_argument_lookup("filters", filters, "filter", filter)
    rates = deprecated_argument_lookup("dilations", dilations, "rates", rates)
    made: Tensor = dilation2d_node(input, filter, strides=strides, rates=rates, padding=padding, name=name)
    return made


def erosion2d(
    value: TensorLike, kernel: TensorLike, strides: Sizes, rates: Sizes, padding: str, name: str | None = None
) -> Tensor:
    """The least difference of each window of images and a kernel; arguments as of `dilation2d`.

    Args:
        value: [batch, height, width, depth] tensor of a real dtype.
        kernel: [kernel_height, kernel_width, depth] tensor of the same dtype.
        strides: `[1, rows, columns, 1]`, how far apart the windows are.
        rates: `[1, rows, columns, 1]`, how far apart the elements of a window are.
        padding: 'SAME' or 'VALID'.

    Returns:
        [batch, out_height, out_width, depth] tensor of the same dtype.
    """
    with input_scope(name, "erosion2d", (value, kernel)):
        turned = reverse(convert_to_tensor(kernel, name="kernel"), [0, 1])
        negated = dilation2d(neg(convert_to_tensor(value, name="value")), turned, strides, rates, padding)
        result: Tensor = neg(negated)
        return result
