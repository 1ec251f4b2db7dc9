"""tf.debugging.assert_shapes: the shapes of several tensors checked together, by sizes and by names for sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np

from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dimension import Dimension
from weft.framework.types.dims import Dims
from weft.framework.types.tensor_shape import as_dims
from weft.ops.array.shape_ops import rank, shape_internal
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.ordering import group
from weft.ops.math.comparison import equal, greater_equal, less_equal
from weft.ops.math.reduce_functions import reduce_prod

_LEADS: Final = ("*", "...", Ellipsis)
_FREE: Final = (None, ".")


class _Wanted:
    """The shape that a tensor must have: the sizes or names at its end, and whether more dimensions may stand before.

    A scalar and a vector of one element are the same here.
    """

    def __init__(self, tensor: Tensor, symbols: Iterable[object], prefix: str) -> None:
        self.tensor = tensor if isinstance(tensor, Tensor | SparseTensor) else convert_to_tensor(tensor)
        self.prefix = prefix
        if not (hasattr(symbols, "__iter__") or hasattr(symbols, "__getitem__")):
            raise ValueError(
                f"{prefix}Tensor {self.name}.  Specified shape must be an iterable.  An iterable has the attribute `__iter__` "
                f"or `__getitem__`.  Received specified shape: {symbols}"
            )
        parts = [symbol.value if isinstance(symbol, Dimension) else symbol for symbol in symbols]
        self.has_lead = bool(parts) and parts[0] in _LEADS
        self.symbols = parts[1:] if self.has_lead else parts
        for place, symbol in enumerate(self.symbols, start=int(self.has_lead)):
            if symbol in _LEADS:
                raise ValueError(
                    f"{prefix}Tensor {self.name} specified shape index {place}.  Symbol `...` or `*` for a variable number of "
                    "unspecified dimensions is only allowed as the first entry"
                )
        self.may_be_scalar = not self.has_lead and len(self.symbols) < 2
        if self.may_be_scalar:
            self.symbols = self.symbols or [1]
        self.first = -len(self.symbols) if self.has_lead else 0

    @property
    def name(self) -> str:
        return str(getattr(self.tensor, "name", self.tensor))

    def check_rank(self, dims: Sequence[int | None]) -> None:
        """Raise ValueError unless a known rank fits."""
        count = len(self.symbols)
        if self.may_be_scalar:
            fits, what = len(dims) < 2, "in (0, 1)" if self.symbols == [1] else "1"
        else:
            fits = len(dims) >= count if self.has_lead else len(dims) == count
            what = f"at least {count}" if self.has_lead else str(count)
        if not fits:
            raise ValueError(
                f"{self.prefix}Tensor {self.name} must have rank {what}.  Received rank {len(dims)}, shape "
                f"{self.tensor.get_shape()}"
            )

    def has_rank(self) -> tuple[Tensor, list[Any]]:
        """Whether the rank fits, found in a step; and what is shown if not."""
        count, found = len(self.symbols), rank(self.tensor)
        shown = [shape_internal(self.tensor)]
        if self.may_be_scalar:
            return less_equal(found, 1), [f"Tensor {self.name} must have rank in", "(0, 1)", "Received shape: ", *shown]
        holds = greater_equal(found, count) if self.has_lead else equal(found, count)
        least = " at least" if self.has_lead else ""
        return holds, [f"Tensor {self.name} must have rank{least}", count, "Received shape: ", *shown]


def assert_shapes(
    shapes: Mapping[Any, object] | Iterable[tuple[Any, object]],
    data: Sequence[object] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Check the shapes of several tensors: what is known to be wrong raises now, the rest becomes an operation.

    A scalar passes for a vector of one element, and the other way round.

        tf.debugging.assert_shapes([(x, ("N", "Q")), (y, ("N", "D")), (scalar, ())])

    Args:
        shapes: pairs of a tensor and its shape, or a dict of them. A shape holds sizes and names: all dimensions of one name
            have one size. None and '.' allow any size; '*', '...' or Ellipsis in front allows more dimensions before.
        data: what to print when the check fails in a step.
        summarize: how many elements to print of each.
        message: begins the messages.
        name: the name scope.

    Returns:
        The operation.

    Raises:
        ValueError: a rank or a size is known to be wrong, two dimensions of one name differ, or a shape is none, or has '*'
            behind its first place.
    """
    pairs: Iterable[tuple[Any, Any]] = shapes.items() if isinstance(shapes, Mapping) else shapes
    with get_default_graph().name_scope(name or "assert_shapes"):
        prefix = f"{message}.  " if message else ""
        wanted = [_Wanted(tensor, symbols, prefix) for tensor, symbols in pairs]
        report = _Report(list(data) if data is not None else None, summarize, prefix)
        seen: dict[Any, tuple[Any, str]] = {}
        return group(*(check for each in wanted for check in _checks_of(each, seen, report)), name="shape_assertions")


class _Report(NamedTuple):
    """What a check prints that fails in a step."""

    data: list[object] | None
    summarize: int | None
    prefix: str

    def check(self, holds: Tensor, text: list[Any]) -> Operation:
        """An operation that fails unless this holds."""
        return assert_that(holds, self.data if self.data is not None else [self.prefix, *text], self.summarize)


def _checks_of(wanted: _Wanted, seen: dict[Any, tuple[Any, str]], report: _Report) -> list[Operation]:
    """The operations that check one tensor; `seen` holds the first size found for each name, and where."""
    dims = as_dims(wanted.tensor.get_shape())
    checks: list[Operation] = []
    if dims is not None:
        wanted.check_rank(dims)
    else:
        checks.append(report.check(*wanted.has_rank()))
    for place, symbol in enumerate(wanted.symbols, start=wanted.first):
        if symbol in _FREE:
            continue
        size = _size_at(wanted, dims, place, checks)
        expected, source = (
            (int(symbol), "Specified explicitly") if isinstance(symbol, int | np.integer)
            else seen.setdefault(symbol, (size, f"Specified by tensor {wanted.name} dimension {place}"))
        )  # fmt: skip
        if isinstance(size, int) and isinstance(expected, int):
            if size != expected:
                raise ValueError(
                    f"{wanted.prefix}{source}.  Tensor {wanted.name} dimension {place} must have size {expected}.  Received "
                    f"size {size}, shape {wanted.tensor.get_shape()}"
                )
        elif size is not expected:
            text = [source, f"Tensor {wanted.name} dimension", place, "must have size", expected, "Received shape: "]
            checks.append(report.check(equal(size, expected), [*text, shape_internal(wanted.tensor)]))
    return checks


def _size_at(wanted: _Wanted, dims: Dims, place: int, checks: Sequence[Operation]) -> Any:
    """The size of a dimension, a tensor where it is not known; that of a scalar is 1."""
    if dims is not None:
        known = 1 if not dims else dims[place]
        if known is not None:
            return known
    # Sizes are looked at only when the rank is right.
    with get_default_graph().control_dependencies(list(checks)):
        sizes = shape_internal(wanted.tensor)
        return reduce_prod(sizes) if wanted.may_be_scalar else sizes[place]
