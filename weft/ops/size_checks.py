"""Checks of single sizes of a node's inputs, for shape rules: what is not known fits."""

from __future__ import annotations

from weft.framework.nodes.operation import Tensor


def size_of(tensor: Tensor, axis: int) -> int | None:
    """The size of an axis, None where it or the rank is not known, or there is no such axis."""
    dims = tensor.dims
    return dims[axis] if dims is not None and -len(dims) <= axis < len(dims) else None


def check_size(tensor: Tensor, axis: int, size: int) -> None:
    """Raise ValueError where an axis is known to have another size."""
    found = size_of(tensor, axis)
    if found not in (None, size):
        raise ValueError(f"Dimension must be {size} but is {found}")


def check_equal(one: Tensor, axis: int, other: Tensor, other_axis: int) -> int | None:
    """The size that an axis of each of two tensors has; ValueError where they differ."""
    first, second = size_of(one, axis), size_of(other, other_axis)
    if None not in (first, second) and first != second:
        raise ValueError(f"Dimensions must be equal, but are {first} and {second}")
    return second if first is None else first
