"""Convolutions on NumPy: the windows laid out as the rows of a matrix, and one product with the filters.

All arrays are channels-last, `[batch, size..., channels]`, and the filters `[size..., channels, outputs]`. The gradient for the
input is a convolution too: that of the output's gradient, with zeros around it, by the filters turned round; with strides it is
one for each place that an element of the input can have between two windows.

What copies the windows decides the time. A window's elements along its last dimension and all their channels lie side by
side, so they are copied as one item of so many bytes; images of one channel are copied window element by window element, whole
rows at a time. Milliseconds per call, by a product for each element of the window -> so, float32, two cores, November 2026:

    batch, size, channels; window, outputs     forward        filter's gradient   input's gradient
    32, 28x28, 1; 3x3, 8                       5.3 -> 0.4     2.1 -> 0.2          2.7 -> 0.7
    32, 14x14, 8; 3x3, 16                      8.4 -> 0.3     1.9 -> 0.3          12.5 -> 0.4

The first 100 steps of that network of two layers, which are interpreted, took 9.5 times as long as TensorFlow's, and take as
much CPU time now. For both halves of a batch at once, on another thread that waits for them, they took longer: NumPy gives the
interpreter back at each call and asks for it again, from a thread that computes, so that the second convolution's filter's
gradient made 0.46 ms of 0.37 and twice the CPU time (two cores of a virtual machine, Python 3.11, December 2026).
"""

from __future__ import annotations

import itertools
import math
import threading
from collections.abc import Iterator, Sequence
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array
from weft.ops.nn.window import Window
from weft.platform.machine.product_threads import product_threads

_ROWS_BYTES: Final = 1 << 20
"""The matrix of the windows is made for so many images at a time that it stays in the second-level cache, in memory that a
thread keeps for it: the system gives a new array page by page, which takes as long as to fill it."""


def convolved(x: Array, filters: Array, window: Window) -> Array:
    """The convolution of the images with the filters, `[batch, outputs..., channels out]`."""
    flat = filters.reshape(-1, filters.shape[-1])
    result = np.empty((x.shape[0], *window.outputs, flat.shape[1]), x.dtype)
    for images, rows in _rows_of(x, window):
        with product_threads.of(len(rows), rows.shape[1], flat.shape[1]):
            np.matmul(rows, flat, out=result[images].reshape(-1, flat.shape[1]))
    return result


def filter_gradient(x: Array, grad: Array, window: Window) -> Array:
    """The gradient for filters of this window, `[size..., channels, outputs]`, from that of the output."""
    result = np.zeros((math.prod(window.size) * x.shape[-1], grad.shape[-1]), x.dtype)
    for images, rows in _rows_of(x, window):
        with product_threads.of(len(rows), rows.shape[1], grad.shape[-1]):
            result += rows.T @ grad[images].reshape(-1, grad.shape[-1])
    return result.reshape(*window.size, x.shape[-1], grad.shape[-1])


def input_gradient(shape: Sequence[int], filters: Array, grad: Array, window: Window) -> Array:
    """The gradient for images of this shape, from that of the output."""
    if _is_scattered(shape, window):
        return _scattered(shape, filters, grad, window)
    turned = filters.swapaxes(-1, -2)
    if max(window.strides, default=1) == 1:
        return _phase(shape, turned, grad, window, (0,) * len(window.size))
    result = np.zeros(shape, grad.dtype)
    for phase in itertools.product(*map(range, map(min, window.strides, shape[1:-1]))):
        places = (slice(None), *(slice(at, None, stride) for at, stride in zip(phase, window.strides, strict=True)))
        made = _phase(result[places].shape, turned, grad, window, phase)
        if made is not None:
            result[places] = made
    return result


def _phase(shape: Sequence[int], turned: Array, grad: Array, window: Window, phase: Sequence[int]) -> Array:
    """The gradient for the elements of the images that are at these places between windows; None where no window reaches."""
    taken: list[slice] = []
    low, high = [], []
    for axis, at in enumerate(phase):
        stride, dilation, pad = window.strides[axis], window.dilations[axis], window.low[axis]
        first = (at + pad) % stride
        taken.append(slice(first, None, stride))
        count = len(range(first, window.size[axis], stride))
        if not count:
            return None
        # The window that has its first element of this phase here.
        start = (at + pad - first) // stride
        low.append((count - 1) * dilation - start)
        high.append(start + shape[1 + axis] - window.outputs[axis])
    filters = turned[tuple(taken)][(slice(None, None, -1),) * len(phase)]
    ones = (1,) * len(phase)
    around = Window(filters.shape[:-2], ones, window.dilations, tuple(low), tuple(high), tuple(shape[1:-1]))
    return convolved(grad, filters, around)


def _is_scattered(shape: Sequence[int], window: Window) -> bool:
    """Whether windows have both strides and gaps, or few places."""
    has_both = any(stride > 1 < dilation for stride, dilation in zip(window.strides, window.dilations, strict=True))
    return has_both or window.has_few_places(shape[1:-1])


def _scattered(shape: Sequence[int], filters: Array, grad: Array, window: Window) -> Array:
    """The same by one product for all elements of the windows: what each of them gives is added where it is from."""
    sizes = [count + low + high for count, low, high in zip(shape[1:-1], window.low, window.high, strict=True)]
    padded = np.zeros((shape[0], *sizes, shape[-1]), grad.dtype)
    flat = filters.reshape(-1, filters.shape[-1]).T
    places = math.prod(window.outputs)
    count = max(1, _ROWS_BYTES // max(1, places * flat.shape[1] * grad.itemsize))
    for begin in range(0, shape[0], count):
        images = slice(begin, begin + count)
        some = grad[images]
        rows = some.reshape(len(some) * places, grad.shape[-1])
        with product_threads.of(rows.shape[0], rows.shape[1], flat.shape[1]):
            parts = (rows @ flat).reshape(len(some), *window.outputs, math.prod(window.size), shape[-1])
        for number, position in enumerate(window.positions()):
            padded[(images, *window.slices(position))] += parts[..., number, :]
    inside = tuple(slice(low, low + count) for low, count in zip(window.low, shape[1:-1], strict=True))
    return padded[(slice(None), *inside)]


def padded_by(x: Array, window: Window) -> Array:
    """The images with zeros around them, cut where padding is negative, as one block of memory."""
    if not any(window.low) and not any(window.high):
        return np.ascontiguousarray(x)
    result, source = [x.shape[0]], [slice(None)]
    target = [slice(None)]
    for size, low, high in zip(x.shape[1:-1], window.low, window.high, strict=True):
        result.append(max(size + low + high, 0))
        source.append(slice(max(-low, 0), max(size + min(high, 0), 0)))
        target.append(slice(max(low, 0), max(size + low + min(high, 0), 0)))
    made = np.zeros((*result, x.shape[-1]), x.dtype)
    made[tuple(target)] = x[tuple(source)]
    return made


class _Memory(threading.local):
    """What a thread lays windows out in."""

    def __init__(self) -> None:
        self._block = np.empty(0, np.uint8)

    def array(self, shape: Sequence[int], dtype: Array) -> Array:
        """An array whose contents hold until the next is asked for."""
        size_bytes = math.prod(shape) * dtype.itemsize
        if size_bytes > _ROWS_BYTES:
            return np.empty(shape, dtype)
        if len(self._block) < size_bytes:
            self._block = np.empty(_ROWS_BYTES, np.uint8)
        return self._block[:size_bytes].view(dtype).reshape(shape)


_memory: Final = _Memory()


def _rows_of(x: Array, window: Window) -> Iterator[tuple[slice, Array]]:
    """Some images at a time, and the matrix of their windows, `[windows, elements of one]`.

    It holds until the next is asked for.
    """
    places, elements = math.prod(window.outputs), math.prod(window.size) * x.shape[-1]
    if not x.shape[0] or not elements or not places:
        yield slice(0, x.shape[0]), np.zeros((x.shape[0] * places, elements), x.dtype)
        return
    count = max(1, _ROWS_BYTES // (elements * x.itemsize * places))
    padded = padded_by(x, window)
    lay_out = _single_channel if x.shape[-1] == 1 else _runs
    for begin in range(0, x.shape[0], count):
        images = slice(begin, begin + count)
        yield images, lay_out(padded[images], window)


def _runs(padded: Array, window: Window) -> Array:
    if math.prod(window.size) == math.prod(window.strides) == 1 and window.outputs == padded.shape[1:-1]:
        return padded.reshape(-1, padded.shape[-1])
    is_run = window.dilations[-1] == 1
    inner = window.size[:-1] if is_run else window.size
    item = np.dtype((np.void, padded.strides[-2] * (window.size[-1] if is_run else 1)))
    steps = padded.strides[1:-1]
    between = [step * stride for step, stride in zip(steps, window.strides, strict=True)]
    within = [step * dilation for step, dilation in zip(steps, window.dilations, strict=True)][: len(inner)]
    shape = (len(padded), *window.outputs, *inner)
    rows = _memory.array(shape, item)
    rows[...] = np.ndarray(shape, item, padded, 0, (padded.strides[0], *between, *within))
    return rows.view(padded.dtype).reshape(len(padded) * math.prod(window.outputs), -1)


def _single_channel(padded: Array, window: Window) -> Array:
    columns = _memory.array((math.prod(window.size), len(padded), *window.outputs), padded.dtype)
    for element, position in enumerate(window.positions()):
        columns[element] = padded[(slice(None), *window.slices(position), 0)]
    return columns.reshape(len(columns), -1).T
