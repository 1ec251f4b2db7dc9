"""Images of another size: nearest pixel, bilinear, bicubic, area; with the sampling positions of TensorFlow 1.

An output pixel is a weighed sum of a few input pixels along each axis: `_Taps` has their places and weights, which depend on
the sizes alone and are worked out in float32, as TensorFlow's kernels do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, ArrayModule, Result
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.array.shape_ops import shape
from weft.ops.declaration import op
from weft.ops.symbolic_gradient import vjp

_PIXELS: Final = (
    dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64, dtypes.float16, dtypes.float32,
    dtypes.float64, dtypes.bfloat16,
)  # fmt: skip
_CUBIC_STEPS: Final = 1024  # TensorFlow's table of the cubic kernel has so many entries per pixel
_f32 = np.float32


@dataclass(frozen=True)
class _Taps:
    """For each output pixel along one axis the input pixels that it is made of: `[output, taps]` each."""

    places: np.ndarray
    weights: np.ndarray


_known: Final = functools.lru_cache(maxsize=256)
"""Keeps the places and weights of the sizes that were asked for last: to work them out takes a third of resizing a picture of
128 pixels to 64 on the host (December 2026)."""


def _scale(size: int, target: int, align_corners: bool) -> np.float32:
    return _f32(size - 1) / _f32(target - 1) if align_corners and target > 1 else _f32(size) / _f32(target)


def _positions(size: int, target: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """Where the output pixels lie in the input."""
    pixels = np.arange(target, dtype=np.float32)
    scale = _scale(size, target, align_corners)
    return (pixels + _f32(0.5)) * scale - _f32(0.5) if half_pixel_centers else pixels * scale


@_known
def _linear(size: int, target: int, align_corners: bool, half_pixel_centers: bool) -> _Taps:
    positions = _positions(size, target, align_corners, half_pixel_centers)
    floors = np.floor(positions)
    share = positions - floors
    first = np.maximum(floors, 0).astype(np.int64)
    places = np.stack([first, np.minimum(floors.astype(np.int64) + 1, size - 1)], axis=1)
    return _Taps(places, np.stack([1 - share, share], axis=1))


@functools.cache
def _cubic_table(a: float) -> np.ndarray:
    """The cubic convolution kernel (Keys 1981) with parameter `a`, at distances from 0 to 1 and from 1 to 2: `[2, steps+1]`."""
    x = (np.arange(_CUBIC_STEPS + 1, dtype=np.float32) / _f32(_CUBIC_STEPS)).astype(np.float64)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    x = x + 1
    far = ((a * x - 5 * a) * x + 8 * a) * x - 4 * a
    return np.stack([near, far]).astype(np.float32)


@_known
def _cubic(size: int, target: int, align_corners: bool, half_pixel_centers: bool) -> _Taps:
    positions = _positions(size, target, align_corners, half_pixel_centers)
    floors = np.floor(positions)
    steps = np.rint((positions - floors) * _CUBIC_STEPS).astype(np.int64)
    near, far = _cubic_table(-0.5 if half_pixel_centers else -0.75)
    weights = np.stack([far[steps], near[steps], near[_CUBIC_STEPS - steps], far[_CUBIC_STEPS - steps]], axis=1)
    wanted = floors.astype(np.int64)[:, None] + np.arange(-1, 3)
    places = np.clip(wanted, 0, size - 1)
    if half_pixel_centers:
        # Pixels outside of the image have no part; the others' weights are made to sum to one.
        weights = np.where(places == wanted, weights, _f32(0))
        weights = weights / weights.sum(axis=1, keepdims=True)
    return _Taps(places, weights.astype(np.float32))


@_known
def _area(size: int, target: int, align_corners: bool, half_pixel_centers: bool) -> _Taps:
    scale = _scale(size, target, align_corners)
    begin = np.arange(target, dtype=np.float32) * scale
    end = np.arange(1, target + 1, dtype=np.float32) * scale
    first, last = np.floor(begin).astype(np.int64), np.ceil(end).astype(np.int64)
    wanted = first[:, None] + np.arange(int((last - first).max()))
    covered = np.minimum(wanted + 1, end[:, None]) - np.maximum(wanted, begin[:, None])
    weights = np.where(wanted < last[:, None], np.maximum(covered, 0), 0) / scale
    return _Taps(np.clip(wanted, 0, size - 1), weights.astype(np.float32))


def _resampled(xp: ArrayModule, images: Array, axis: int, taps: _Taps) -> Array:
    shape = [1] * 4
    shape[axis] = -1
    total = None
    # NumPy multiplies three colours by one number in four times the time that it takes for a number each.
    colours = images.shape[3] if axis == 2 and xp is np else 1
    for place, weight in zip(taps.places.T, taps.weights.T, strict=True):
        factor = np.repeat(weight, colours).reshape(*shape[:3], colours)
        part = xp.take(images, place, axis=axis) * factor
        total = part if total is None else total + part
    return total


def _sizes(images: Array, size: Array) -> tuple[int, int, int, int]:
    """Height, width, and those wanted."""
    wanted = np.ravel(size).tolist()
    if len(images.shape) != 4:
        raise InvalidArgumentError.of(f"input must be 4-dimensional{list(images.shape)}")
    if len(wanted) != 2:
        raise InvalidArgumentError.of(f"shape_t must have two elements{list(size.shape)}")
    height, width = (int(each) for each in wanted)
    if height <= 0 or width <= 0:
        raise InvalidArgumentError.of("output dimensions must be positive")
    if not (images.shape[1] and images.shape[2]):
        raise InvalidArgumentError.of("input image must be of non-zero size")
    if not images.shape[3]:
        raise InvalidArgumentError.of("image must have at least one channel")
    return images.shape[1], images.shape[2], height, width


def _check_centers(align_corners: bool, half_pixel_centers: bool) -> None:
    if align_corners and half_pixel_centers:
        raise InvalidArgumentError.of("If half_pixel_centers is True, align_corners must be False.")


def _resized_shape(node: Operation) -> list[Dims]:
    images, size = node.inputs
    if images.dims is not None and len(images.dims) != 4:
        raise ValueError(f"Shape must be rank 4 but is rank {len(images.dims)}")
    if size.dims is not None and len(size.dims) != 1:
        raise ValueError(f"Shape must be rank 1 but is rank {len(size.dims)}")
    wanted = constant_value(size)
    batch, channels = (None, None) if images.dims is None else (images.dims[0], images.dims[3])
    if wanted is None:
        return [(batch, None, None, channels)]
    if len(wanted) != 2:
        raise ValueError(f"Dimension must be 2 but is {len(wanted)}: the size of resized images is [height, width]")
    return [(batch, int(wanted[0]), int(wanted[1]), channels)]


def _matrix(taps: _Taps, size: int) -> np.ndarray:
    """The weights as a matrix, `[output, size]`."""
    dense = np.zeros((len(taps.places), size), np.float32)
    np.add.at(dense, (np.arange(len(taps.places))[:, None], taps.places), taps.weights)
    return dense


def _product(xp: ArrayModule, images: Array, axis: int, matrix: np.ndarray) -> Array:
    """The product of an axis with a matrix's first one."""
    precision = {} if xp is np else {"precision": "highest"}  # an accelerator multiplies in fewer bits otherwise
    return xp.moveaxis(xp.tensordot(images, matrix, axes=([axis], [0]), **precision), -1, axis)


def _sampling(node: Operation) -> dict[str, bool]:
    """Where the pixels of a node's images lie."""
    return {each: node.attrs[each] for each in ("align_corners", "half_pixel_centers")}


def _declare(
    name: str, taps: Callable[[int, int, bool, bool], _Taps], grad_types: Sequence[DType], doc: str
) -> Callable[..., Tensor]:
    """The op that resizes and, as `<name>Grad`, its gradient."""

    def kernel(
        xp: ArrayModule, images: Array, size: Array, *, align_corners: bool = False, half_pixel_centers: bool = False
    ) -> Result:
        height, width, rows, columns = _sizes(images, size)
        _check_centers(align_corners, half_pixel_centers)
        pixels = images.astype(np.float32)
        wide = _resampled(xp, pixels, 2, taps(width, columns, align_corners, half_pixel_centers))
        return _resampled(xp, wide, 1, taps(height, rows, align_corners, half_pixel_centers))

    # As two matrix products, though most weights are zero. Derived from the kernel it is eight scatters, which XLA compiles
    # three times as long (0.8 s, now 0.3 s) and runs at half the speed or less: 23 and 5 ms for 8 images from 64 to 128
    # pixels, 343 and 190 ms for one from 512 to 1024 (CPU times on two cores, 2026-11-22).
    def grad_kernel(
        xp: ArrayModule, grads: Array, original_image: Array, *, align_corners: bool = False, half_pixel_centers: bool = False
    ) -> Result:
        (height, width), (rows, columns) = original_image.shape[1:3], grads.shape[1:3]
        down = _matrix(taps(height, rows, align_corners, half_pixel_centers), height)
        across = _matrix(taps(width, columns, align_corners, half_pixel_centers), width)
        return _product(xp, _product(xp, grads, 1, down), 2, across).astype(original_image.dtype)

    grad_kernel.__doc__ = f"""The gradient of {name} with respect to its images.

    `[batch, rows, columns, channels], [batch, height, width, channels] -> [batch, height, width, channels]`
    """

    def grad_gradient(node: Operation, grad: Tensor) -> list[Tensor | None]:
        # Resizing is linear, so the gradient of its gradient is the resizing.
        return [builder(grad, shape(node.inputs[0])[1:3], **_sampling(node)), None]

    make_grad = op(
        f"{name}Grad", "grads: float, original_image: T -> output: T", infer=lambda node: [node.inputs[1].dims],
        gradient=grad_gradient, types={"T": grad_types}, ranks={"grads": 4, "original_image": 4},
    )(grad_kernel)  # fmt: skip

    def gradient(node: Operation, grad: Tensor) -> list[Tensor | None]:
        images = node.inputs[0]
        if images.dtype.base_dtype not in grad_types:
            return [None, None]
        return [make_grad(grad, images, **_sampling(node)), None]

    kernel.__doc__ = doc
    builder: Callable[..., Tensor] = op(
        name, "images: T, size: int32 -> resized_images: float", infer=_resized_shape, gradient=gradient, static=("size",),
        types={"T": _PIXELS},
    )(kernel)  # fmt: skip
    return builder


resize_bilinear_node = _declare(
    "ResizeBilinear",
    _linear,
    (dtypes.float32, dtypes.float64, dtypes.float16, dtypes.bfloat16),
    """Images of another size, each pixel a blend of four.

    `[batch, height, width, channels], [2] -> [batch, size_0, size_1, channels]`
    """,
)
resize_bicubic_node = _declare(
    "ResizeBicubic",
    _cubic,
    (dtypes.float32, dtypes.float64),
    """Images of another size, each pixel a cubic blend of sixteen.

    `[batch, height, width, channels], [2] -> [batch, size_0, size_1, channels]`
    """,
)


@op("ResizeArea", "images: T, size: int32 -> resized_images: float", infer=_resized_shape, gradient=None, static=("size",),
    types={"T": _PIXELS})  # fmt: skip
def resize_area_node(xp: ArrayModule, images: Array, size: Array, *, align_corners: bool = False) -> Result:
    """Images of another size, each pixel the mean of the area that it covers.

    `[batch, height, width, channels], [2] -> [batch, size_0, size_1, channels]`
    """
    height, width, rows, columns = _sizes(images, size)
    pixels = images.astype(np.float32)
    wide = _resampled(xp, pixels, 2, _area(width, columns, align_corners, False))
    return _resampled(xp, wide, 1, _area(height, rows, align_corners, False))


@op("ResizeNearestNeighbor", "images: T, size: int32 -> resized_images: T", infer=_resized_shape, gradient=vjp,
    static=("size",), types={"T": _PIXELS})  # fmt: skip
def resize_nearest_neighbor_node(
    xp: ArrayModule, images: Array, size: Array, *, align_corners: bool = False, half_pixel_centers: bool = False
) -> Result:
    """Images of another size, each pixel a copy of the nearest one.

    `[batch, height, width, channels], [2] -> [batch, size_0, size_1, channels]`
    """
    height, width, rows, columns = _sizes(images, size)
    _check_centers(align_corners, half_pixel_centers)
    down = _nearest(height, rows, align_corners, half_pixel_centers)
    across = _nearest(width, columns, align_corners, half_pixel_centers)
    return xp.take(xp.take(images, down, axis=1), across, axis=2)


def _nearest(size: int, target: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    pixels = np.arange(target, dtype=np.float32) + _f32(0.5 if half_pixel_centers else 0)
    positions = pixels * _scale(size, target, align_corners)
    # Halves go away from zero, as C's `roundf` has it.
    chosen = np.floor(positions + _f32(0.5)) if align_corners else np.floor(positions)
    clipped: np.ndarray = np.clip(chosen.astype(np.int64), 0, size - 1)
    return clipped
