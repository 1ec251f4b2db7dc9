"""Parts of images and boxes: glimpses, patches of volumes, the gradients of dilation, and earlier suppressions."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.registry.op_registry import lookup
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.declaration import not_differentiable, op
from weft.ops.math.elementwise import REAL
from weft.ops.random.taking import Take, from_the_start
from weft.ops.size_checks import check_equal, check_size
from weft.ops.symbolic_gradient import vjp

_SIZES: Final = (dtypes.uint8, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64)
_PADDINGS: Final = {"padding": ("SAME", "VALID")}


@op("SampleDistortedBoundingBox", "image_size: T, bounding_boxes: float -> begin: T, size: T, bboxes: float",
    ranks={"image_size": 1, "bounding_boxes": 3}, gradient=None, infer=lambda node: [(3,), (3,), (1, 1, 4)], stateful=True,
    types={"T": _SIZES})  # fmt: skip
def sample_distorted_bounding_box(
    ctx: OpContext, image_size: Array, bounding_boxes: Array, *, seed: int = 0, seed2: int = 0,
    min_object_covered: float = 0.1, aspect_ratio_range: Sequence[float] = (0.75, 1.33),
    area_range: Sequence[float] = (0.05, 1.0), max_attempts: int = 100, use_image_if_no_bounding_boxes: bool = False,
    take: Take = from_the_start,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """A random part of an image, for `slice` and as a box: `[3], [batch, n, 4] -> [3], [3], [1, 1, 4]`."""
    begin, size, boxes = lookup("SampleDistortedBoundingBoxV2").kernel(
        ctx, image_size, bounding_boxes, np.float32(min_object_covered), seed=seed, seed2=seed2,
        aspect_ratio_range=aspect_ratio_range, area_range=area_range, max_attempts=max_attempts,
        use_image_if_no_bounding_boxes=use_image_if_no_bounding_boxes, take=take,
    )  # fmt: skip
    return begin, size, boxes


# Patches of volumes.


def _counts(size: int, width: int, stride: int, padding: str) -> tuple[int, int, int]:
    """The number of windows along an axis, and the padding before and after it."""
    if stride <= 0:
        raise ValueError(f"Stride must be > 0, but got {stride}")
    if padding == "VALID":
        # Rounded to zero, as in TensorFlow: a window that is up to a stride too large has no place, a larger one is wrong.
        count = int((size - width + stride) / stride)
        if count < 0:
            raise ValueError(f"Computed output size would be negative: {count} [input_size: {size}, window: {width}]")
        return count, 0, 0
    count = -(-size // stride)
    missing = max((count - 1) * stride + width - size, 0)
    return count, missing // 2, missing - missing // 2


def _volumes_shape(node: Operation) -> list[Dims]:
    dims, widths, strides = node.inputs[0].dims, node.attrs["ksizes"], node.attrs["strides"]
    if dims is None:
        return [None]
    if len(dims) != 5:
        raise ValueError(f"Shape must be rank 5 but is rank {len(dims)}")
    inner = [
        None if size is None else _counts(size, widths[axis], strides[axis], node.attrs["padding"])[0]
        for axis, size in enumerate(dims[1:4], 1)
    ]
    return [(dims[0], *inner, None if dims[4] is None else dims[4] * math.prod(widths[1:4]))]


@op("ExtractVolumePatches", "input: T -> patches: T", infer=_volumes_shape, gradient=vjp, types={"T": REAL},
    limits={"ksizes": 5, "strides": 5, **_PADDINGS})  # fmt: skip
def extract_volume_patches_node(
    xp: ArrayModule, input: Array, *, ksizes: list[int], strides: list[int], padding: str
) -> Result:
    """The blocks around evenly spaced places of volumes, each as the channels of one place.

    `[batch, planes, rows, columns, depth] -> [batch, out_planes, out_rows, out_columns, block*depth]`
    """
    found = [_counts(input.shape[axis], ksizes[axis], strides[axis], padding) for axis in (1, 2, 3)]
    padded = xp.pad(input, [(0, 0), *(each[1:] for each in found), (0, 0)])
    parts = []
    for place in np.ndindex(*ksizes[1:4]):
        slices = [
            slice(start, start + (count - 1) * stride + 1 if count else start, stride)
            for start, stride, (count, *_) in zip(place, strides[1:4], found, strict=True)
        ]
        parts.append(padded[(slice(None), *slices)])
    return xp.concatenate(parts, axis=4)


def extract_volume_patches(
    input: TensorLike, ksizes: Sequence[int], strides: Sequence[int], padding: str, name: str | None = None
) -> Tensor:
    """Take blocks of `[batch, planes, rows, columns, depth]` volumes and put each into the last dimension.

    Args:
        input: the volumes, of real numbers.
        ksizes: `[1, planes, rows, columns, 1]`, the size of a block.
        strides: `[1, planes, rows, columns, 1]`, how far apart the blocks are.
        padding: VALID for blocks inside the volume only, SAME to pad it with zeros.
        name: the node's name.

    Returns:
        `[batch, out_planes, out_rows, out_columns, size of a block * depth]` of the dtype of `input`.

    Raises:
        ValueError: the volumes are of another rank, or smaller than a block.
    """
    return extract_volume_patches_node(input, ksizes=list(ksizes), strides=list(strides), padding=padding, name=name)


# The gradients of dilation.


def _windows(
    input: Array, filters: Array, strides: list[int], rates: list[int], padding: str
) -> Iterator[tuple[tuple[int, int], Array, tuple[Array, Array, Array]]]:
    """For each place of the filter the windows' sums there, and which rows and columns these are of, and whether they exist."""
    sizes = zip(input.shape[1:3], filters.shape[:2], strides[1:3], rates[1:3], strict=True)
    (rows, top, _), (columns, left, _) = (
        _counts(size, (width - 1) * rate + 1, stride, padding) for size, width, stride, rate in sizes
    )
    for i, j in np.ndindex(*filters.shape[:2]):
        row = np.arange(rows)[:, None] * strides[1] - top + i * rates[1]
        column = np.arange(columns)[None, :] * strides[2] - left + j * rates[2]
        inside = (row >= 0) & (row < input.shape[1]) & (column >= 0) & (column < input.shape[2])
        row, column = np.broadcast_arrays(np.clip(row, 0, input.shape[1] - 1), np.clip(column, 0, input.shape[2] - 1))
        sums = np.where(inside[None, :, :, None], input[:, row, column] + filters[i, j], _least(input.dtype))
        yield (i, j), sums, (row, column, inside)


def _least(dtype: Array) -> Array:
    return np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf


def _greatest(input: Array, filters: Array, strides: list[int], rates: list[int], padding: str) -> Array:
    """Which place of the filter, by its number, each window's greatest sum comes from: the first of several."""
    best: Array = None
    chosen: Array = None
    for number, (_, sums, _) in enumerate(_windows(input, filters, strides, rates, padding)):
        if best is None:
            best, chosen = sums, np.zeros(sums.shape, np.int64)
        else:
            better = sums > best
            best, chosen = np.where(better, sums, best), np.where(better, number, chosen)
    return chosen


def _check_dilated(
    input: Array, filters: Array, grad: Array, strides: list[int], rates: list[int], padding: str
) -> None:  # fmt: skip
    sizes = zip(input.shape[1:3], filters.shape[:2], strides[1:3], rates[1:3], strict=True)
    counts = [_counts(size, (width - 1) * rate + 1, stride, padding)[0] for size, width, stride, rate in sizes]
    if grad.shape != (input.shape[0], *counts, input.shape[3]):
        raise InvalidArgumentError.of(
            f"out_backprop has incompatible size: {list(grad.shape)}, not {[input.shape[0], *counts, input.shape[3]]}"
        )


@op("Dilation2DBackpropInput", "input: T, filter: T, out_backprop: T -> in_backprop: T",
    ranks={"input": 4, "filter": 3, "out_backprop": 4}, infer=lambda node: [node.inputs[0].dims], gradient=None,
    types={"T": REAL}, limits={"strides": 4, "rates": 4, **_PADDINGS})  # fmt: skip
def dilation2d_backprop_input(
    ctx: OpContext, input: Array, filter: Array, out_backprop: Array, *, strides: list[int], rates: list[int], padding: str
) -> Result:
    """The gradient of Dilation2D for its images: each window's goes to the place of its greatest sum.

    `[batch, height, width, depth], [rows, columns, depth], [batch, out_height, out_width, depth] ->
    [batch, height, width, depth]`
    """
    _check_dilated(input, filter, out_backprop, strides, rates, padding)
    chosen = _greatest(input, filter, strides, rates, padding)
    made = np.zeros_like(input)
    for number, (_, _, (row, column, inside)) in enumerate(_windows(input, filter, strides, rates, padding)):
        given = np.where((chosen == number) & inside[None, :, :, None], out_backprop, 0).astype(input.dtype)
        np.add.at(made, (slice(None), row, column), given)  # type: ignore[arg-type]
    return made


@op("Dilation2DBackpropFilter", "input: T, filter: T, out_backprop: T -> filter_backprop: T",
    ranks={"input": 4, "filter": 3, "out_backprop": 4}, infer=lambda node: [node.inputs[1].dims], gradient=None,
    types={"T": REAL}, limits={"strides": 4, "rates": 4, **_PADDINGS})  # fmt: skip
def dilation2d_backprop_filter(
    ctx: OpContext, input: Array, filter: Array, out_backprop: Array, *, strides: list[int], rates: list[int], padding: str
) -> Result:
    """The gradient of Dilation2D for its filter.

    `[batch, height, width, depth], [rows, columns, depth], [batch, out_height, out_width, depth] -> [rows, columns, depth]`
    """
    _check_dilated(input, filter, out_backprop, strides, rates, padding)
    chosen = _greatest(input, filter, strides, rates, padding)
    made = np.zeros_like(filter)
    for number, (place, _, (_, _, inside)) in enumerate(_windows(input, filter, strides, rates, padding)):
        made[place] = np.where((chosen == number) & inside[None, :, :, None], out_backprop, 0).sum((0, 1, 2))
    return made


# Suppression, as earlier versions have it.

_FLOATS: Final = (dtypes.float16, dtypes.float32)


def _any_number(node: Operation) -> list[Dims]:
    boxes, scores = node.inputs[:2]
    check_equal(boxes, 0, scores, 0)
    check_size(boxes, 1, 4)
    return [(None,)]


@op("NonMaxSuppression", "boxes: float, scores: float, max_output_size: int32 -> selected_indices: int32",
    ranks={"boxes": 2, "scores": 1, "max_output_size": 0}, infer=_any_number, gradient=not_differentiable)  # fmt: skip
def non_max_suppression_v1(
    ctx: OpContext, boxes: Array, scores: Array, max_output_size: Array, *, iou_threshold: float = 0.5
) -> Result:
    """The boxes that no better one overlaps too much, best first: `[n, 4], [n], scalar -> [m]`."""
    return lookup("NonMaxSuppressionV3").kernel(ctx, boxes, scores, max_output_size, np.float32(iou_threshold), -np.inf)


@op("NonMaxSuppressionV2", "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold -> selected_indices: int32",
    ranks={"boxes": 2, "scores": 1, "max_output_size": 0, "iou_threshold": 0}, infer=_any_number, gradient=not_differentiable,
    types={"T": _FLOATS, "T_threshold": _FLOATS}, defaults={"T": dtypes.float32, "T_threshold": dtypes.float32})  # fmt: skip
def non_max_suppression_v2(ctx: OpContext, boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array) -> Result:
    """The boxes that no better one overlaps too much, best first: `[n, 4], [n], scalar, scalar -> [m]`."""
    return lookup("NonMaxSuppressionV3").kernel(ctx, boxes, scores, max_output_size, iou_threshold, -np.inf)
