"""Pieces of a tensor, as lists and arrays of tensors take them over."""

from __future__ import annotations

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array


def pieces_of(value: Array, lengths: Array, what: str) -> list[Array]:
    """Copies of the pieces that stand one behind the other: `[sum of lengths, *part], [n] int64 -> n x [length, *part]`.

    Raises:
        InvalidArgumentError: a length is negative, or they do not add up.
    """
    if np.ndim(value) == 0:
        raise InvalidArgumentError.of(f"{what}: Expected value to be at least a vector, but received shape: []")
    if np.ndim(lengths) != 1 or (lengths < 0).any():
        raise InvalidArgumentError.of(f"{what}: lengths have to be a vector of numbers from 0 on, found {lengths.tolist()}")
    if (lengths > len(value)).any() or int(lengths.sum()) != len(value):  # a sum can overflow
        raise InvalidArgumentError.of(
            f"{what}: Expected sum of lengths to be equal to values.shape[0], but sum of lengths is {int(lengths.sum())} and "
            f"value's shape is: {list(value.shape)}"
        )
    ends = np.cumsum(lengths)
    return [np.array(value[end - length : end]) for end, length in zip(ends, lengths, strict=True)]
