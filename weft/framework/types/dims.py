"""Dims: a shape inside weft, a tuple of `int | None`, or None when even the rank is unknown.

The graph, the shape rules and the plans use this plain form; `TensorShape` is its face towards programs.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

Dims: TypeAlias = tuple[int | None, ...] | None


def dims_compatible(a: Dims, b: Dims) -> bool:
    """Whether two shapes may belong to one tensor."""
    if a is None or b is None:
        return True
    if len(a) != len(b):
        return False
    for x, y in zip(a, b, strict=True):  # noqa: SIM110 - every feed comes here, and a generator costs as much as all else
        if x is not None and y is not None and x != y:
            return False
    return True


def merge_dims(a: Dims, b: Dims) -> Dims:
    """The sizes that either shape knows; ValueError, in the words of TensorFlow's shape rules, when they contradict."""
    if a is None or b is None:
        return b if a is None else a
    if len(a) != len(b):
        raise ValueError(f"Shapes must be equal rank, but are {len(a)} and {len(b)}")
    for axis, (x, y) in enumerate(zip(a, b, strict=True)):
        if x is not None and y is not None and x != y:
            raise ValueError(
                f"Dimension {axis} in both shapes must be equal, but are {x} and {y}. "
                f"Shapes are {brackets(a)} and {brackets(b)}."
            )
    return tuple(y if x is None else x for x, y in zip(a, b, strict=True))


def brackets(dims: Sequence[int | None] | None) -> str:
    """A shape as kernels and shape rules print it, such as `[?,3]`."""
    return "<unknown>" if dims is None else "[" + ",".join("?" if size is None else str(size) for size in dims) + "]"


def broadcast_dims(a: Dims, b: Dims) -> Dims:
    """The shape of an elementwise result by NumPy's rule; ValueError when it cannot be."""
    if a == b and a is not None and None not in a:
        return a
    if a is None or b is None:
        return None
    if len(a) < len(b):
        a, b = b, a
    head = a[: len(a) - len(b)]
    return head + tuple(_broadcast_size(x, y, a, b) for x, y in zip(a[len(head) :], b, strict=True))


def _broadcast_size(x: int | None, y: int | None, a: Sequence[Any], b: Sequence[Any]) -> int | None:
    if x == y:
        return x
    if x == 1:
        return y
    if y == 1:
        return x
    if x is None or y is None:
        return y if x is None else x
    raise ValueError(f"Incompatible shapes for broadcasting: {format_dims(tuple(a))} and {format_dims(tuple(b))}")


def format_dims(dims: Dims) -> str:
    """The printed form of a shape, such as `(?, 3)`."""
    if dims is None:
        return "<unknown>"
    if len(dims) == 1:
        return f"({'?' if dims[0] is None else dims[0]},)"
    return "(" + ", ".join("?" if size is None else str(size) for size in dims) + ")"
