"""Non-max suppression of all classes of a batch of images together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from weft.framework.building.aliases import Array, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.ops.declaration import op
from weft.ops.image.suppression import chosen_of_boxes


def _combined_shape(node: Operation) -> list[Dims]:
    """Those of boxes, scores, classes and counts; how many there are is known where the sizes are."""
    boxes, scores = node.inputs[0].dims, node.inputs[1].dims
    for dims, rank in ((boxes, 4), (scores, 3)):
        if dims is not None and len(dims) != rank:
            raise ValueError(f"Shape must be rank {rank} but is rank {len(dims)}")
    if boxes is not None and scores is not None:
        for ours, theirs in zip(boxes[:2], scores[:2], strict=True):
            if None not in (ours, theirs) and ours != theirs:
                raise ValueError(f"Dimensions must be equal, but are {ours} and {theirs}: there is a score for each box")
        if boxes[3] not in (4, None):
            raise ValueError(f"Dimension must be 4 but is {boxes[3]}: a box has four numbers")
        if None not in (boxes[2], scores[2]) and boxes[2] not in (1, scores[2]):
            raise ValueError("third dimension of boxes must be either 1 or equal to the third dimension of scores")
    batch = boxes[0] if boxes is not None else None
    size = _padded_size(node, None if scores is None else scores[2])
    return [(batch, size, 4), (batch, size), (batch, size), (batch,)]


def _padded_size(node: Operation, classes: int | None) -> int | None:
    per_class, total = (constant_value(each) for each in node.inputs[2:4])
    if total is None:
        return None
    if not node.attrs["pad_per_class"]:
        return int(total)
    return None if per_class is None or classes is None else min(int(total), int(per_class) * classes)


@op("CombinedNonMaxSuppression", "boxes: float, scores: float, max_output_size_per_class: int32, max_total_size: int32, "
    "iou_threshold: float, score_threshold: float -> nmsed_boxes: float, nmsed_scores: float, nmsed_classes: float, "
    "valid_detections: int32", gradient=None, infer=_combined_shape,
    ranks=dict.fromkeys(("max_output_size_per_class", "max_total_size", "iou_threshold", "score_threshold"), 0))  # fmt: skip
def combined_non_max_suppression_node(
    ctx: OpContext, boxes: Array, scores: Array, max_output_size_per_class: Array, max_total_size: Array, iou_threshold: Array,
    score_threshold: Array, *, pad_per_class: bool = False, clip_boxes: bool = True,
) -> tuple[Result, Result, Result, Result]:  # fmt: skip
    """The best boxes of all classes, each class's without those that a better one overlaps too much, padded with zeros.

    `[batch, n, q, 4], [batch, n, classes], scalar, scalar, scalar, scalar -> [batch, m, 4], [batch, m], [batch, m], [batch]`,
    where `q` is 1 or the number of classes.
    """
    batch, _, classes = scores.shape
    count, total = int(max_output_size_per_class), int(max_total_size)
    size = min(total, count * classes) if pad_per_class else total
    kept = np.zeros((batch, size, 4), np.float32)
    points, kinds = np.zeros((batch, size), np.float32), np.zeros((batch, size), np.float32)
    valid = np.zeros(batch, np.int32)
    for index in range(batch):
        found: list[tuple[np.float32, int, int]] = []
        for kind in range(classes):
            of_class, own = boxes[index, :, min(kind, boxes.shape[2] - 1)], scores[index, :, kind]
            chosen, _ = chosen_of_boxes(of_class, own, count=count, threshold=iou_threshold, least=score_threshold)
            found.extend((own[box], kind, box) for box in chosen)
        found.sort(key=lambda each: -each[0])
        valid[index] = len(found[:size])
        for place, (point, kind, box) in enumerate(found[:size]):
            corners = boxes[index, box, min(kind, boxes.shape[2] - 1)]
            kept[index, place] = np.clip(corners, 0, 1) if clip_boxes else corners
            points[index, place], kinds[index, place] = point, kind
    return kept, points, kinds, valid


class CombinedNonMaxSuppression(NamedTuple):
    """What `combined_non_max_suppression` gives."""

    nmsed_boxes: Tensor
    nmsed_scores: Tensor
    nmsed_classes: Tensor
    valid_detections: Tensor


def combined_non_max_suppression(
    boxes: TensorLike,
    scores: TensorLike,
    max_output_size_per_class: TensorLike,
    max_total_size: TensorLike,
    iou_threshold: TensorLike = 0.5,
    score_threshold: TensorLike = float("-inf"),
    pad_per_class: bool = False,
    clip_boxes: bool = True,
    name: str | None = None,
) -> CombinedNonMaxSuppression:
    """The best boxes of a batch of images over all classes; boxes of a class that overlap a better one of it are left out.

    Args:
        boxes: [batch, n, q, 4] float32: two opposite corners of each; q is 1, or there are boxes for each class.
        scores: [batch, n, classes] float32.
        max_output_size_per_class: int32 scalar: how many boxes of a class to choose at most.
        max_total_size: int32 scalar: how many to choose of an image.
        iou_threshold: boxes that overlap a better one by a greater share are left out.
        score_threshold: boxes with lower scores are left out.
        pad_per_class: whether the results are padded to `max_output_size_per_class` times the classes where that is less than
            `max_total_size`.
        clip_boxes: whether the boxes chosen are cut at 0 and 1.
        name: the name scope.

    Returns:
        nmsed_boxes [batch, m, 4], nmsed_scores and nmsed_classes [batch, m], all float32 and padded with zeros, and
        valid_detections [batch] int32: how many there are.

    Raises:
        ValueError: the shapes do not fit.
    """
    with get_default_graph().name_scope(name or "combined_non_max_suppression"):
        return CombinedNonMaxSuppression(
            *combined_non_max_suppression_node(
                boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold,
                pad_per_class=pad_per_class, clip_boxes=clip_boxes,
            )
        )  # fmt: skip
