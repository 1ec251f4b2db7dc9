"""Convolutions on the CPU as products of matrices: the windows of an image as rows, times the filters.

XLA's convolutions on the CPU reach half of what its matrix products do, and its gradient for the filter less than that.
Copying the windows out ("im2col") pays when the copies stay in the cache, so it is done for a few images at a time; see
"Convolution on the CPU" in docs/design.md for what was measured.
"""

from __future__ import annotations

import math
from typing import Any, Final

import jax.numpy as jnp
from jax import lax

from weft.ops.nn.window import Window

# The copies of one block should stay in the second-level cache; less is better where they are the longer side of a product.
_BLOCK_BYTES: Final = 5 << 19
_FILTER_BLOCK_BYTES: Final = 5 << 18
# Fewer channels make short runs to copy; smaller windows leave XLA's own convolution as fast.
_LEAST_CHANNELS: Final = 16
_LEAST_ELEMENTS: Final = 16


def is_worthwhile(window: Window, channels: int) -> bool:
    """Whether products of copied-out windows are faster on the CPU than XLA's convolution."""
    return is_pointwise(window) or (channels >= _LEAST_CHANNELS and math.prod(window.size) >= _LEAST_ELEMENTS)


def is_worthwhile_for_filter(window: Window, channels: int, item_bytes: int) -> bool:
    """Whether products of copied-out windows are faster on the CPU than XLA's gradient for the filter."""
    is_large = channels < _LEAST_CHANNELS or math.prod(window.size) >= _LEAST_ELEMENTS
    return is_pointwise(window) or (is_large and _row_bytes(window, channels, item_bytes) <= 2 * _FILTER_BLOCK_BYTES)


def is_pointwise(window: Window) -> bool:
    """Whether a window is one element, so that nothing is copied."""
    return math.prod(window.size) == 1


def _row_bytes(window: Window, channels: int, item_bytes: int) -> int:
    """The size of one image's windows, copied out."""
    return math.prod(window.outputs) * math.prod(window.size) * channels * item_bytes


def _rows(padded: Any, window: Window) -> Any:
    """The windows of padded channels-last images as the rows of a matrix, in the order of the filters' elements."""
    parts = [padded[(slice(None), *window.slices(at), slice(None))] for at in window.positions()]
    joined = parts[0] if len(parts) == 1 else jnp.concatenate(parts, -1)
    return joined.reshape(-1, joined.shape[-1])


def _padded(x: Any, window: Window) -> Any:
    return jnp.pad(x, ((0, 0), *window.paddings, (0, 0))) if window.is_padded else x


def _block_size(x: Any, window: Window, limit: int) -> int:
    """How many images to take at a time."""
    if is_pointwise(window):
        return int(x.shape[0])
    return max(1, min(x.shape[0], limit // max(_row_bytes(window, x.shape[-1], x.dtype.itemsize), 1)))


def _blocks(array: Any, size: int) -> Any:
    """The array in blocks of this many images, without those left over at the end."""
    count = array.shape[0] // size
    return array[: count * size].reshape(count, size, *array.shape[1:])


def convolve(x: Any, filters: Any, window: Window) -> Any:
    """The convolution of channels-last images."""
    flat = filters.reshape(-1, filters.shape[-1])

    def compute(images: Any) -> Any:
        return (_rows(images, window) @ flat).reshape(images.shape[0], *window.outputs, -1)

    size, padded = _block_size(x, window, _BLOCK_BYTES), _padded(x, window)
    if size == x.shape[0]:
        return compute(padded)
    made = lax.map(compute, _blocks(padded, size))
    made = made.reshape(-1, *made.shape[2:])
    rest = x.shape[0] % size
    return jnp.concatenate([made, compute(padded[-rest:])]) if rest else made


def to_filter(x: Any, shape: tuple[int, ...], grad: Any, window: Window) -> Any:
    """The gradient of `convolve` for filters of this shape."""

    def compute(images: Any, grads: Any) -> Any:
        return _rows(images, window).T @ grads.reshape(-1, shape[-1])

    size, padded = _block_size(x, window, _FILTER_BLOCK_BYTES), _padded(x, window)
    if size == x.shape[0]:
        return compute(padded, grad).reshape(shape)
    zeros = jnp.zeros((math.prod(shape[:-1]), shape[-1]), x.dtype)
    blocks = (_blocks(padded, size), _blocks(grad, size))
    total, _ = lax.scan(lambda total, block: (total + compute(*block), None), zeros, blocks)
    rest = x.shape[0] % size
    return (total + compute(padded[-rest:], grad[-rest:]) if rest else total).reshape(shape)
