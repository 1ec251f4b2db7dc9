"""The nodes of map staging areas: elements are put by their keys, and taken by them or as they come."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from weft.framework.building.aliases import Array, Nest, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType
from weft.ops.data_flow.map_staging_state import KeyedBuffer
from weft.ops.declaration import Decorator, no_outputs, op, scalar_shape, unknown


class _Kernels:
    """The kernels of one of the two kinds.

    Args:
        is_ordered: whether the element of the least key comes first where no key is asked for.
    """

    def __init__(self, is_ordered: bool) -> None:
        self._is_ordered = is_ordered

    def _buffer(self, ctx: OpContext, capacity: int, memory_limit: int) -> KeyedBuffer:
        return ctx.find_or_create(KeyedBuffer, lambda: KeyedBuffer(self._is_ordered, capacity, memory_limit))

    def stage(
        self, ctx: OpContext, key: Array, indices: Array, values: Array, *, dtypes: list[DType], fake_dtypes: list[DType],
        capacity: int = 0, memory_limit: int = 0, container: str = "", shared_name: str = "",
    ) -> tuple[()]:  # fmt: skip
        """Add components of an element: `scalar int64, [n] int32, components*[*shape] ->`."""
        parts = [np.asarray(value) for value in values]
        self._buffer(ctx, capacity, memory_limit).put(ctx, int(key), indices.tolist(), parts, len(dtypes))
        return ()

    def peek(
        self, ctx: OpContext, key: Array, indices: Array, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0,
        container: str = "", shared_name: str = "",
    ) -> list[Array]:  # fmt: skip
        """Look at components of an element: `scalar int64, [n] int32 -> components*[*shape]`."""
        return self._buffer(ctx, capacity, memory_limit).peek(ctx, int(key), indices.tolist())

    def unstage(
        self, ctx: OpContext, key: Array, indices: Array, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0,
        container: str = "", shared_name: str = "",
    ) -> list[Array]:  # fmt: skip
        """Take components of an element out: `scalar int64, [n] int32 -> components*[*shape]`."""
        return self._buffer(ctx, capacity, memory_limit).get(ctx, int(key), indices.tolist())

    def unstage_no_key(
        self, ctx: OpContext, indices: Array, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0,
        container: str = "", shared_name: str = "",
    ) -> tuple[Array, ...]:  # fmt: skip
        """Take components of the first element out: `[n] int32 -> scalar int64, components*[*shape]`."""
        key, parts = self._buffer(ctx, capacity, memory_limit).get_any(ctx, indices.tolist())
        return np.asarray(key, np.int64), *parts

    def size(
        self, ctx: OpContext, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "",
        shared_name: str = "",
    ) -> Result:  # fmt: skip
        """The number of whole elements: `-> scalar int32`."""
        return np.asarray(self._buffer(ctx, capacity, memory_limit).size, np.int32)

    def incomplete_size(
        self, ctx: OpContext, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "",
        shared_name: str = "",
    ) -> Result:  # fmt: skip
        """The number of elements that lack components: `-> scalar int32`."""
        return np.asarray(self._buffer(ctx, capacity, memory_limit).incomplete_size, np.int32)

    def clear(
        self, ctx: OpContext, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "",
        shared_name: str = "",
    ) -> tuple[()]:  # fmt: skip
        """Drop all elements: `->`."""
        self._buffer(ctx, capacity, memory_limit).clear()
        return ()


@dataclass(frozen=True)
class MapNodes:
    """What builds each of the nodes of one of the two kinds."""

    stage: Callable[..., Operation]
    peek: Callable[..., Sequence[Tensor]]
    unstage: Callable[..., Sequence[Tensor]]
    unstage_no_key: Callable[..., tuple[Tensor, Nest]]
    size: Callable[..., Tensor]
    incomplete_size: Callable[..., Tensor]
    clear: Callable[..., Operation]


def _declared(prefix: str, kernels: _Kernels) -> MapNodes:
    def waits(name: str, signature: str, infer: Callable[[Operation], list[Dims]], **limits: int) -> Decorator:
        return op(f"{prefix}{name}", signature, infer=infer, gradient=None, stateful=True, limits={"capacity": 0, **limits})

    def at_once(name: str, signature: str, infer: Callable[[Operation], list[Dims]]) -> Decorator:
        limits = {"capacity": 0}
        return op(f"{prefix}{name}", signature, infer=infer, gradient=None, stateful=True, at_once=True, limits=limits)

    by_key = "key: int64, indices: int32 -> values: [dtypes]"
    any_key = "indices: int32 -> key: int64, values: [dtypes]"
    put = "key: int64, indices: int32, values: [fake_dtypes] ->"
    return MapNodes(
        waits("Stage", put, no_outputs, fake_dtypes=1)(kernels.stage),
        waits("Peek", by_key, unknown, dtypes=1)(kernels.peek),
        waits("Unstage", by_key, unknown, dtypes=1)(kernels.unstage),
        waits("UnstageNoKey", any_key, unknown, dtypes=1)(kernels.unstage_no_key),
        at_once("Size", "-> size: int32", scalar_shape)(kernels.size),
        at_once("IncompleteSize", "-> size: int32", scalar_shape)(kernels.incomplete_size),
        at_once("Clear", "->", no_outputs)(kernels.clear),
    )


UNORDERED: Final = _declared("Map", _Kernels(is_ordered=False))
ORDERED: Final = _declared("OrderedMap", _Kernels(is_ordered=True))
