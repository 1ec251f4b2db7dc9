"""tf.debugging.assert_shapes: the shapes of several tensors checked together, by sizes and by names for sizes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from weft.framework.aliases import Array
from weft.framework.graph import get_default_graph
from weft.framework.operation import Operation, Tensor
from weft.framework.sparse_tensor import SparseTensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.framework.tensor_shape import as_dims
from weft.ops.array.shape_ops import rank, shape_internal
from weft.ops.control_flow.assertion import assert_that
from weft.ops.control_flow.ordering import group
from weft.ops.math.comparison import equal, greater_equal


class _Wanted:
    """The shape that a tensor must have: the sizes or names at its end, and whether more dimensions may stand before."""

    def __init__(self, tensor: Tensor, symbols: object) -> None:
        self.tensor = tensor if isinstance(tensor, Tensor | SparseTensor) else convert_to_tensor(tensor)
        parts = list(symbols) if isinstance(symbols, list | tuple | str) else [symbols]
        self.has_lead = bool(parts) and parts[0] in ("*", Ellipsis)
        self.symbols = parts[1:] if self.has_lead else parts

    @property
    def name(self) -> str:
        return str(getattr(self.tensor, "name", self.tensor))

    def fail(self, text: str, message: str | None) -> ValueError:
        return ValueError(f"{message + '.  ' if message else ''}Tensor {self.name} {text}")


def _is_free(symbol: Array) -> bool:
    return symbol in (None, ".")


def assert_shapes(
    shapes: Mapping[Any, object] | Iterable[tuple[Any, object]],
    data: Sequence[object] | None = None,
    summarize: int | None = None,
    message: str | None = None,
    name: str | None = None,
) -> Operation:
    """Check the shapes of several tensors: what is known to be wrong raises now, the rest becomes an operation.

        tf.debugging.assert_shapes([(x, ("N", "Q")), (y, ("N", "D")), (scalar, ())])

    Args:
        shapes: pairs of a tensor and its shape, or a dict of them. A shape holds sizes and names: all dimensions of one name
            have one size. None and '.' allow any size; '*' or Ellipsis in front allows more dimensions before.
        data: what to print when the check fails in a step.
        summarize: how many elements to print of each.
        message: begins the messages.
        name: the name scope.

    Returns:
        The operation.

    Raises:
        ValueError: a rank or a size is known to be wrong, or two dimensions of one name differ.
    """
    pairs: Iterable[tuple[Any, Any]] = shapes.items() if isinstance(shapes, Mapping) else shapes
    with get_default_graph().name_scope(name or "assert_shapes"):
        wanted = [_Wanted(tensor, symbols) for tensor, symbols in pairs]
        seen: dict[Any, tuple[Any, str]] = {}
        checks = [check for each in wanted for check in _checks_of(each, seen, data, summarize, message)]
        return group(*checks, name="shape_assertions")


def _checks_of(
    wanted: _Wanted, seen: dict[Any, tuple[Any, str]], data: Sequence[object] | None, summarize: int | None, message: str | None
) -> list[Operation]:
    """The operations that check one tensor; `seen` holds the first size found for each name, and where."""
    tensor, count = wanted.tensor, len(wanted.symbols)
    dims = as_dims(tensor.get_shape())
    checks: list[Operation] = []
    if dims is None:
        found = rank(tensor)
        holds = greater_equal(found, count) if wanted.has_lead else equal(found, count)
        data_of_rank = _data(data, f"Tensor {wanted.name} must have rank {count}", found, message)
        checks.append(assert_that(holds, data_of_rank, summarize))
    elif len(dims) < count or (len(dims) > count and not wanted.has_lead):
        least = "at least " if wanted.has_lead else ""
        raise wanted.fail(f"must have rank {least}{count}.  Received rank {len(dims)}, shape {tensor.get_shape()}", message)
    sizes = None
    for place, symbol in enumerate(wanted.symbols, start=-count):
        if _is_free(symbol):
            continue
        size: Any = None if dims is None else dims[place]
        if size is None:
            if sizes is None:
                # Sizes are looked at only when the rank is right.
                with get_default_graph().control_dependencies(list(checks)):
                    sizes = shape_internal(tensor)
            size = sizes[place]
        expected, source = (
            (symbol, "explicit size") if isinstance(symbol, int) else seen.setdefault(symbol, (size, wanted.name))
        )
        if isinstance(size, int) and isinstance(expected, int):
            if size != expected:
                raise wanted.fail(f"dimension {place} must have size {expected} ({source}).  Received size {size}", message)
        elif size is not expected:
            text = f"Tensor {wanted.name} dimension {place} must have the size of {source}"
            checks.append(assert_that(equal(size, expected), _data(data, text, size, message), summarize))
    return checks


def _data(data: Sequence[object] | None, text: str, found: Array, message: str | None) -> list[Any]:
    return list(data) if data is not None else [*([message] if message else []), text, "Received:", found]
