"""Barriers: Barrier, whose elements become whole component by component, from several steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from weft.framework.building.aliases import Array, DTypeLike, Result, ShapeLike, TensorLike
from weft.framework.building.op_context import OpContext
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType, as_dtype
from weft.framework.types.printed import printed
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.ops.data_flow.barrier_state import BarrierState, joined
from weft.ops.declaration import no_outputs, op, scalar_shape


def _handle_shape(node: Operation) -> list[Dims]:
    # TensorFlow's shape rule: a container and a name.
    return [(2,)]


def _found(ctx: OpContext, handle: Array) -> BarrierState:
    return ctx.find(BarrierState, handle)


@op("Barrier", "-> handle: Ref(string)", infer=_handle_shape, gradient=None, stateful=True, at_once=True,
    limits={"component_types": 1})  # fmt: skip
def barrier(
    ctx: OpContext, *, component_types: list[DType], shapes: list[Dims] = [], capacity: int = -1, container: str = "",  # noqa: B006 - a declaration
    shared_name: str = "",
) -> Result:  # fmt: skip
    """A barrier: `-> scalar string`."""
    name = str(ctx.attrs.get("shared_name") or ctx.node_name)
    found = ctx.find_or_create(BarrierState, lambda: BarrierState(name, component_types, shapes))
    found.check_same(component_types, shapes)
    handle = np.empty((), np.object_)
    handle[()] = ctx.handle_for(BarrierState)
    return handle


@op("BarrierInsertMany", "handle: Ref(string), keys: string, values: T ->", ranks={"keys": 1}, infer=no_outputs, gradient=None,
    stateful=True)  # fmt: skip
def barrier_insert_many(ctx: OpContext, handle: Array, keys: Array, values: Array, *, component_index: int) -> tuple[()]:
    """Give elements one component each: `scalar string, [n] string, [n, *shape] ->`."""
    _found(ctx, handle).insert(component_index, keys.tolist(), values)
    return ()


def _taken_shapes(node: Operation) -> list[Dims]:
    return [(None,), (None,), *[None] * len(node.attrs["component_types"])]


@op("BarrierTakeMany",
    "handle: Ref(string), num_elements: int32 -> indices: int64, keys: string, values: [component_types]",
    ranks={"num_elements": 0}, infer=_taken_shapes, gradient=None, stateful=True, limits={"component_types": 1})  # fmt: skip
def barrier_take_many(
    ctx: OpContext, handle: Array, num_elements: Array, *, component_types: list[DType], allow_small_batch: bool = False,
    wait_for_incomplete: bool = False, timeout_ms: int = -1,
) -> Array:  # fmt: skip
    """Wait for whole elements and take them: `scalar string, scalar int32 -> [n] int64, [n] string, n*[n, *shape]`."""
    timeout_s = None if timeout_ms < 0 else timeout_ms / 1000
    taken = _found(ctx, handle).take(ctx, int(num_elements), allow_small_batch, timeout_s)
    indices, keys, values = joined(taken, [np.zeros((0,), kind.as_numpy_dtype) for kind in component_types])
    return indices, keys, *values


@op("BarrierClose", "handle: Ref(string) ->", infer=no_outputs, gradient=None, stateful=True)
def barrier_close(ctx: OpContext, handle: Array, *, cancel_pending_enqueues: bool = False) -> tuple[()]:
    """Take no new keys from now on: `scalar string ->`."""
    _found(ctx, handle).shut(cancel_pending_enqueues)
    return ()


@op("BarrierReadySize", "handle: Ref(string) -> size: int32", infer=scalar_shape, gradient=None, stateful=True, at_once=True)
def barrier_ready_size(ctx: OpContext, handle: Array) -> Result:
    """How many elements are whole: `scalar string -> scalar int32`."""
    return np.asarray(_found(ctx, handle).ready_size, np.int32)


@op("BarrierIncompleteSize", "handle: Ref(string) -> size: int32", infer=scalar_shape, gradient=None, stateful=True,
    at_once=True)  # fmt: skip
def barrier_incomplete_size(ctx: OpContext, handle: Array) -> Result:
    """How many elements lack components: `scalar string -> scalar int32`."""
    return np.asarray(_found(ctx, handle).incomplete_size, np.int32)


class BarrierElements(NamedTuple):
    """Whole elements of a barrier."""

    indices: Tensor
    keys: Tensor
    values: list[Tensor]


def _checked_shapes(shapes: Sequence[ShapeLike], count: int) -> list[Dims]:
    if len(shapes) != count:
        raise ValueError(f"A barrier of {count} component types got {len(shapes)} shapes; give one for each, or None")
    given = [TensorShape(each) for each in shapes]
    if not all(each.is_fully_defined() for each in given):
        raise ValueError(f"All shapes must be fully defined: {given}")
    for place, shape in enumerate(given):
        if shape.num_elements() == 0:
            raise ValueError(f"Empty tensors are not supported, but received shape '{shape}' at index {place}")
    return [as_dims(each) for each in given]


class Barrier:
    """Elements whose components are inserted one by one under a key, and taken when they are whole.

    Args:
        types: the types of the components.
        shapes: their shapes; any when None.
        shared_name: the name under which sessions of one server share it.
        name: the node's name.

    Raises:
        ValueError: there are not as many shapes as types, or a shape is not wholly known or has no elements.
    """

    __repr__ = printed("tf")

    def __init__(
        self, types: DTypeLike | Sequence[DTypeLike], shapes: Sequence[ShapeLike] | None = None,
        shared_name: str | None = None, name: str = "barrier",
    ) -> None:  # fmt: skip
        given = types if isinstance(types, list | tuple) else [types]
        self._types = [as_dtype(each) for each in given]
        dims = [] if shapes is None else _checked_shapes(shapes, len(self._types))
        self._dims: list[Dims] = dims or [None] * len(self._types)
        self._ref: Tensor = barrier(
            component_types=self._types, shapes=dims, shared_name="" if shared_name is None else shared_name, name=name
        )

    @property
    def barrier_ref(self) -> Tensor:
        """The handle."""
        return self._ref

    @property
    def name(self) -> str:
        """The node's name."""
        return self._ref.op.name

    def insert_many(self, component_index: int, keys: TensorLike, values: TensorLike, name: str | None = None) -> Operation:
        """The operation that gives elements one component each.

        Args:
            component_index: which component.
            keys: [n] string.
            values: [n, *shape], a value for each key.
            name: the node's name.
        """
        with get_default_graph().colocate_with(self._ref):
            made: Operation = barrier_insert_many(
                self._ref, keys, values, component_index=component_index, name=name or f"{self.name}_BarrierInsertMany"
            )
        return made

    def take_many(
        self, num_elements: TensorLike, allow_small_batch: bool = False, timeout: int | None = None, name: str | None = None
    ) -> BarrierElements:
        """The next whole elements: their indices, keys and components; runs wait for them.

        Runs raise OutOfRangeError when the barrier is closed and has no more so many.

        Args:
            num_elements: how many.
            allow_small_batch: whether a closed barrier may give fewer.
            timeout: the most milliseconds to wait; no limit when None.
            name: the node's name.
        """
        with get_default_graph().colocate_with(self._ref):
            indices, keys, values = barrier_take_many(
                self._ref, convert_to_tensor(num_elements, dtypes.int32), component_types=self._types,
                allow_small_batch=allow_small_batch, timeout_ms=-1 if timeout is None else timeout,
                name=name or f"{self.name}_BarrierTakeMany",
            )  # fmt: skip
        count = None if allow_small_batch or not isinstance(num_elements, int) else num_elements
        for tensor, dims in ((indices, ()), (keys, ()), *zip(values, self._dims, strict=True)):
            tensor.set_shape(None if dims is None else (count, *dims))
        return BarrierElements(indices, keys, values)

    def close(self, cancel_pending_enqueues: bool = False, name: str | None = None) -> Operation:
        """The operation that has it take no new keys; components of those that it has may still come.

        Args:
            cancel_pending_enqueues: whether these are refused, too.
            name: the node's name.
        """
        with get_default_graph().colocate_with(self._ref):
            made: Operation = barrier_close(
                self._ref, cancel_pending_enqueues=cancel_pending_enqueues, name=name or f"{self.name}_BarrierClose"
            )
        return made

    def ready_size(self, name: str | None = None) -> Tensor:
        """How many elements are whole, a scalar int32.

        Args:
            name: the node's name.
        """
        return barrier_ready_size(self._ref, name=name or f"{self.name}_BarrierReadySize")

    def incomplete_size(self, name: str | None = None) -> Tensor:
        """How many elements lack components, a scalar int32.

        Args:
            name: the node's name.
        """
        return barrier_incomplete_size(self._ref, name=name or f"{self.name}_BarrierIncompleteSize")
