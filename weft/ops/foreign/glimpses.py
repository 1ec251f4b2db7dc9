"""Glimpses: a part of each image around a place, with noise where the image ends; and images scaled and moved at once."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.constant_value import constant_value
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.declaration import not_differentiable, op
from weft.ops.size_checks import check_equal, check_size

_FAR: Final = 2**31
_NOISES: Final = ("uniform", "gaussian", "zero")


def _glimpse_shape(node: Operation) -> list[Dims]:
    if node.attrs["uniform_noise"] and node.attrs["noise"] not in ("uniform", ""):
        raise ValueError("The uniform_noise should not be True when noise is not uniform")
    if node.attrs["noise"] not in _NOISES:
        raise ValueError(f"The noise should be one of {', '.join(_NOISES)}, not {node.attrs['noise']!r}")
    check_equal(node.inputs[0], 0, node.inputs[2], 0)
    return _sized(node)


def _sized(node: Operation) -> list[Dims]:
    dims, size = node.inputs[0].dims, constant_value(node.inputs[1])
    if dims is not None and len(dims) != 4:
        raise ValueError(f"Shape must be rank 4 but is rank {len(dims)}")
    check_size(node.inputs[1], 0, 2)
    rows, columns = (None, None) if size is None else (int(each) for each in size)
    return [(None, rows, columns, None) if dims is None else (dims[0], rows, columns, dims[3])]


def _noise(kind: str, images: Array, shape: tuple[int, ...]) -> Array:
    """What is beside the images: as TensorFlow's kernel, each run has noise of its own."""
    random = np.random.default_rng()
    if kind == "zero":
        return np.zeros(shape, np.float32)
    if kind == "gaussian":
        return (random.normal(size=shape) * images.std() + images.mean()).astype(np.float32)
    return (random.random(shape) * (images.max() - images.min()) + images.min()).astype(np.float32)


def _start(place: float, whole: int, part: int, is_centered: bool, is_normalized: bool, is_first: bool) -> int:
    """Where a glimpse begins along an axis. In the first version `place` is always its middle."""
    at = place * whole if is_normalized else place
    if is_centered:
        at = at / 2 + whole / 2 if is_first or is_normalized else at + whole / 2
    if is_first or (is_centered and is_normalized):
        at -= part / 2
    # What no integer holds, NaN too, is the least one, as x86 converts it.
    return math.trunc(at) if abs(at) < _FAR else -_FAR


def _glimpses(input: Array, size: Array, offsets: Array, centered: bool, normalized: bool, noise: str, is_first: bool) -> Array:
    """Parts of `size` around `offsets`, or from there on."""
    if size.shape != (2,) or size.min() <= 0:
        raise InvalidArgumentError.of(f"input must be a vector of two positive sizes, got {size.tolist()}")
    if offsets.shape != (len(input), 2):
        raise InvalidArgumentError.of(f"offsets should be of shape [{len(input)}, 2], got {list(offsets.shape)}")
    batch, height, width, depth = input.shape
    rows, columns = (int(each) for each in size)
    made = _noise(noise, input, (batch, rows, columns, depth))
    for entry in range(batch):
        top, left = (
            _start(float(place), whole, part, centered, normalized, is_first)
            for place, whole, part in zip(offsets[entry], (height, width), (rows, columns), strict=True)
        )
        row, column = np.arange(rows) + top, np.arange(columns) + left
        in_rows, in_columns = (row >= 0) & (row < height), (column >= 0) & (column < width)
        made[entry][np.ix_(in_rows, in_columns)] = input[entry][np.ix_(row[in_rows], column[in_columns])]
    return made


@op("ExtractGlimpse", "input: float, size: int32, offsets: float -> glimpse: float", ranks={"size": 1, "offsets": 2},
    infer=_glimpse_shape, gradient=not_differentiable)  # fmt: skip
def extract_glimpse(
    ctx: OpContext, input: Array, size: Array, offsets: Array, *, centered: bool = True, normalized: bool = True,
    uniform_noise: bool = True, noise: str = "uniform",
) -> Result:  # fmt: skip
    """A part of each image around a place: `[batch, h, w, depth], [2], [batch, 2] -> [batch, rows, columns, depth]`."""
    return _glimpses(input, size, offsets, centered, normalized, noise, True)


@op("ExtractGlimpseV2", "input: float, size: int32, offsets: float -> glimpse: float", ranks={"size": 1, "offsets": 2},
    infer=_glimpse_shape, gradient=None)  # fmt: skip
def extract_glimpse_v2(
    ctx: OpContext, input: Array, size: Array, offsets: Array, *, centered: bool = True, normalized: bool = True,
    uniform_noise: bool = True, noise: str = "uniform",
) -> Result:  # fmt: skip
    """A part of each image around a place: `[batch, h, w, depth], [2], [batch, 2] -> [batch, rows, columns, depth]`."""
    return _glimpses(input, size, offsets, centered, normalized, noise, False)


# Scaled and moved.


def _lanczos(radius: float) -> Callable[[Array], Array]:
    def weight(x: Array) -> Array:
        return np.where(np.abs(x) < radius, np.sinc(x) * np.sinc(x / radius), 0.0)

    return weight


def _keys(x: Array) -> Array:
    x = np.abs(x)
    inner, outer = ((1.5 * x - 2.5) * x) * x + 1, ((-0.5 * x + 2.5) * x - 4) * x + 2
    return np.where(x >= 2, 0.0, np.where(x >= 1, outer, inner))


def _mitchell(x: Array) -> Array:
    x = np.abs(x)
    inner = ((7 / 6 * x - 2) * x) * x + 8 / 9
    outer = ((-7 / 18 * x + 2) * x - 10 / 3) * x + 16 / 9
    return np.where(x >= 2, 0.0, np.where(x >= 1, outer, inner))


def _gaussian(x: Array) -> Array:
    return np.where(np.abs(x) < 1.5, np.exp(-x * x / (2 * 0.5 * 0.5)), 0.0)


_KERNELS: Final[dict[str, tuple[float, Callable[[Array], Array]]]] = {
    "lanczos1": (1.0, _lanczos(1.0)),
    "lanczos3": (3.0, _lanczos(3.0)),
    "lanczos5": (5.0, _lanczos(5.0)),
    "gaussian": (1.5, _gaussian),
    "box": (1.0, lambda x: np.where(np.abs(x) < 0.5, 1.0, np.where(np.abs(x) == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda x: np.maximum(1 - np.abs(x), 0.0)),
    "keyscubic": (2.0, _keys),
    "mitchellcubic": (2.0, _mitchell),
}


def _weights(size: int, count: int, scale: float, translation: float, kernel: str, antialias: bool) -> Array:
    """The weights `[count, size]` of `size` pixels in each of `count` pixels along one axis."""
    if kernel not in _KERNELS:
        raise InvalidArgumentError.of(f"Unrecognized kernel type: {kernel}; it is one of {', '.join(_KERNELS)}")
    if scale <= 0:
        raise InvalidArgumentError.of("Scale must be greater than zero.")
    radius, weight = _KERNELS[kernel]
    inverse = np.float32(1.0 / scale)
    widened = max(float(inverse), 1.0) if antialias else 1.0
    # As TensorFlow in float32: a pixel that is just as far as a kernel reaches is to be on the same side of its edge.
    samples = (np.arange(count, dtype=np.float32) + np.float32(0.5)) * inverse - inverse * np.float32(translation)
    places = np.arange(size, dtype=np.float32) + np.float32(0.5)
    distances = ((places[None, :] - samples[:, None]) * np.float32(1 / widened)).astype(np.float64)
    found = np.where(np.abs(distances) <= radius + 0.5 / widened, weight(distances), 0.0)
    totals = found.sum(1, keepdims=True)
    made = np.where(np.abs(totals) >= 1000 * np.finfo(np.float32).tiny, found / np.where(totals == 0, 1, totals), 0.0)
    return np.where(((samples >= 0) & (samples <= size))[:, None], made, 0.0).astype(np.float32)


def _both(
    shape: tuple[int, ...], size: tuple[int, int], scale: Array, translation: Array, kernel: str, antialias: bool
) -> list[Array]:
    if scale.shape != (2,) or translation.shape != (2,):
        raise InvalidArgumentError.of(
            f"scale and translation must be of 2 elements: {list(scale.shape)}, {list(translation.shape)}"
        )
    return [
        _weights(shape[axis + 1], size[axis], float(scale[axis]), float(translation[axis]), kernel, antialias)
        for axis in (0, 1)
    ]


@op("ScaleAndTranslateGrad", "grads: T, original_image: T, scale: float, translation: float -> output: T",
    ranks={"grads": 4, "original_image": 4, "scale": 1, "translation": 1}, infer=lambda node: [node.inputs[1].dims],
    gradient=None, types={"T": (dtypes.float32,)})  # fmt: skip
def scale_and_translate_grad(
    ctx: OpContext, grads: Array, original_image: Array, scale: Array, translation: Array, *, kernel_type: str = "lanczos3",
    antialias: bool = True,
) -> Result:  # fmt: skip
    """The gradient of ScaleAndTranslate for its images.

    `[batch, rows, columns, depth], [batch, h, w, depth], [2], [2] -> [batch, h, w, depth]`
    """
    rows, columns = _both(original_image.shape, grads.shape[1:3], scale, translation, kernel_type, antialias)
    return np.einsum("bijd,ih,jw->bhwd", grads, rows, columns, optimize=True).astype(grads.dtype)


def _scaled_gradient(node: Operation, grad: Tensor) -> list[Tensor | None]:
    images, _, scale, translation = node.inputs
    attrs = {key: node.attrs[key] for key in ("kernel_type", "antialias")}
    return [scale_and_translate_grad(grad, images, scale, translation, **attrs), None, None, None]


@op("ScaleAndTranslate", "images: T, size: int32, scale: float, translation: float -> resized_images: float",
    ranks={"images": 4, "size": 1, "scale": 1, "translation": 1}, infer=_sized, gradient=_scaled_gradient,
    types={"T": (dtypes.int8, dtypes.uint8, dtypes.int16, dtypes.uint16, dtypes.int32, dtypes.int64, dtypes.bfloat16,
                 dtypes.float16, dtypes.float32, dtypes.float64)})  # fmt: skip
def scale_and_translate(
    ctx: OpContext, images: Array, size: Array, scale: Array, translation: Array, *, kernel_type: str = "lanczos3",
    antialias: bool = True,
) -> Result:  # fmt: skip
    """Images scaled and moved, each pixel a mean of those that it covers.

    `[batch, h, w, depth], [2], [2], [2] -> [batch, rows, columns, depth]`
    """
    count = int(size[0]), int(size[1])
    if min(count) <= 0:
        raise InvalidArgumentError.of(f"output dimensions must be positive, got {list(count)}")
    if not images.size:
        raise InvalidArgumentError.of(f"input image must be of non-zero size, got {list(images.shape)}")
    rows, columns = _both(images.shape, count, scale, translation, kernel_type, antialias)
    return np.einsum("bhwd,ih,jw->bijd", images.astype(np.float32), rows, columns, optimize=True).astype(np.float32)
