"""The arithmetic of pooling, over windows that may cover any dimension.

A pooling looks at the strided slices of the input that hold each element of the windows: their greatest element by
element, or their sum. The gradient goes the same way back. On the CPU that is several times faster than XLA's windowed
reductions, whose gradient of the maximum searches every window: 0.4 and 1.2 ms for 128x28x28x32 by 2x2 (2026-11, 2 cores).
Those serve only windows of many elements. On NumPy `numpy_pooling.py` has the greatest elements and, where it serves, their
gradient.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array
from weft.ops.nn import numpy_pooling
from weft.ops.nn.masking import masked
from weft.ops.nn.window import Slices, Window
from weft.platform.imports.jax_modules import lax

# Windows of more elements than this are left to XLA's reduction: the code would grow with each.
_MANY: Final = 64


def lowest(dtype: Array) -> Array:
    """The value of padding that is never the greatest."""
    dtype = np.dtype(dtype)
    return np.array(np.iinfo(dtype).min if dtype.kind in "iu" else -np.inf, dtype)


def _padded(xp: Array, x: Array, window: Window, value: Array) -> Array:
    return xp.pad(x, window.paddings, constant_values=value) if window.is_padded else x


def _wide(x: Array) -> Array:
    return x.astype(np.float32) if x.dtype.name in ("float16", "bfloat16") else x


def greatest(xp: Array, x: Array, window: Window) -> Array:
    """The greatest element of each window."""
    least = lowest(x.dtype)
    if xp is not np and np.prod(window.size) > _MANY:
        return lax.reduce_window(x, least, lax.max, window.size, window.strides, window.paddings)
    padded = _padded(xp, x, window, least)
    if xp is np and 0 not in window.outputs:
        return numpy_pooling.greatest(padded, window)
    return functools.reduce(xp.maximum, (padded[window.slices(at)] for at in window.positions()))


def firsts(xp: Array, x: Array, made: Array, window: Window) -> Iterator[tuple[Slices, Array]]:
    """Per element of the windows, its slices and whether it is the first greatest one of its window."""
    padded = _padded(xp, x, window, lowest(x.dtype))
    missing: Array = None
    for position in window.positions():
        slices = window.slices(position)
        is_first = padded[slices] == made
        if missing is not None:
            is_first &= missing
        yield slices, is_first
        missing = ~is_first if missing is None else missing ^ is_first


def spread(xp: Array, parts: Sequence[tuple[Slices, Array]], shape: Sequence[int], window: Window) -> Array:
    """A tensor of this shape with the parts added at their slices of the padded tensor."""
    sizes = [size + low + high for size, low, high in zip(shape, window.low, window.high, strict=True)]
    if xp is np:
        result = np.zeros(sizes, parts[0][1].dtype)
        for slices, part in parts:
            if window.overlaps:
                result[slices] += part
            else:
                result[slices] = part
    elif not window.overlaps and sizes == [n * stride for n, stride in zip(window.outputs, window.strides, strict=True)]:
        result = _interleaved(xp, [part for _, part in parts], window)
    else:
        result = functools.reduce(operator.add, (_put(part, slices, sizes) for slices, part in parts))
    return _inside(result, shape, window)


def _inside(padded: Array, shape: Sequence[int], window: Window) -> Array:
    return padded[tuple(slice(low, low + size) for low, size in zip(window.low, shape, strict=True))]


def _put(part: Array, slices: Slices, sizes: Sequence[int]) -> Array:
    """The part at its slices, zeros around and between."""
    config = [
        (each.start, size - (each.start + (count - 1) * each.step + 1) if count else size, each.step - 1)
        for each, size, count in zip(slices, sizes, part.shape, strict=True)
    ]
    return lax.pad(part, np.zeros((), part.dtype), config)


def _interleaved(xp: Array, parts: Sequence[Array], window: Window) -> Array:
    """The elements of windows that cover everything once, in their places."""
    rank = len(window.size)
    missing = iter(parts)
    zeros = xp.zeros_like(parts[0])
    # Strides wider than the window leave gaps.
    cells = [next(missing) if all(map(operator.lt, at, window.size)) else zeros for at in np.ndindex(*window.strides)]
    stacked = xp.stack(cells).reshape(*window.strides, *window.outputs)
    order = [axis for index in range(rank) for axis in (rank + index, index)]
    return stacked.transpose(order).reshape([n * s for n, s in zip(window.outputs, window.strides, strict=True)])


def greatest_gradient(xp: Array, x: Array, made: Array, grad: Array, window: Window) -> Array:
    """The gradient of `greatest`: all of it goes to the first greatest element of a window."""
    if xp is not np:
        # Else XLA may compute `made` again here, with the bias and relu before it: 1.2 of 90 ms of CPU for a step of two
        # convolutions, of which the second's maximum is flattened for a dense layer (x86_64, December 2026).
        made = lax.optimization_barrier(made)  # type: ignore[no-untyped-call]
    elif made.shape == grad.shape == window.outputs and numpy_pooling.serves_gradient(x.shape, window):
        padded = _padded(np, x, window, lowest(x.dtype))
        return _inside(numpy_pooling.greatest_gradient(padded, made, grad, window), x.shape, window)
    parts = [(slices, masked(xp, is_first, grad)) for slices, is_first in firsts(xp, x, made, window)]
    return spread(xp, parts, x.shape, window)


def greatest_second_gradient(xp: Array, x: Array, made: Array, grad: Array, window: Window) -> Array:
    """Of a tensor like `x`, the elements where the first greatest ones of `x` are."""
    zero = np.zeros((), grad.dtype)
    padded = _padded(xp, grad, window, zero)
    taken = (masked(xp, is_first, padded[slices]) for slices, is_first in firsts(xp, x, made, window))
    return functools.reduce(operator.add, taken)


def _counts(shape: Sequence[int], window: Window) -> Array:
    """The number of elements of each window that are not padding."""
    result = np.ones((), np.float64)
    for index, (size, length) in enumerate(zip(shape, window.size, strict=True)):
        starts = np.arange(window.outputs[index]) * window.strides[index] - window.low[index]
        counts = np.minimum(starts + length, size) - np.maximum(starts, 0)
        result = result[..., None] * counts
    return result


def mean(xp: Array, x: Array, window: Window) -> Array:
    """The mean of each window, padding not counted."""
    wide = _wide(x)
    if xp is not np and np.prod(window.size) > _MANY:
        total = lax.reduce_window(wide, np.zeros((), wide.dtype), lax.add, window.size, window.strides, window.paddings)
    else:
        padded = _padded(xp, wide, window, 0)
        total = functools.reduce(operator.add, (padded[window.slices(at)] for at in window.positions()))
    return (total / _counts(x.shape, window).astype(wide.dtype)).astype(x.dtype)


def mean_gradient(xp: Array, shape: Sequence[int], grad: Array, window: Window) -> Array:
    """The gradient of `mean` for an input of this shape; InvalidArgumentError where that has other windows."""
    if grad.shape != window.outputs:
        raise InvalidArgumentError.of(
            f"Expected the gradient to have the pooled shape {list(window.outputs)} of an input of shape {list(shape)}, "
            f"got {list(grad.shape)}"
        )
    wide = _wide(grad)
    share = wide / _counts(shape, window).astype(wide.dtype)
    parts = [(window.slices(position), share) for position in window.positions()]
    return spread(xp, parts, shape, window).astype(grad.dtype)


def greatest_position(xp: Array, x: Array, made: Array, window: Window, with_batch: bool) -> Array:
    """The position of each window's first greatest element in the flat image, or in the whole flat batch."""
    strides = np.cumprod((1, *x.shape[:0:-1]))[::-1].copy()
    if not with_batch:
        strides[0] = 0
    result: Array = 0
    for slices, is_first in firsts(xp, x, made, window):
        at = np.zeros((), np.int64)
        for index, (each, stride) in enumerate(zip(slices, strides, strict=True)):
            places = np.arange(window.outputs[index], dtype=np.int64) * each.step + each.start - window.low[index]
            at = at[..., None] + places * stride
        result = xp.where(is_first, at, result)
    # Of an empty batch NumPy makes no integers.
    return result.astype(np.int64) if xp is np else result
