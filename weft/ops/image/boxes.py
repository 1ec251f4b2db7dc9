"""Boxes in images: cut out and resized, and drawn.

A box is `[top, left, bottom, right]`, as shares of the image's height and width.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError, OutOfRangeError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
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
    image, boxes, box_ind, crop_size = node.inputs
    method = node.attrs["method"]
    if method not in ("bilinear", "nearest"):
        raise ValueError(f"Attr 'method' of 'CropAndResize' Op passed string '{method}' not in: \"bilinear\", \"nearest\".")
    for tensor, rank in ((image, 4), (boxes, 2), (box_ind, 1), (crop_size, 1)):
        if tensor.dims is not None and len(tensor.dims) != rank:
            raise ValueError(f"Shape must be rank {rank} but is rank {len(tensor.dims)}")
    for dims, axis, wanted in ((boxes.dims, 1, 4), (crop_size.dims, 0, 2)):
        if dims is not None and dims[axis] not in (None, wanted):
            raise ValueError(f"Dimension must be {wanted} but is {dims[axis]}")
    count, indices = (None if each.dims is None else each.dims[0] for each in (boxes, box_ind))
    if None not in (count, indices) and count != indices:
        raise ValueError(f"Dimensions must be equal, but are {count} and {indices}")
    size = constant_value(crop_size)
    # A negative size is the kernel's to refuse.
    height, width = (None, None) if size is None or min(size) < 0 else (int(size[0]), int(size[1]))
    return [(count, height, width, None if image.dims is None else image.dims[3])]


def check_crops(box_ind: Array, batch: int) -> None:
    """Raise OutOfRangeError where a box is of an image that the batch does not have."""
    if box_ind.size and (box_ind.min() < 0 or box_ind.max() >= batch):
        raise OutOfRangeError.of(f"box_index has values outside [0, batch_size): {box_ind.tolist()} of {batch}")


def _check_crops(node: Operation | None, image: Array, boxes: Array, box_ind: Array, crop_size: Array) -> None:
    if image is not None and box_ind is not None:
        check_crops(box_ind, image.shape[0])
    if boxes is not None and not np.isfinite(boxes).all():
        raise InvalidArgumentError.of("Boxes contains at least one element that is not finite")


def _check_crop_shapes(image: Array, boxes: Array, box_ind: Array, crop_size: Array) -> None:
    """Raise InvalidArgumentError for what the graph could not tell; of several mistakes for that which TensorFlow tells."""
    count = boxes.shape[0] if boxes.ndim else 0
    for is_right, rule, found in (
        (image.ndim == 4, "input image must be 4-D: its shape is {}", image.shape),
        (0 not in image.shape[1:3], "image dimensions must be positive: the image's shape is {}", image.shape),
        (boxes.ndim == 2, "boxes must be 2-D, got: {}", boxes.shape),
        (box_ind.ndim == 1, "box_indices must be rank 1 but is shape {}", box_ind.shape),
        (boxes.shape[1:] == (4,), "boxes must have 4 columns: their shape is {}", boxes.shape),
        (box_ind.shape == (count,), f"box_index has incompatible shape {{}}: there are {count} boxes", box_ind.shape),
        (crop_size.ndim == 1, "crop_size must be 1-D: its shape is {}", crop_size.shape),
        (crop_size.shape == (2,), "crop_size must have two elements: its shape is {}", crop_size.shape),
    ):
        if not is_right:
            raise InvalidArgumentError.of(rule.format(list(found)))
    if min(crop_size) <= 0:
        raise InvalidArgumentError.of(f"crop dimensions must be positive: crop_size is {crop_size.tolist()}")


def _sampled(xp: ArrayModule, begin: Array, end: Array, size: int, count: int) -> Array:
    """Where `count` samples of each box lie along an axis of `size` pixels: `[boxes, count]`."""
    last = np.float32(size - 1)
    if count == 1:
        return (np.float32(0.5) * (begin + end) * last)[:, None]
    steps = (end - begin) * last / np.float32(count - 1)
    return (begin * last)[:, None] + np.arange(count, dtype=np.float32) * steps[:, None]


def _crop_gradient(node: Operation, grad: Tensor) -> Gradients:
    """As in TensorFlow, boxes move the pixels between the nearest ones, too, so that models can learn where to look."""
    found = vjp(node, grad)
    if node.attrs["method"] == "nearest":
        found[1] = vjp(crop_and_resize_node(*node.inputs, method="bilinear").op, grad)[1]
    return found


@op("CropAndResize", "image: T, boxes: float, box_ind: int32, crop_size: int32 -> crops: float", infer=_cropped_shape,
    gradient=_crop_gradient, static=("crop_size",), types={"T": _PIXELS}, check=_check_crops,
    limits={"method": ("bilinear", "nearest")})  # fmt: skip
def crop_and_resize_node(
    xp: ArrayModule, image: Array, boxes: Array, box_ind: Array, crop_size: Array, *, method: str = "bilinear",
    extrapolation_value: float = 0.0,
) -> Result:  # fmt: skip
    """Each box's part of its image, resized: `[batch, h, w, depth], [n, 4], [n], [2] -> [n, size_0, size_1, depth]`."""
    _check_crop_shapes(image, boxes, box_ind, crop_size)
    if xp is np:
        _check_crops(None, image, boxes, box_ind, crop_size)
    height, width = image.shape[1:3]
    rows, columns = (int(each) for each in crop_size)
    y = _sampled(xp, boxes[:, 0], boxes[:, 2], height, rows)
    x = _sampled(xp, boxes[:, 1], boxes[:, 3], width, columns)
    in_rows, in_columns = (y >= 0) & (y <= height - 1), (x >= 0) & (x <= width - 1)
    inside = in_rows[:, :, None] & in_columns[:, None, :]
    # What a great box makes of its samples may be no number: they lie outside.
    y, x = xp.where(in_rows, y, 0), xp.where(in_columns, x, 0)
    pixels = xp.asarray(image).astype(np.float32)  # a constant is NumPy's, whose elements no traced index selects
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


def _pixel(share: np.float32, size: int) -> int:
    """The pixel at a share of a side, in float32 as TensorFlow has it; for what no int64 holds, NaN too, the least int64.

    That is what x86 makes of the conversion, on which TensorFlow relies: a box with such a corner is cut off or left out.
    """
    place = float(share * np.float32(size - 1))
    return int(place) if -(2.0**63) <= place < 2.0**63 else -(2**63)


def _draw(image: Array, box: Array, colour: Array) -> None:
    height, width = image.shape[:2]
    top, bottom = _pixel(box[0], height), _pixel(box[2], height)
    left, right = _pixel(box[1], width), _pixel(box[3], width)
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


def drawable_shape(node: Operation) -> list[Dims]:
    """The shape of images on which boxes can be drawn: they have 1, 3 or 4 channels."""
    dims = node.inputs[0].dims
    if dims is not None and len(dims) == 4 and dims[3] not in (None, 1, 3, 4):
        raise ValueError("Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)")
    return same_as_input(node)


@op("DrawBoundingBoxesV2", "images: T, boxes: float, colors: float -> output: T",
    ranks={"images": 4, "boxes": 3, "colors": 2},
    gradient=None, infer=drawable_shape,
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
    if colors.size and colors.shape[1] < depth:
        raise InvalidArgumentError.of(
            f"colors must have equal or more channels than the image provided: {list(colors.shape)}, and {depth} channels"
        )
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
    """Draw boxes into images: `[batch, height, width, depth]` floats, `[batch, n, 4]`; `colors` is `[colours, channels]`.

    Args:
        images: [batch, height, width, depth] tensor of float16 or float32.
        boxes: [batch, n, 4] float32: first row, first column, last row and last column of each box, of a scale from 0 to 1.
        colors: [colours, channels] float32, which the boxes take in turn; None for some that differ.

    Returns:
        A tensor of the shape and dtype of `images`.

    Raises:
        ValueError: images or boxes are of another rank, or the images' depth is none of 1, 3 and 4.
    """
    palette = np.zeros((0, 0), np.float32) if colors is None else colors
    return draw_bounding_boxes_v2(images, boxes, palette, name=name)
