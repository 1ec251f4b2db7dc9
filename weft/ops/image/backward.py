"""What gradients of image ops are in graphs that TensorFlow's clients built, and image ops that weft composes of others."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation
from weft.framework.op_types.op_def import AtLeast
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.declaration import definition_of, not_differentiable, op, same_as_input
from weft.ops.image.boxes import check_crops, crop_and_resize_node, draw_bounding_boxes_v2, drawable_shape
from weft.ops.image.resampling import resize_nearest_neighbor_node
from weft.ops.size_checks import size_of
from weft.platform.imports.jax_modules import jax, jnp

_HALVES: Final = (dtypes.float16, dtypes.float32)
_FLOATS: Final = (*_HALVES, dtypes.float64)
_RESIZED: Final = (dtypes.uint8, dtypes.int8, dtypes.int32, *_FLOATS, dtypes.bfloat16)
_PIXELS: Final = (
    dtypes.uint8, dtypes.uint16, dtypes.int8, dtypes.int16, dtypes.int32, dtypes.int64, *_FLOATS,
)  # fmt: skip


def _resized_before(node: Operation) -> list[Dims]:
    grads, size = node.inputs
    known = constant_value(size)
    height, width = (None, None) if known is None else (int(known[0]), int(known[1]))
    return [(None, height, width, None) if grads.dims is None else (grads.dims[0], height, width, grads.dims[3])]


@op("ResizeNearestNeighborGrad", "grads: T, size: int32 -> output: T",
    ranks={"grads": 4, "size": 1}, infer=_resized_before, gradient=None, static=("size",),
    types={"T": _RESIZED}, compiled_only=True)  # fmt: skip
def resize_nearest_neighbor_grad(
    xp: ArrayModule, grads: Array, size: Array, *, align_corners: bool = False, half_pixel_centers: bool = False
) -> Result:
    """For each pixel of images of this size the sum of its copies' gradients.

    `[batch, rows, columns, channels], [2] -> [batch, size_0, size_1, channels]`
    """
    resize = definition_of(resize_nearest_neighbor_node).kernel
    height, width = (int(each) for each in np.ravel(size))
    if not grads.size:
        return jnp.zeros((grads.shape[0], height, width, grads.shape[3]), grads.dtype)
    target = np.asarray(grads.shape[1:3], np.int32)
    # Numbers of pixels, resized as the pixels were, tell whose copy each pixel is.
    numbers = np.arange(height * width, dtype=np.int32).reshape(1, height, width, 1)
    whose = resize(np, numbers, target, align_corners=align_corners, half_pixel_centers=half_pixel_centers).ravel()
    flat = jnp.reshape(grads, (grads.shape[0], whose.size, grads.shape[3]))
    total = jnp.zeros((grads.shape[0], height * width, grads.shape[3]), grads.dtype).at[:, whose].add(flat)
    return total.reshape(grads.shape[0], height, width, grads.shape[3])


def _image_size(node: Operation) -> list[Dims]:
    known = constant_value(node.inputs[3])
    return [(None,) * 4 if known is None else tuple(int(each) for each in known)]


def _check_image_crops(node: Operation, grads: Array, boxes: Array, box_ind: Array, image_size: Array) -> None:
    if box_ind is not None and image_size is not None:
        check_crops(box_ind, int(image_size[0]))


@op("CropAndResizeGradImage", "grads: float, boxes: float, box_ind: int32, image_size: int32 -> output: T",
    ranks={"image_size": 1}, infer=_image_size, check=_check_image_crops,
    gradient=None, static=("image_size",), types={"T": _FLOATS}, compiled_only=True,
    limits={"method": ("bilinear", "nearest")})  # fmt: skip
def crop_and_resize_grad_image(
    xp: ArrayModule, grads: Array, boxes: Array, box_ind: Array, image_size: Array, *, T: DType, method: str = "bilinear"
) -> Result:
    """The gradient by the images: `[n, rows, columns, depth], [n, 4], [n], [4] -> [batch, height, width, depth]`."""
    crop = definition_of(crop_and_resize_node).kernel
    size = np.asarray(grads.shape[1:3], np.int32)
    shape = tuple(int(each) for each in np.ravel(image_size))
    _, back = jax.vjp(lambda image: crop(jnp, image, boxes, box_ind, size, method=method), jnp.zeros(shape, jnp.float32))
    return back(jnp.asarray(grads))[0].astype(T.as_numpy_dtype)


def _like_boxes(node: Operation) -> list[Dims]:
    boxes, box_ind = node.inputs[2:]
    if None not in (size_of(boxes, 0), size_of(box_ind, 0)) and size_of(boxes, 0) != size_of(box_ind, 0):
        raise ValueError(
            f"box_index has incompatible shape: there are {size_of(boxes, 0)} boxes, and {size_of(box_ind, 0)} indices"
        )
    return [boxes.dims]


def _check_box_crops(node: Operation, grads: Array, image: Array, boxes: Array, box_ind: Array) -> None:
    if image is not None and box_ind is not None:
        check_crops(box_ind, image.shape[0])


@op("CropAndResizeGradBoxes", "grads: float, image: T, boxes: float, box_ind: int32 -> output: float", infer=_like_boxes,
    gradient=None, check=_check_box_crops, types={"T": _PIXELS}, compiled_only=True,
    limits={"method": ("bilinear",)})  # fmt: skip
def crop_and_resize_grad_boxes(
    xp: ArrayModule, grads: Array, image: Array, boxes: Array, box_ind: Array, *, method: str = "bilinear"
) -> Result:
    """The gradient by the boxes: `[n, rows, columns, depth], [batch, height, width, depth], [n, 4], [n] -> [n, 4]`."""
    crop = definition_of(crop_and_resize_node).kernel
    size = np.asarray(grads.shape[1:3], np.int32)
    _, back = jax.vjp(lambda at: crop(jnp, image, at, box_ind, size, method=method), jnp.asarray(boxes))
    return back(jnp.asarray(grads))[0]


@op("DrawBoundingBoxes", "images: T, boxes: float -> output: T",
    ranks={"images": 4, "boxes": 3}, gradient=not_differentiable, infer=drawable_shape,
    types={"T": (dtypes.float32, dtypes.float16)}, defaults={"T": dtypes.float32})  # fmt: skip
def draw_bounding_boxes_v1(ctx: OpContext, images: Array, boxes: Array) -> Result:
    """Images with boxes drawn, in TensorFlow's ten colours by turns.

    `[batch, height, width, 1, 3 or 4], [batch, n, 4] -> [batch, height, width, depth]`
    """
    return definition_of(draw_bounding_boxes_v2).kernel(ctx, images, boxes, np.zeros((0, 0), np.float32))


@op("AdjustContrastv2", "images: T, contrast_factor: float -> output: T",
    ranks={"contrast_factor": 0, "images": AtLeast(3)}, gradient=None, infer=same_as_input,
    types={"T": _HALVES}, defaults={"T": dtypes.float32})  # fmt: skip
def adjust_contrast_v2(xp: ArrayModule, images: Array, contrast_factor: Array) -> Result:
    """The distance of each channel's pixels from their mean over the image, scaled.

    `[..., height, width, channels], scalar -> [..., height, width, channels]`
    """
    pixels = xp.asarray(images).astype(np.float32)
    mean = pixels.mean(axis=(-3, -2), keepdims=True)
    return ((pixels - mean) * contrast_factor + mean).astype(images.dtype)
