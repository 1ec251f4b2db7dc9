"""The greatest elements of windows on NumPy, and their gradient where the windows cover everything once.

How long NumPy's inner loop is decides the time. Along a dimension in which windows move it ends with the numbers that lie
behind one place, which are the channels of an image, often 8 or 16. So the last such dimension stays whole while numbers are
computed, and what lies behind a place is copied, or repeated, as one item of so many bytes. Microseconds per call for windows
of 2x2, element by element of the window -> so, float32, one of two cores (AVX2), December 2026:

    batch, size, channels    greatest      gradient
    32, 28x28, 8             220 -> 112    532 -> 245
    32, 14x14, 16            82 -> 60      216 -> 160
    64, 28x28, 32            644 -> 596    3343 -> 2024
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.ops.nn.masking import masked
from weft.ops.nn.window import Window

_SHORT_BYTES: Final = 64
"""Where windows begin no farther apart, to compute the greatest at every place and to copy those of the windows takes less,"""
_FAST: Final = (np.dtype(np.float32), np.dtype(np.float64))
"""if of these types: of others NumPy compares one number after the other."""


def greatest(padded: Array, window: Window) -> Array:
    """The greatest element of each window, dimension by dimension; there are elements and windows."""
    axes = [axis for axis, (size, count) in enumerate(zip(padded.shape, window.outputs, strict=True)) if size != count]
    for axis in axes:
        stride, behind = window.strides[axis], math.prod(padded.shape[axis + 1 :])
        is_short = behind > 1 and behind * padded.itemsize * stride <= _SHORT_BYTES and padded.dtype in _FAST
        if axis < axes[-1] or stride == 1 or not is_short:
            padded = _greatest_along(padded, window, axis, stride)
            continue
        everywhere = _greatest_along(padded, window, axis, 1)
        chosen = _items(everywhere, axis)[(*(slice(None),) * axis, slice(None, None, stride))]
        padded = np.ascontiguousarray(chosen).view(everywhere.dtype).reshape(window.outputs)
    return padded


def _greatest_along(padded: Array, window: Window, axis: int, step: int) -> Array:
    """The same along one dimension, of windows that begin so many places apart."""
    reach = (window.outputs[axis] - 1) * window.strides[axis] + 1
    begins = [element * window.dilations[axis] for element in range(window.size[axis])]
    return functools.reduce(
        np.maximum, (padded[(*(slice(None),) * axis, slice(begin, begin + reach, step))] for begin in begins)
    )


def _items(x: Array, axis: int) -> Array:
    """What lies behind each place of this dimension as one item; a view of the array where that is one block of memory."""
    flat = x.reshape(*x.shape[: axis + 1], -1)
    return flat.view(np.dtype((np.void, flat.shape[-1] * x.itemsize)))[..., 0]


def serves_gradient(shape: Sequence[int], window: Window) -> bool:
    """Whether windows cover images of this shape, with the padding, once, side by side, and leave the last dimension alone."""
    sizes = [size + low + high for size, low, high in zip(shape, window.low, window.high, strict=True)]
    covered = [size * count for size, count in zip(window.size, window.outputs, strict=True)]
    moves = window.size == window.strides and max(window.size) > 1
    return moves and window.size[-1] == 1 and 0 not in covered and sizes == covered


def greatest_gradient(padded: Array, made: Array, grad: Array, window: Window) -> Array:
    """The gradient of `greatest` for padded images and windows that `serves_gradient` is true of."""
    axis = max(axis for axis, size in enumerate(window.size) if size > 1)
    apart = [each for pair in zip(window.outputs[:axis], window.size[:axis], strict=True) for each in pair]
    together = [each for count in window.outputs[:axis] for each in (count, 1)]

    def repeated(values: Array) -> Array:
        return np.repeat(values, window.size[axis], axis).reshape(*together, -1)

    is_greatest = np.equal(padded.reshape(*apart, -1), repeated(made), order="C")
    _keep_firsts(is_greatest.reshape(*apart, window.outputs[axis], window.size[axis], -1), window.size[: axis + 1])
    spread = np.broadcast_to(repeated(grad), is_greatest.shape)
    return masked(np, is_greatest, spread).reshape(padded.shape)


def _keep_firsts(is_greatest: Array, size: tuple[int, ...]) -> None:
    """Clear all but the first of each window, `[places, elements of a window ..., behind]` dimension by dimension."""
    items = _items(is_greatest, is_greatest.ndim - 2)
    missing: Array = None
    for position in np.ndindex(*size):
        at = tuple(index for element in position for index in (slice(None), element))
        here = np.ascontiguousarray(items[at])
        is_first = here.view(np.bool_)
        if missing is None:
            missing = ~is_first
            continue
        is_first &= missing
        missing ^= is_first
        items[at] = here
