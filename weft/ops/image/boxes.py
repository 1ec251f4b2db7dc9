"""Boxes in images: cut out and resized, chosen among overlapping ones, drawn, and found at random.

A box is `[top, left, bottom, right]`, as shares of the image's height and width.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError, OutOfRangeError
from weft.framework import dtypes
from weft.framework.aliases import Array, ArrayModule, Result, TensorLike
from weft.framework.constant_value import constant_value
from weft.framework.op_context import OpContext
from weft.framework.operation import Operation, Tensor
from weft.framework.tensor_shape import Dims
from weft.ops.declaration import op, same_as_input
from weft.ops.symbolic_gradient import vjp

_PIXELS: Final = (
    dtypes.uint8, dtypes.uint16, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32,
    dtypes.float64,
)  # fmt: skip
_FLOATS: Final = (dtypes.float16, dtypes.float32)
_COLOURS: Final = np.array(
    [
        (1, 1, 0, 1), (0, 0, 1, 1), (1, 0, 0, 1), (0, 1, 0, 1), (0.5, 0, 0.5, 1), (0.5, 0.5, 0, 1), (0.5, 0, 0, 1),
        (0, 0, 0.5, 1), (0, 1, 1, 1), (1, 0, 1, 1),
    ],
    np.float32,
)  # fmt: skip


def _cropped_shape(node: Operation) -> list[Dims]:
    image, boxes, _, crop_size = node.inputs
    for tensor, rank in ((image, 4), (boxes, 2)):
        if tensor.dims is not None and len(tensor.dims) != rank:
            raise ValueError(f"Shape must be rank {rank} but is rank {len(tensor.dims)}")
    size = constant_value(crop_size)
    height, width = (None, None) if size is None else (int(size[0]), int(size[1]))
    count = None if boxes.dims is None else boxes.dims[0]
    return [(count, height, width, None if image.dims is None else image.dims[3])]


def _check_crops(node: Operation | None, image: Array, boxes: Array, box_ind: Array, crop_size: Array) -> None:
    if image is None or box_ind is None:
        return
    if box_ind.size and (box_ind.min() < 0 or box_ind.max() >= image.shape[0]):
        raise OutOfRangeError.of(f"box_index has values outside [0, batch_size): {box_ind.tolist()} of {image.shape[0]}")


def _sampled(xp: ArrayModule, begin: Array, end: Array, size: int, count: int) -> Array:
    """Where `count` samples of each box lie along an axis of `size` pixels: `[boxes, count]`."""
    last = np.float32(size - 1)
    if count == 1:
        return (np.float32(0.5) * (begin + end) * last)[:, None]
    steps = (end - begin) * last / np.float32(count - 1)
    return (begin * last)[:, None] + np.arange(count, dtype=np.float32) * steps[:, None]


@op("CropAndResize", "image: T, boxes: float, box_ind: int32, crop_size: int32 -> crops: float", infer=_cropped_shape,
    gradient=vjp, static=("crop_size",), types={"T": _PIXELS}, check=_check_crops)  # fmt: skip
def crop_and_resize_node(
    xp: ArrayModule, image: Array, boxes: Array, box_ind: Array, crop_size: Array, *, method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Result:  # fmt: skip
    """Each box's part of its image, resized: `[batch, h, w, depth], [n, 4], [n], [2] -> [n, size_0, size_1, depth]`."""
    if method not in ("bilinear", "nearest"):
        raise InvalidArgumentError.of(f"method must be 'bilinear' or 'nearest', got {method!r}")
    if xp is np:
        _check_crops(None, image, boxes, box_ind, crop_size)
    height, width = image.shape[1:3]
    rows, columns = (int(each) for each in np.ravel(crop_size))
    if rows <= 0 or columns <= 0:
        raise InvalidArgumentError.of("crop dimensions must be positive")
    y = _sampled(xp, boxes[:, 0], boxes[:, 2], height, rows)
    x = _sampled(xp, boxes[:, 1], boxes[:, 3], width, columns)
    inside = ((y >= 0) & (y <= height - 1))[:, :, None] & ((x >= 0) & (x <= width - 1))[:, None, :]
    pixels = image.astype(np.float32)
    which = box_ind[:, None, None]

    def at(row: Array, column: Array) -> Array:
        r = xp.clip(row, 0, height - 1).astype(np.int32)
        c = xp.clip(column, 0, width - 1).astype(np.int32)
        return pixels[which, r[:, :, None], c[:, None, :]]

    if method == "nearest":
        found = at(_away(xp, y), _away(xp, x))
    else:
        top, left = xp.floor(y), xp.floor(x)
        down, across = (y - top)[:, :, None, None], (x - left)[:, None, :, None]
        upper = at(top, left) + (at(top, xp.ceil(x)) - at(top, left)) * across
        lower = at(xp.ceil(y), left) + (at(xp.ceil(y), xp.ceil(x)) - at(xp.ceil(y), left)) * across
        found = upper + (lower - upper) * down
    return xp.where(inside[..., None], found, np.float32(extrapolation_value)).astype(np.float32)


def _away(xp: ArrayModule, x: Array) -> Array:
    """The nearest whole number, halves away from zero, as C's `roundf` has it."""
    return xp.sign(x) * xp.floor(xp.abs(x) + 0.5)


def crop_and_resize(
    image: TensorLike,
    boxes: TensorLike,
    box_ind: TensorLike | None = None,
    crop_size: TensorLike | None = None,
    method: str = "bilinear",
    extrapolation_value: float = 0,
    name: str | None = None,
    box_indices: TensorLike | None = None,
) -> Tensor:
    """Cut boxes out of images and resize each to the same size.

    Args:
        image: `[batch, height, width, depth]`.
        boxes: `[n, 4]`; what lies outside of the image gets `extrapolation_value`; a box may be upside down.
        box_ind: `[n]`, for each box the number of its image.
        crop_size: `[height, width]` of the results.
        method: "bilinear" or "nearest".
        extrapolation_value: for pixels outside.
        name: the node's name.
        box_indices: another name of `box_ind`.

    Returns:
        float32 `[n, crop_height, crop_width, depth]`.
    """
    indices = box_indices if box_ind is None else box_ind
    return crop_and_resize_node(
        image, boxes, indices, crop_size, method=method, extrapolation_value=float(extrapolation_value), name=name
    )


def _overlap(a: Sequence[float], b: Sequence[float]) -> float:
    """The area of the intersection of two boxes, as a share of that of their union."""
    a_top, a_bottom, a_left, a_right = min(a[0], a[2]), max(a[0], a[2]), min(a[1], a[3]), max(a[1], a[3])
    b_top, b_bottom, b_left, b_right = min(b[0], b[2]), max(b[0], b[2]), min(b[1], b[3]), max(b[1], b[3])
    a_area, b_area = (a_bottom - a_top) * (a_right - a_left), (b_bottom - b_top) * (b_right - b_left)
    if a_area <= 0 or b_area <= 0:
        return 0.0
    common = max(min(a_bottom, b_bottom) - max(a_top, b_top), 0.0) * max(min(a_right, b_right) - max(a_left, b_left), 0.0)
    return common / (a_area + b_area - common)


def _suppressed(
    scores: Array, count: int, threshold: float, least: float, sigma: float, overlap: Callable[[int, int], float]
) -> tuple[list[int], list[float]]:
    """The boxes that stay, best first, and their scores.

    A box that overlaps a better one by more than the threshold goes; with `sigma` its score shrinks by the overlaps instead
    (Bodla et al. 2017), and it waits for its turn again.
    """
    scale = -0.5 / sigma if sigma > 0 else 0.0
    waiting = [(-float(score), index, 0) for index, score in enumerate(scores) if score > least]
    heapq.heapify(waiting)
    chosen: list[int] = []
    kept: list[float] = []
    while waiting and len(chosen) < count:
        negative, index, seen = heapq.heappop(waiting)
        score = first = -negative
        is_gone = False
        for other in reversed(chosen[seen:]):
            share = overlap(index, other)
            if sigma <= 0 and share > threshold:
                is_gone = True
                break
            score *= math.exp(scale * share * share) if share <= threshold else 0.0
            if score <= least:
                break
        if is_gone:
            continue
        if score == first:
            chosen.append(index)
            kept.append(score)
        elif score > least:
            heapq.heappush(waiting, (-score, index, len(chosen)))
    return chosen, kept


def _chosen_shape(*then: Dims) -> Callable[[Operation], list[Dims]]:
    """The rule of shapes of an op that chooses boxes: a vector, and these."""

    def infer(node: Operation) -> list[Dims]:
        boxes, scores = node.inputs[0].dims, node.inputs[1].dims
        for dims, rank in ((boxes, 2), (scores, 1)):
            if dims is not None and len(dims) != rank:
                raise ValueError(f"Shape must be rank {rank} but is rank {len(dims)}")
        if boxes is not None and scores is not None and None not in (boxes[0], scores[0]) and boxes[0] != scores[0]:
            raise ValueError(f"Dimensions must be equal, but are {boxes[0]} and {scores[0]}: there is a score for each box")
        return [(None,), *then]

    return infer


def _of_boxes(boxes: Array, scores: Array, *, count: Array, threshold: float, least: float, sigma: float = 0.0) -> tuple[
    list[int], list[float]
]:  # fmt: skip
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise InvalidArgumentError.of(f"boxes must be of shape [n, 4], got {list(boxes.shape)}")
    if scores.shape != boxes.shape[:1]:
        raise InvalidArgumentError.of(f"scores has incompatible shape: {list(scores.shape)} for {boxes.shape[0]} boxes")
    if not 0 <= threshold <= 1:
        raise InvalidArgumentError.of("iou_threshold must be in [0, 1]")
    corners = boxes.astype(np.float64).tolist()
    return _suppressed(scores, int(count), threshold, least, sigma, lambda a, b: _overlap(corners[a], corners[b]))


@op("NonMaxSuppressionV3", "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
    "score_threshold: T_threshold -> selected_indices: int32", gradient=None, infer=_chosen_shape(),
    types={"T": _FLOATS, "T_threshold": _FLOATS},
    defaults={"T": dtypes.float32, "T_threshold": dtypes.float32})  # fmt: skip
def non_max_suppression_v3(
    ctx: OpContext, boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array, score_threshold: Array
) -> Result:
    """The boxes that no better one overlaps too much, best first: `[n, 4], [n], scalar, scalar, scalar -> [m]`."""
    chosen, _ = _of_boxes(boxes, scores, count=max_output_size, threshold=float(iou_threshold), least=float(score_threshold))
    return np.array(chosen, np.int32)


@op("NonMaxSuppressionV4", "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
    "score_threshold: T_threshold -> selected_indices: int32, valid_outputs: int32", gradient=None,
    infer=_chosen_shape(()), types={"T": _FLOATS, "T_threshold": _FLOATS},
    defaults={"T": dtypes.float32, "T_threshold": dtypes.float32})  # fmt: skip
def non_max_suppression_v4(
    ctx: OpContext, boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array, score_threshold: Array, *,
    pad_to_max_output_size: bool = False,
) -> tuple[Result, Result]:  # fmt: skip
    """As NonMaxSuppressionV3, perhaps padded with zeros, and how many there are.

    `[n, 4], [n], scalar, scalar, scalar -> [m], scalar`
    """
    chosen, _ = _of_boxes(boxes, scores, count=max_output_size, threshold=float(iou_threshold), least=float(score_threshold))
    padding = int(max_output_size) - len(chosen) if pad_to_max_output_size else 0
    return np.array(chosen + [0] * padding, np.int32), np.array(len(chosen), np.int32)


@op("NonMaxSuppressionV5", "boxes: T, scores: T, max_output_size: int32, iou_threshold: T, score_threshold: T, "
    "soft_nms_sigma: T -> selected_indices: int32, selected_scores: T, valid_outputs: int32", gradient=None,
    infer=_chosen_shape((None,), ()), types={"T": _FLOATS}, defaults={"T": dtypes.float32})  # fmt: skip
def non_max_suppression_v5(
    ctx: OpContext, boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array, score_threshold: Array,
    soft_nms_sigma: Array, *, pad_to_max_output_size: bool = False,
) -> tuple[Result, Result, Result]:  # fmt: skip
    """As NonMaxSuppressionV4, with the scores, which overlaps make smaller where sigma is positive.

    `[n, 4], [n], scalar, scalar, scalar, scalar -> [m], [m], scalar`
    """
    chosen, kept = _of_boxes(
        boxes, scores, count=max_output_size, threshold=float(iou_threshold), least=float(score_threshold),
        sigma=float(soft_nms_sigma),
    )  # fmt: skip
    zeros = [0] * (int(max_output_size) - len(chosen) if pad_to_max_output_size else 0)
    indices, values = np.array(chosen + zeros, np.int32), np.array(kept + zeros, scores.dtype)
    return indices, values, np.array(len(chosen), np.int32)


@op("NonMaxSuppressionWithOverlaps", "overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float, "
    "score_threshold: float -> selected_indices: int32", gradient=None, infer=_chosen_shape())  # fmt: skip
def non_max_suppression_with_overlaps(
    ctx: OpContext, overlaps: Array, scores: Array, max_output_size: Array, overlap_threshold: Array, score_threshold: Array
) -> Result:
    """As NonMaxSuppressionV3, with the overlaps given: `[n, n], [n], scalar, scalar, scalar -> [m]`."""
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1] or scores.shape != overlaps.shape[:1]:
        raise InvalidArgumentError.of(f"overlaps must be square: {list(overlaps.shape)} for scores {list(scores.shape)}")
    chosen, _ = _suppressed(
        scores, int(max_output_size), float(overlap_threshold), float(score_threshold), 0.0,
        lambda a, b: float(overlaps[a, b]),
    )  # fmt: skip
    return np.array(chosen, np.int32)


def non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: float = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """Choose the best boxes, none of which overlaps a better one by more than a threshold.

    Args:
        boxes: `[n, 4]`, float32; any two opposite corners, in any order.
        scores: `[n]`.
        max_output_size: the number to choose at most.
        iou_threshold: the largest overlap, intersection over union.
        score_threshold: boxes with a lower or equal score are left out.
        name: the node's name.

    Returns:
        int32 `[m]`, the numbers of the boxes, best first.
    """
    return non_max_suppression_v3(boxes, scores, max_output_size, iou_threshold, score_threshold, name=name)


def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: float = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """As `non_max_suppression`, perhaps padded with zeros to `max_output_size`, and the number of boxes chosen."""
    indices, count = non_max_suppression_v4(
        boxes, scores, max_output_size, iou_threshold, score_threshold, pad_to_max_output_size=pad_to_max_output_size, name=name
    )
    known = constant_value(indices.op.inputs[2])
    if pad_to_max_output_size and known is not None:
        indices.set_shape([int(known)])
    return indices, count


def non_max_suppression_with_scores(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: float = float("-inf"),
    soft_nms_sigma: float = 0.0,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """As `non_max_suppression`, with the scores; with a positive sigma overlaps lower scores instead (soft suppression)."""
    indices, values, _ = non_max_suppression_v5(
        boxes, scores, max_output_size, iou_threshold, score_threshold, soft_nms_sigma, name=name
    )
    return indices, values


def non_max_suppression_overlaps(
    overlaps: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    overlap_threshold: TensorLike = 0.5,
    score_threshold: float = float("-inf"),
    name: str | None = None,
) -> Tensor:
    """As `non_max_suppression`, with the overlaps of all pairs given, `[n, n]`."""
    return non_max_suppression_with_overlaps(overlaps, scores, max_output_size, overlap_threshold, score_threshold, name=name)


def _draw(image: Array, box: Array, colour: Array) -> None:
    height, width = image.shape[:2]
    top, bottom = int(float(box[0]) * (height - 1)), int(float(box[2]) * (height - 1))
    left, right = int(float(box[1]) * (width - 1)), int(float(box[3]) * (width - 1))
    if top > bottom or left > right or top >= height or bottom < 0 or left >= width or right < 0:
        return
    rows = slice(max(top, 0), min(bottom, height - 1) + 1)
    columns = slice(max(left, 0), min(right, width - 1) + 1)
    if top >= 0:
        image[top, columns] = colour
    if bottom < height:
        image[bottom, columns] = colour
    if left >= 0:
        image[rows, left] = colour
    if right < width:
        image[rows, right] = colour


@op("DrawBoundingBoxesV2", "images: T, boxes: float, colors: float -> output: T", gradient=None, infer=same_as_input,
    types={"T": _FLOATS}, defaults={"T": dtypes.float32})  # fmt: skip
def draw_bounding_boxes_v2(ctx: OpContext, images: Array, boxes: Array, colors: Array) -> Result:
    """Images with boxes drawn, each in the next colour.

    `[batch, height, width, 1, 3 or 4], [batch, n, 4], [colours, 4] -> [batch, height, width, depth]`
    """
    if images.ndim != 4 or images.shape[3] not in (1, 3, 4):
        raise InvalidArgumentError.of(f"The rank of the images should be 4, with 1, 3 or 4 channels, got {list(images.shape)}")
    if boxes.ndim != 3 or boxes.shape[2] != 4 or boxes.shape[0] != images.shape[0]:
        raise InvalidArgumentError.of(f"boxes must be [{images.shape[0]}, n, 4], got {list(boxes.shape)}")
    depth = images.shape[3]
    table = _COLOURS.copy() if not colors.size else colors
    if depth == 1 and not colors.size:
        table[:, 0] = 1.0
    result = images.copy()
    for image, own in zip(result, boxes, strict=True):
        for number, box in enumerate(own):
            _draw(image, box, table[number % len(table), :depth])
    return result


def draw_bounding_boxes(
    images: TensorLike, boxes: TensorLike, name: str | None = None, colors: TensorLike | None = None
) -> Tensor:
    """Draw boxes into images: `[batch, height, width, depth]` floats, `[batch, n, 4]`; `colors` is `[colours, channels]`."""
    palette = np.zeros((0, 0), np.float32) if colors is None else colors
    return draw_bounding_boxes_v2(images, boxes, palette, name=name)
