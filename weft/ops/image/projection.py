"""Projective transforms of images: rotations, translations, and any map of planes to planes.

A transform is eight numbers `[a0, a1, a2, b0, b1, b2, c0, c1]`: the pixel `(x, y)` of the result is that of the image at
`((a0 x + a1 y + a2) / k, (b0 x + b1 y + b2) / k)` with `k = c0 x + c1 y + 1`, or 0 where the image has none.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Gradients, Result, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.filling import ones_like, zeros_like
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.array.stacking import stack, unstack
from weft.ops.declaration import op
from weft.ops.input_scope import input_scope
from weft.ops.math.casting import cast
from weft.ops.math.division import truediv
from weft.ops.math.elementwise import add, mul, neg, sub
from weft.ops.math.products import matmul
from weft.ops.math.trigonometry import cos, sin

_PIXELS: Final = (
    dtypes.uint8, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.bfloat16, dtypes.float32, dtypes.float64,
)  # fmt: skip


# TensorFlow declares neither, and refuses others when a kernel is made.
_MODES: Final = {"interpolation": ("NEAREST", "BILINEAR"), "fill_mode": ("CONSTANT", "REFLECT", "WRAP", "NEAREST")}


def _projected_shape(node: Operation) -> list[Dims]:
    for attr, known in _MODES.items():
        if node.attrs[attr] not in known:
            raise ValueError(f"Invalid {attr} {node.attrs[attr]}. Supported types are {', '.join(known)}.")
    images, size = node.inputs[0].dims, constant_value(node.inputs[2])
    if images is not None and len(images) != 4:
        raise ValueError(f"Shape must be rank 4 but is rank {len(images)}")
    batch, channels = (None, None) if images is None else (images[0], images[3])
    return [(batch, *_known_sizes(size), channels)]


def _known_sizes(size: Array) -> list[int | None]:
    """A height and a width, where they are known: -1 is not, which the kernel refuses."""
    if size is None:
        return [None, None]
    for each in size:
        if each < -1:
            raise ValueError(f"Dimension {each} must be >= 0")
    return [None if each == -1 else int(each) for each in size]


def _projected_gradient(node: Operation, grad: Tensor) -> Gradients:
    # As TensorFlow's: the gradient's image, projected back. It is exact for maps of pixels on pixels alone.
    images, transforms, _ = node.inputs
    back = project(
        grad, _inverse(transforms), shape(images)[1:3], interpolation=node.attrs["interpolation"],
        fill_mode=node.attrs["fill_mode"],
    )  # fmt: skip
    return [back, None, None]


def _filled_gradient(node: Operation, grad: Tensor) -> Gradients:
    images, transforms, _, _ = node.inputs
    back = project_filled(
        grad, _inverse(transforms), shape(images)[1:3], 0.0, interpolation=node.attrs["interpolation"],
        fill_mode=node.attrs["fill_mode"],
    )  # fmt: skip
    return [back, None, None, None]


@op("ImageProjectiveTransformV2", "images: dtype, transforms: float32, output_shape: int32 -> transformed_images: dtype",
    ranks={"output_shape": 1},
    infer=_projected_shape, gradient=_projected_gradient, static=("output_shape",), types={"dtype": _PIXELS})  # fmt: skip
def project(
    xp: ArrayModule, images: Array, transforms: Array, output_shape: Array, *, interpolation: str,
    fill_mode: str = "CONSTANT", dtype: DType = dtypes.float32,
) -> Result:  # fmt: skip
    """Images by the transforms of the module: each its own, or one for all.

    `[batch, height, width, channels], [batch, 8], [2] -> [batch, output_shape_0, output_shape_1, channels]`
    """
    return _projected(xp, images, transforms, output_shape, interpolation, fill_mode, np.zeros((), images.dtype))


@op("ImageProjectiveTransformV3", "images: dtype, transforms: float32, output_shape: int32, fill_value: float32 -> "
    "transformed_images: dtype", ranks={"output_shape": 1, "fill_value": 0}, infer=_projected_shape,
    gradient=_filled_gradient, static=("output_shape",), types={"dtype": _PIXELS})  # fmt: skip
def project_filled(
    xp: ArrayModule, images: Array, transforms: Array, output_shape: Array, fill_value: Array, *, interpolation: str,
    fill_mode: str = "CONSTANT", dtype: DType = dtypes.float32,
) -> Result:  # fmt: skip
    """ImageProjectiveTransformV2 with a value for what comes in.

    `[batch, height, width, channels], [batch, 8], [2], scalar -> [batch, output_shape_0, output_shape_1, channels]`
    """
    return _projected(xp, images, transforms, output_shape, interpolation, fill_mode, fill_value.astype(images.dtype))


def _projected(
    xp: ArrayModule, images: Array, transforms: Array, output_shape: Array, interpolation: str, fill_mode: str, fill: Array
) -> Array:
    rows, columns = (int(each) for each in output_shape)
    if rows <= 0 or columns <= 0:
        raise InvalidArgumentError.of(f"output dimensions must be positive: output_shape is [{rows},{columns}]")
    x, y = np.arange(columns, dtype=np.float32), np.arange(rows, dtype=np.float32)[:, None]
    a0, a1, a2, b0, b1, b2, c0, c1 = (transforms[:, index, None, None] for index in range(8))
    scale = c0 * x + c1 * y + 1
    is_seen = scale != 0
    scale = xp.where(is_seen, scale, 1)
    across = _inside(xp, (a0 * x + a1 * y + a2) / scale, images.shape[2], fill_mode)
    down = _inside(xp, (b0 * x + b1 * y + b2) / scale, images.shape[1], fill_mode)
    if interpolation == "NEAREST":
        return _pixels(xp, images, _nearest(xp, down), _nearest(xp, across), is_seen, fill)
    left, top = xp.floor(across), xp.floor(down)
    right, bottom = (across - left)[..., None], (down - top)[..., None]
    # TensorFlow interpolates pixels of all types in float32.
    floats, beside = images.astype(np.float32), fill.astype(np.float32)
    tops, bottoms = (
        (1 - right) * _pixels(xp, floats, row, left, is_seen, beside)
        + right * _pixels(xp, floats, row, left + 1, is_seen, beside)
        for row in (top, top + 1)
    )
    made = ((1 - bottom) * tops + bottom * bottoms).astype(images.dtype)
    return xp.where(is_seen[..., None], made, fill)


def _inside(xp: ArrayModule, places: Array, length: int, fill_mode: str) -> Array:
    """Places along an axis, those beside the image as the mode says: reflected at its ends, from its other end, at its end."""
    if fill_mode == "CONSTANT":
        return places
    last = max(length - 1, 0)
    if fill_mode == "REFLECT" and last:
        period = 2 * length
        before = xp.where(places < period, places + period * _turns(xp, -places / period), places)
        before = xp.where(before < -length, before + period, -before - 1)
        behind = places - period * _turns(xp, places / period)
        behind = xp.where(behind >= length, period - behind - 1, behind)
        places = xp.where(places < 0, before, xp.where(places > last, behind, places))
    elif fill_mode == "WRAP" and last:
        before = places + length * (_turns(xp, -places / last) + 1)
        behind = places - length * _turns(xp, places / last)
        places = xp.where(places < 0, before, xp.where(places > last, behind, places))
    return xp.clip(places, 0, last).astype(np.float32)


def _turns(xp: ArrayModule, count: Array) -> Array:
    """The whole part; none where it is no 64-bit integer, as TensorFlow counts them: such places come to an end of the axis."""
    return xp.where(xp.abs(count) < 2.0**63, xp.trunc(count), 0)


def _nearest(xp: ArrayModule, places: Array) -> Array:
    """The whole number that is nearest, of halves that farther from 0."""
    return xp.trunc(places + xp.where(places < 0, -0.5, 0.5).astype(np.float32))


def _pixels(xp: ArrayModule, images: Array, rows: Array, columns: Array, is_seen: Array, fill: Array) -> Array:
    """The pixels at places `[batch, rows, columns]`, `fill` beside the images."""
    batch, height, width, channels = images.shape
    inside = is_seen & (rows >= 0) & (rows < height) & (columns >= 0) & (columns < width)
    if not images.size:
        return xp.broadcast_to(fill, (batch, *rows.shape[1:], channels))
    # Places beside the images, those that are no number among them, are not looked up.
    row, column = (xp.where(inside, places, 0).astype(np.int32) for places in (rows, columns))
    places = xp.broadcast_to(row * width + column, (batch, *rows.shape[1:])).reshape(batch, -1, 1)
    taken = xp.take_along_axis(images.reshape(batch, height * width, channels), places, axis=1)
    return xp.where(inside[..., None], taken.reshape(batch, *rows.shape[1:], channels), fill)


def _inverse(transforms: Tensor) -> Tensor:
    """The transforms back; being known up to a factor, an inverse needs no determinant."""
    a, b, c, d, e, f, g, h = unstack(transforms, num=8, axis=1)
    rows = (
        sub(e, f * h), sub(c * h, b), sub(b * f, c * e), sub(f * g, d), sub(a, c * g), sub(c * d, a * f),
        sub(d * h, e * g), sub(b * g, a * h), sub(a * e, b * d),
    )  # fmt: skip
    return matrices_to_flat_transforms(reshape(stack(rows, 1), [-1, 3, 3]))


def transform(
    images: TensorLike, transforms: TensorLike, interpolation: str = "NEAREST", output_shape: TensorLike | None = None,
    name: str | None = None,
) -> Tensor:  # fmt: skip
    """Images by projective transforms.

    Args:
        images: `[batch, height, width, channels]`, one of `[height, width, channels]`, or one of `[height, width]`.
        transforms: `[8]`, one for all images, or `[batch, 8]`; see the module.
        interpolation: "NEAREST" or "BILINEAR".
        output_shape: the height and width of the result; those of the images when None.
        name: the name scope.

    Raises:
        TypeError: the rank or the type of the images, or the rank of the transforms, is another.
        ValueError: `output_shape` is no vector of 2.
    """
    with input_scope(name, "transform", (images, transforms)):
        given = convert_to_tensor(images, name="images")
        batch = _as_batch(given)
        maps = convert_to_tensor(transforms, dtypes.float32, name="transforms")
        if maps.shape.ndims not in (1, 2):
            raise TypeError(f"Transforms should have rank 1 or 2, but their shape is {maps.shape}.")
        size = shape(batch)[1:3] if output_shape is None else convert_to_tensor(output_shape, dtypes.int32)
        if not size.shape.is_compatible_with([2]):
            raise ValueError(f"output_shape must be a vector of 2 elements, new_height and new_width, but it is {size.shape}")
        maps = maps if maps.shape.ndims == 2 else reshape(maps, [1, -1])
        made = project(batch, maps, size, interpolation=interpolation.upper())
        sizes = batch.shape[1:3] if output_shape is None else _known_sizes(constant_value(size))
        made.set_shape([batch.shape[0], *sizes, batch.shape[3]])
        return made if given.shape.ndims == 4 else made[0] if given.shape.ndims == 3 else made[0, :, :, 0]


def _as_batch(images: Tensor) -> Tensor:
    if images.dtype.base_dtype not in _PIXELS:
        raise TypeError(f"Invalid dtype {images.dtype}.")
    rank = images.shape.ndims
    if rank is None:
        raise TypeError("image_or_images rank must be statically known")
    if rank not in (2, 3, 4):
        raise TypeError(f"Images should have rank between 2 and 4, but their shape is {images.shape}.")
    return images if rank == 4 else images[None] if rank == 3 else images[None, :, :, None]


def rotate(images: TensorLike, angles: TensorLike, interpolation: str = "NEAREST", name: str | None = None) -> Tensor:
    """Images turned counter-clockwise about their centres; what comes in is 0.

    Args:
        images: as those of `transform`.
        angles: in radians, one for all images or `[batch]`.
        interpolation: "NEAREST" or "BILINEAR".
        name: the name scope.

    Returns:
        A tensor of the shape and dtype of `images`.
    """
    with input_scope(name, "rotate", (images, angles)):
        given = convert_to_tensor(images)
        sizes = cast(shape(_as_batch(given)), dtypes.float32)
        return transform(given, angles_to_projective_transforms(angles, sizes[1], sizes[2]), interpolation)


def translate(images: TensorLike, translations: TensorLike, interpolation: str = "NEAREST", name: str | None = None) -> Tensor:
    """Images moved by `[dx, dy]`, one for all or `[batch, 2]`, right and down; what comes in is 0.

    Args:
        images: [height, width], [height, width, channels] or [batch, height, width, channels] tensor of a numeric dtype.
        translations: [2] or [batch, 2] float32: how far right, and how far down.
        interpolation: "NEAREST" or "BILINEAR".

    Returns:
        A tensor of the shape and dtype of `images`.
    """
    with input_scope(name, "translate", (images, translations)):
        return transform(images, translations_to_projective_transforms(translations), interpolation)


def angles_to_projective_transforms(
    angles: TensorLike, image_height: TensorLike, image_width: TensorLike, name: str | None = None
) -> Tensor:
    """The transforms `[angles, 8]` that turn images of a size about their centres; TypeError for angles of another rank.

    Args:
        angles: [] or [angles] float32, in radians.
        image_height, image_width: float32 scalars.
    """
    with input_scope(name, "angles_to_projective_transforms", (angles,)):
        turned = convert_to_tensor(angles, dtypes.float32, name="angles")
        if turned.shape.ndims not in (0, 1):
            raise TypeError("Angles should have rank 0 or 1.")
        turned = reshape(turned, [-1])
        right, down = (sub(cast(size, dtypes.float32), 1.0) for size in (image_width, image_height))
        cosine, sine = cos(turned), sin(turned)
        across = truediv(sub(right, sub(mul(cosine, right), mul(sine, down))), 2.0)
        along = truediv(sub(down, add(mul(sine, right), mul(cosine, down))), 2.0)
        nothing = zeros_like(turned)
        return stack([cosine, neg(sine), across, sine, cosine, along, nothing, nothing], 1)


def translations_to_projective_transforms(translations: TensorLike, name: str | None = None) -> Tensor:
    """The transforms `[n, 8]` that move images by `[2]`, or by `[n, 2]`; TypeError for another rank.

    Args:
        translations: [2] or [n, 2] float32: how far right, and how far down.
    """
    with input_scope(name, "translations_to_projective_transforms", (translations,)):
        moves = convert_to_tensor(translations, dtypes.float32, name="translations")
        if moves.shape.ndims not in (1, 2):
            raise TypeError(f"Translations should have rank 1 or 2, but their shape is {moves.shape}.")
        moves = moves if moves.shape.ndims == 2 else moves[None]
        x, y = moves[:, 0], moves[:, 1]
        one, nothing = ones_like(x), zeros_like(x)
        return stack([one, nothing, neg(x), nothing, one, neg(y), nothing, nothing], 1)


def compose_transforms(*transforms: TensorLike) -> Tensor:
    """The transform that makes of an image what these make of it one after the other.

    Args:
        transforms: [8] or [n, 8] float32 tensors, all of one shape.

    Raises:
        AssertionError: there is no transform.
    """
    if not transforms:
        raise AssertionError("transforms cannot be empty")
    with input_scope(None, "compose_transforms", transforms):
        made = flat_transforms_to_matrices(transforms[0])
        for each in transforms[1:]:
            made = matmul(made, flat_transforms_to_matrices(each))
        return matrices_to_flat_transforms(made)


def flat_transforms_to_matrices(transforms: TensorLike) -> Tensor:
    """Transforms `[8]` or `[n, 8]` as matrices `[n, 3, 3]`, the last element of each 1; ValueError for another rank.

    Args:
        transforms: [8] or [n, 8] float32.

    Returns:
        [n, 3, 3] float32.
    """
    with input_scope(None, "flat_transforms_to_matrices", (transforms,)):
        flat = convert_to_tensor(transforms, name="transforms")
        if flat.shape.ndims not in (1, 2):
            raise ValueError(f"Transforms should be 1D or 2D, got: {flat}")
        flat = reshape(flat, [-1, 8])
        return reshape(concat([flat, ones_like(flat[:, :1])], 1), [-1, 3, 3])


def matrices_to_flat_transforms(transform_matrices: TensorLike) -> Tensor:
    """Matrices `[3, 3]` or `[n, 3, 3]`, over the last element of each, as transforms `[n, 8]`; ValueError for another rank.

    Args:
        transform_matrices: [3, 3] or [n, 3, 3] float32.

    Returns:
        [n, 8] float32.
    """
    with input_scope(None, "matrices_to_flat_transforms", (transform_matrices,)):
        matrices = convert_to_tensor(transform_matrices, name="transform_matrices")
        if matrices.shape.ndims not in (2, 3):
            raise ValueError(f"Matrices should be 2D or 3D, got: {matrices}")
        flat = reshape(matrices, [-1, 9])
        return truediv(flat, flat[:, 8:9])[:, :8]
