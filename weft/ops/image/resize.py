"""tf.image.resize_images and its kin: images of another size, by a method, with their proportions or padded."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.node_errors import described
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.shape_ops import shape, squeeze
from weft.ops.array.stacking import stack
from weft.ops.image.bounds import image_batch, pad_to_bounding_box
from weft.ops.image.resampling import (
    resize_area_node,
    resize_bicubic_node,
    resize_bilinear_node,
    resize_nearest_neighbor_node,
)
from weft.ops.math.casting import cast
from weft.ops.math.comparison import maximum, minimum
from weft.ops.math.unary import round_to_integer


class ResizeMethod:
    """How the pixels of a resized image are made."""

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


def resize_bilinear(
    images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None, half_pixel_centers: bool = False
) -> Tensor:
    """Resize a batch, each pixel a blend of four: `[batch, height, width, channels]` to float32 of the size `[2]`.

    Args: those of `tf.image.resize_bicubic`.

    Returns:
        [batch, *size, channels] float32.
    """
    return resize_bilinear_node(images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name)


def resize_bicubic(
    images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None, half_pixel_centers: bool = False
) -> Tensor:
    """Resize a batch, each pixel a cubic blend of sixteen: `[batch, height, width, channels]` to float32 of the size `[2]`.

    Args:
        images: [batch, height, width, channels] tensor of a real dtype.
        size: [2] int32: the new height and width.
        align_corners: whether the centres of the corner pixels fall on those of the old ones.
        half_pixel_centers: whether a pixel's place is its centre, rather than its corner.

    Returns:
        [batch, *size, channels] float32.
    """
    return resize_bicubic_node(images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name)


def resize_nearest_neighbor(
    images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None, half_pixel_centers: bool = False
) -> Tensor:
    """Resize a batch, each pixel a copy of the nearest: `[batch, height, width, channels]`, of the same dtype.

    Args: those of `tf.image.resize_bicubic`.

    Returns:
        [batch, *size, channels] tensor of the dtype of `images`.
    """
    return resize_nearest_neighbor_node(
        images, size, align_corners=align_corners, half_pixel_centers=half_pixel_centers, name=name
    )


def resize_area(images: TensorLike, size: TensorLike, align_corners: bool = False, name: str | None = None) -> Tensor:
    """Resize a batch, each pixel the mean of its area: `[batch, height, width, channels]` to float32 of the size `[2]`.

    Args:
        images: [batch, height, width, channels] tensor of a real dtype.
        size: [2] int32: the new height and width.
        align_corners: whether the centres of the corner pixels fall on those of the old ones.

    Returns:
        [batch, *size, channels] float32.
    """
    return resize_area_node(images, size, align_corners=align_corners, name=name)


_METHODS: Final[dict[int, Callable[..., Tensor]]] = {
    ResizeMethod.BILINEAR: resize_bilinear,
    ResizeMethod.NEAREST_NEIGHBOR: resize_nearest_neighbor,
    ResizeMethod.BICUBIC: resize_bicubic,
    ResizeMethod.AREA: resize_area,
}

# TensorFlow 2's names of them, which 1.15 takes as well.
_NAMED: Final = {
    "bilinear": ResizeMethod.BILINEAR,
    "nearest": ResizeMethod.NEAREST_NEIGHBOR,
    "bicubic": ResizeMethod.BICUBIC,
    "area": ResizeMethod.AREA,
}


def resize_images(
    images: TensorLike,
    size: TensorLike,
    method: int = ResizeMethod.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
    name: str | None = None,
) -> Tensor:
    """Resize an image or a batch.

    Args:
        images: `[height, width, channels]`, or with a batch before.
        size: `[new_height, new_width]`, int32.
        method: one of `ResizeMethod`.
        align_corners: whether the centres of the corner pixels keep their places.
        preserve_aspect_ratio: whether `size` is a box that the image shall fit into, with the proportions that it has.
        name: the name scope.

    Returns:
        float32, but the dtype of the images where their size does not change or by nearest neighbour.

    Raises:
        ValueError: the rank is not 3 or 4, `size` is not a vector of two, or the method is none.
    """
    with get_default_graph().name_scope(name or "resize"):
        tensor, is_batch = _batch_of(images)
        wanted = _size_of(size)
        if preserve_aspect_ratio:
            wanted = _fitting(tensor, wanted)
        known = constant_value(wanted)
        if known is not None and None not in known and tensor.shape.as_list()[1:3] == [int(each) for each in known]:
            return tensor if is_batch else squeeze(tensor, [0])
        number = _NAMED.get(method, method) if isinstance(method, str) else method
        if number not in _METHODS:
            raise ValueError(
                f"Resize method is not implemented. Got {method!r}; methods are tf.image.ResizeMethod.BILINEAR, "
                f"NEAREST_NEIGHBOR, BICUBIC and AREA, or {', '.join(map(repr, _NAMED))}."
            )
        resized = _METHODS[number](tensor, wanted, align_corners=align_corners)
        return resized if is_batch else squeeze(resized, [0])


def _batch_of(images: TensorLike) -> tuple[Tensor, bool]:
    if convert_to_tensor(images).shape.ndims is None:
        raise ValueError(
            f"'images' contains no shape.\n  images: {described(convert_to_tensor(images))}\n  Tell it by "
            "images.set_shape([None, None, channels]); tf.image.decode_jpeg and decode_png know the rank, decode_image does "
            "not."
        )
    return image_batch(images, "images", may_be_empty=True, is_asserted=False)


def _size_of(size: TensorLike) -> Tensor:
    try:
        wanted = convert_to_tensor(size, dtypes.int32, name="size")
    except (TypeError, ValueError):
        raise ValueError(
            f"'size' must be a 1-D int32 Tensor: [new_height, new_width] in whole numbers, got {size!r}; int(x) makes one."
        ) from None
    if not wanted.shape.is_compatible_with([2]):
        raise ValueError(f"'size' must be a 1-D Tensor of 2 elements: new_height, new_width; got {size!r}")
    return wanted


def _fitting(images: Tensor, box: Tensor) -> Tensor:
    """The largest height and width within a box that keep the proportions of the images."""
    own = cast(shape(images)[1:3], dtypes.float32)
    ratios = cast(box, dtypes.float32) / own
    return cast(round_to_integer(minimum(ratios[0], ratios[1]) * own), dtypes.int32)


def resize_image_with_pad(
    image: TensorLike,
    target_height: int,
    target_width: int,
    method: int = ResizeMethod.BILINEAR,
    align_corners: bool = False,
) -> Tensor:
    """Resize an image or a batch to fit a size with the proportions that it has, and pad it with zeros evenly to that size.

    Args:
        image: [height, width, channels] or [batch, height, width, channels] tensor of a real dtype.
        target_height, target_width: the size, ints.
        method: a `tf.image.ResizeMethod`.
        align_corners: whether the centres of the corner pixels fall on those of the old ones.

    Returns:
        A tensor of that size.

    Raises:
        ValueError: a target is not positive, or the rank is not 3 or 4.
    """
    with get_default_graph().name_scope("resize_image_with_pad"):
        tensor, is_batch = image_batch(image)
        _check_positive(target_height=target_height, target_width=target_width)
        own = cast(shape(tensor)[1:3], dtypes.float32)
        ratio = maximum(own[1] / target_width, own[0] / target_height)
        inner = cast(own / ratio, dtypes.int32)
        resized = resize_images(tensor, inner, method, align_corners)
        free = maximum(stack([target_height, target_width]) - inner, 0) // 2
        padded = pad_to_bounding_box(resized, free[0], free[1], target_height, target_width)
        return padded if is_batch else squeeze(padded, [0])


def _check_positive(**targets: int) -> None:
    for what, value in targets.items():
        known = constant_value(convert_to_tensor(value))
        if known is not None and known <= 0:
            raise ValueError(f"{what} must be > 0.")
