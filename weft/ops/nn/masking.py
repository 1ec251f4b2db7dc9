"""Values where a mask is set, and zeros or other values elsewhere, as piecewise functions and their gradients need them."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.framework.building.aliases import Array, ArrayModule

_BITS: Final = {1: np.dtype(np.int8), 2: np.dtype(np.int16), 4: np.dtype(np.int32), 8: np.dtype(np.int64)}


def masked(xp: ArrayModule, mask: Array, values: Array) -> Array:
    """The values where the mask, of their shape, is set, and zeros elsewhere: `where(mask, values, 0)`.

    NumPy's `where` takes a branch for each element, which the processor guesses wrong half of the time. To multiply an
    element's bits by zero or one gives the same, infinities and NaN included, in a tenth of the time: 62 instead of 755 µs
    for 32x28x28x8 float32 (two cores, November 2026).
    """
    if xp is np and np.ndim(values):
        bits = _BITS.get(values.dtype.itemsize)
        if bits is not None and values.shape == mask.shape:
            return np.multiply(values.view(bits), mask).view(values.dtype)
    return xp.where(mask, values, np.zeros((), values.dtype))


def chosen(xp: ArrayModule, mask: Array, values: Array, others: Array) -> Array:
    """The values where the mask is set, and the others elsewhere, all of one shape: `where(mask, values, others)`.

    By the elements' bits, as `masked` does: 120 instead of 760 µs for 200,000 float32 (two loaded cores, November 2026).
    """
    if xp is np and np.ndim(values):
        bits = _BITS.get(values.dtype.itemsize)
        if bits is not None and values.shape == mask.shape == others.shape and values.dtype == others.dtype:
            low = others.view(bits)
            made = np.subtract(values.view(bits), low)  # integers go round
            np.multiply(made, mask, out=made)
            np.add(made, low, out=made)
            return made.view(values.dtype)
    return xp.where(mask, values, others)
