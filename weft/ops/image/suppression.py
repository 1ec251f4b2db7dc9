"""Non-max suppression: of boxes that overlap the best ones stay, or the others' scores shrink.

A box is `[top, left, bottom, right]`, or any two opposite corners, in any order.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.declaration import op
from weft.ops.size_checks import check_size

_FLOATS: Final = (dtypes.float16, dtypes.float32)
_ONE: Final = np.float32(1)

_Overlaps = Callable[[int, Sequence[int]], np.ndarray]


def _overlaps_of(boxes: np.ndarray) -> _Overlaps:
    """The areas of the intersections of a box with others, as shares of those of their unions; NaN with a box that has one.

    In float32, as TensorFlow has it: a share that equals the threshold must equal it here.
    """
    corners = boxes.astype(np.float32)
    top, bottom = np.minimum(corners[:, 0], corners[:, 2]), np.maximum(corners[:, 0], corners[:, 2])
    left, right = np.minimum(corners[:, 1], corners[:, 3]), np.maximum(corners[:, 1], corners[:, 3])
    areas = (bottom - top) * (right - left)

    def overlaps(index: int, others: Sequence[int]) -> np.ndarray:
        high = np.maximum(np.minimum(bottom[others], bottom[index]) - np.maximum(top[others], top[index]), 0)
        wide = np.maximum(np.minimum(right[others], right[index]) - np.maximum(left[others], left[index]), 0)
        common = high * wide
        shares = common / (areas[others] + areas[index] - common)
        empty = (areas[others] <= 0) | (areas[index] <= 0)
        return np.where(empty, np.float32(0), shares)

    return overlaps


def _suppressed(
    scores: Array, count: int, threshold: np.float32, least: float, sigma: float, overlaps: _Overlaps
) -> tuple[list[int], list[np.float32]]:
    """The boxes that stay, best first, and their scores.

    A box goes whose overlap with a better one reaches the threshold; with `sigma` the scores of the others shrink by their
    overlaps (Bodla et al. 2017), and each waits for its turn again. A negative count is no limit, as in TensorFlow.
    """
    scale = np.float32(-0.5 / sigma) if sigma > 0 else np.float32(0)
    waiting = [(-score, index, 0) for index, score in enumerate(scores.astype(np.float32)) if score > least]
    heapq.heapify(waiting)
    chosen: list[int] = []
    kept: list[np.float32] = []
    while waiting and len(chosen) != count:
        negative, index, seen = heapq.heappop(waiting)
        shares = overlaps(index, chosen[seen:])
        if (shares >= threshold).any():
            continue
        weight = np.exp(scale * shares * shares).prod(dtype=np.float32) if scale else _ONE
        score = -negative * weight
        if score == -negative:
            chosen.append(index)
            kept.append(score)
        elif score > least:
            heapq.heappush(waiting, (-score, index, len(chosen)))
    return chosen, kept


def _chosen_shape(*then: Dims, of_corners: bool = True) -> Callable[[Operation], list[Dims]]:
    """The rule of shapes of an op that chooses boxes, told by their corners or their overlaps: a vector, and these."""

    def infer(node: Operation) -> list[Dims]:
        boxes, scores, *scalars = (each.dims for each in node.inputs)
        for dims, rank in ((boxes, 2), (scores, 1), *((each, 0) for each in scalars)):
            if dims is not None and len(dims) != rank:
                raise ValueError(f"Shape must be rank {rank} but is rank {len(dims)}")
        if boxes is not None and scores is not None and None not in (boxes[0], scores[0]) and boxes[0] != scores[0]:
            raise ValueError(f"Dimensions must be equal, but are {boxes[0]} and {scores[0]}: there is a score for each box")
        if of_corners:
            check_size(node.inputs[0], 1, 4)
        size = constant_value(node.inputs[2]) if node.attrs.get("pad_to_max_output_size") else None
        padded = None if size is None else max(int(size), 0)
        return [(padded,), *((padded,) if each else each for each in then)]

    return infer


def chosen_of_boxes(
    boxes: Array, scores: Array, *, count: Array, threshold: Array, least: Array, sigma: float = 0.0
) -> tuple[list[int], list[np.float32]]:
    """The boxes that stay, best first, and their scores; InvalidArgumentError for arguments that do not fit."""
    if boxes.ndim != 2 or boxes.shape[1] != 4:
        raise InvalidArgumentError.of(f"boxes must be of shape [n, 4], got {list(boxes.shape)}")
    if scores.shape != boxes.shape[:1]:
        raise InvalidArgumentError.of(f"scores has incompatible shape: {list(scores.shape)} for {boxes.shape[0]} boxes")
    if not 0 <= float(threshold) <= 1:
        raise InvalidArgumentError.of("iou_threshold must be in [0, 1]")
    if not sigma >= 0:
        raise InvalidArgumentError.of(f"soft_nms_sigma_val must be >= 0, got {sigma:g}")
    return _suppressed(scores, int(count), np.float32(threshold), float(least), sigma, _overlaps_of(boxes))


@op("NonMaxSuppressionV3", "boxes: T, scores: T, max_output_size: int32, iou_threshold: T_threshold, "
    "score_threshold: T_threshold -> selected_indices: int32", gradient=None, infer=_chosen_shape(),
    types={"T": _FLOATS, "T_threshold": _FLOATS},
    defaults={"T": dtypes.float32, "T_threshold": dtypes.float32})  # fmt: skip
def non_max_suppression_v3(
    ctx: OpContext, boxes: Array, scores: Array, max_output_size: Array, iou_threshold: Array, score_threshold: Array
) -> Result:
    """The boxes that no better one overlaps too much, best first: `[n, 4], [n], scalar, scalar, scalar -> [m]`."""
    chosen, _ = chosen_of_boxes(boxes, scores, count=max_output_size, threshold=iou_threshold, least=score_threshold)
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
    chosen, _ = chosen_of_boxes(boxes, scores, count=max_output_size, threshold=iou_threshold, least=score_threshold)
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
    chosen, kept = chosen_of_boxes(
        boxes, scores, count=max_output_size, threshold=iou_threshold, least=score_threshold,
        sigma=float(soft_nms_sigma),
    )  # fmt: skip
    zeros = [0] * (int(max_output_size) - len(chosen) if pad_to_max_output_size else 0)
    indices, values = np.array(chosen + zeros, np.int32), np.array(kept + zeros, scores.dtype)
    return indices, values, np.array(len(chosen), np.int32)


@op("NonMaxSuppressionWithOverlaps", "overlaps: float, scores: float, max_output_size: int32, overlap_threshold: float, "
    "score_threshold: float -> selected_indices: int32", gradient=None, infer=_chosen_shape(of_corners=False))  # fmt: skip
def non_max_suppression_with_overlaps(
    ctx: OpContext, overlaps: Array, scores: Array, max_output_size: Array, overlap_threshold: Array, score_threshold: Array
) -> Result:
    """As NonMaxSuppressionV3, with the overlaps given: `[n, n], [n], scalar, scalar, scalar -> [m]`."""
    if overlaps.ndim != 2 or overlaps.shape[0] != overlaps.shape[1] or scores.shape != overlaps.shape[:1]:
        raise InvalidArgumentError.of(f"overlaps must be square: {list(overlaps.shape)} for scores {list(scores.shape)}")
    chosen, _ = _suppressed(
        scores, int(max_output_size), np.float32(overlap_threshold), float(score_threshold), 0.0,
        lambda index, others: overlaps[index, others],
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
    with get_default_graph().name_scope(name or "non_max_suppression"):
        overlap = convert_to_tensor(iou_threshold, dtypes.float32, name="iou_threshold")
        least = convert_to_tensor(score_threshold, dtypes.float32, name="score_threshold")
        return non_max_suppression_v3(boxes, scores, max_output_size, overlap, least)


def non_max_suppression_padded(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: float = float("-inf"),
    pad_to_max_output_size: bool = False,
    name: str | None = None,
) -> tuple[Tensor, Tensor]:
    """As `non_max_suppression`, perhaps padded with zeros to `max_output_size`, and the number of boxes chosen.

    Args:
        boxes: [n, 4] float32: two opposite corners of each, as row and column.
        scores: [n] float32.
        max_output_size: int32 scalar: how many boxes to choose at most.
        iou_threshold: boxes that overlap a better one by a greater share are left out.
        score_threshold: boxes with lower scores are left out.
        pad_to_max_output_size: whether to pad.

    Returns:
        [chosen] int32, or [max_output_size], and [] int32.
    """
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
    """As `non_max_suppression`, with the scores; with a positive sigma overlaps lower scores instead (soft suppression).

    Args:
        boxes: [n, 4] float32: two opposite corners of each, as row and column.
        scores: [n] float32.
        max_output_size: int32 scalar: how many boxes to choose at most.
        iou_threshold: boxes that overlap a better one by a greater share are left out.
        score_threshold: boxes with lower scores are left out.
        soft_nms_sigma: the width of the lowering; 0 for none.

    Returns:
        [chosen] int32 places and [chosen] float32 scores.
    """
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
    """As `non_max_suppression`, with the overlaps of all pairs given, `[n, n]`.

    Args:
        overlaps: [n, n] float32.
        scores: [n] float32.
        max_output_size: int32 scalar: how many boxes to choose at most.
        overlap_threshold: boxes that overlap a better one by more are left out.
        score_threshold: boxes with lower scores are left out.

    Returns:
        [chosen] int32, the places of the boxes, the best first.
    """
    return non_max_suppression_with_overlaps(overlaps, scores, max_output_size, overlap_threshold, score_threshold, name=name)
