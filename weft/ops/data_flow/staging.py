"""Staging areas: StagingArea, which hands values from one step to a later one so that a step need not wait for its input."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weft.framework.aliases import Array, DTypeLike, Nest, Result, ShapeLike, TensorLike
from weft.framework.dtypes import DType, as_dtype
from weft.framework.graph import get_default_graph
from weft.framework.op_context import OpContext
from weft.framework.operation import Operation, Tensor
from weft.framework.printed import printed
from weft.framework.tensor_conversion import convert_to_tensor
from weft.framework.tensor_shape import TensorShape
from weft.ops.control_flow.ordering import no_op
from weft.ops.data_flow.staging_state import StagingBuffer
from weft.ops.declaration import no_outputs, op, scalar_shape, unknown


def _buffer(ctx: OpContext, capacity: int, memory_limit: int) -> StagingBuffer:
    return ctx.find_or_create(StagingBuffer, lambda: StagingBuffer(capacity, memory_limit))


@op("Stage", "values: [dtypes] ->", infer=no_outputs, gradient=None, stateful=True, limits={"capacity": 0, "dtypes": 1})
def stage(
    ctx: OpContext, values: Array, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0,
    container: str = "", shared_name: str = "",
) -> tuple[()]:  # fmt: skip
    """Add an element: `components*[*shape] ->`."""
    _buffer(ctx, capacity, memory_limit).put(ctx, tuple(np.asarray(value) for value in values))
    return ()


@op("Unstage", "-> values: [dtypes]", infer=unknown, gradient=None, stateful=True, limits={"capacity": 0, "dtypes": 1})
def unstage(
    ctx: OpContext, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "", shared_name: str = ""
) -> Array:
    """Take the first element: `-> components*[*shape]`."""
    return _buffer(ctx, capacity, memory_limit).get(ctx)


@op(
    "StagePeek",
    "index: int32 -> values: [dtypes]",
    infer=unknown,
    gradient=None,
    stateful=True,
    limits={"capacity": 0, "dtypes": 1},
)
def stage_peek(
    ctx: OpContext, index: Array, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0,
    container: str = "", shared_name: str = "",
) -> Array:  # fmt: skip
    """Look at an element: `scalar int32 -> components*[*shape]`."""
    return _buffer(ctx, capacity, memory_limit).peek(ctx, int(index))


@op("StageSize", "-> size: int32", infer=scalar_shape, gradient=None, stateful=True, at_once=True, limits={"capacity": 0})
def stage_size(ctx: OpContext, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "",
               shared_name: str = "") -> Result:  # fmt: skip
    """The number of elements in it: `-> scalar int32`."""
    return np.asarray(_buffer(ctx, capacity, memory_limit).size, np.int32)


@op("StageClear", "->", infer=no_outputs, gradient=None, stateful=True, at_once=True, limits={"capacity": 0})
def stage_clear(ctx: OpContext, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "",
                shared_name: str = "") -> tuple[()]:  # fmt: skip
    """Drop all elements: `->`."""
    _buffer(ctx, capacity, memory_limit).clear()
    return ()


class StagingArea:
    """A buffer of elements, tuples of tensors or dicts of them, on the device where it is made.

        area = tf.contrib.staging.StagingArea([tf.float32], shapes=[[128, 10]])
        put, (batch,) = area.put([next_batch]), area.get()
        session.run(put)
        while training:
            session.run([train_on(batch), put])

    Args:
        dtypes: the components' dtypes.
        shapes: their shapes; None when they are not known.
        names: their names, for elements that are dicts.
        shared_name: the name by which sessions share it; a name of its own in the graph when None.
        capacity: how many elements it holds at most; 0 for any number.
        memory_limit: how many bytes they take at most; 0 for any number.

    Raises:
        ValueError: there are not as many shapes or names as dtypes, a limit is negative, or shared_name is no str.
        TypeError: a limit is no whole number.
    """

    __repr__ = printed("tf.contrib.staging")

    def __init__(
        self,
        dtypes: Sequence[DTypeLike],
        shapes: Sequence[ShapeLike] | None = None,
        names: Sequence[str] | None = None,
        shared_name: str | None = None,
        capacity: int = 0,
        memory_limit: int = 0,
    ) -> None:
        if shared_name and not isinstance(shared_name, str):
            raise ValueError(f"shared_name must be a string, not {shared_name!r}: {str(shared_name)!r}")
        self._name = shared_name or get_default_graph().unique_name(type(self).__name__)
        self._dtypes = [as_dtype(each) for each in dtypes]
        if shapes is not None and len(shapes) != len(self._dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        self._shapes = [TensorShape(None)] * len(self._dtypes) if shapes is None else [TensorShape(shape) for shape in shapes]
        if names is not None and len(names) != len(self._dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        self._names = None if names is None else list(names)
        for limit, value in (("capacity", capacity), ("memory_limit", memory_limit)):
            if not isinstance(value, int | np.integer):
                raise TypeError(f"Expected int for argument '{limit}' not {value!r}. A StagingArea has 0 for no limit.")
        if capacity < 0 or memory_limit < 0:
            raise ValueError(f"StagingArea: capacity {capacity} and memory_limit {memory_limit} must not be negative")
        self._capacity, self._memory_limit = capacity, memory_limit
        # Whatever uses the area runs where it is.
        with get_default_graph().name_scope(f"{self._name}_root"):
            self._root = no_op()

    @property
    def name(self) -> str:
        """Its name in the graph."""
        return self._name

    @property
    def dtypes(self) -> list[DType]:
        """The components' dtypes."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """The components' shapes."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """The components' names, or None."""
        return self._names

    @property
    def capacity(self) -> int:
        """The greatest number of elements."""
        return self._capacity

    @property
    def memory_limit(self) -> int:
        """The greatest number of bytes that they take."""
        return self._memory_limit

    def put(self, values: TensorLike, name: str | None = None) -> Operation:
        """An operation that adds an element; waits while the area is full.

        Args:
            values: a list of tensors or a single one, or a dict of them for an area with names.
            name: the node's name.

        Raises:
            ValueError: the components do not fit.
        """
        graph = get_default_graph()
        with graph.name_scope(name or f"{self._name}_put") as scope:
            components = self._components(values)
            with graph.colocate_with(self._root):
                return stage(components, **self._attrs(with_dtypes=False), name=scope)

    def _components(self, values: TensorLike) -> list[Tensor]:
        if isinstance(values, Mapping):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if sorted(values) != sorted(self._names):
                raise ValueError(
                    f"Keys in dictionary to put do not match names of staging area. Dictionary: {sorted(values)}Queue: "
                    f"{sorted(self._names)}"
                )
            values = [values[name] for name in self._names]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a staging area with names")
        elif not isinstance(values, list | tuple):
            values = [values]
        if len(values) != len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(values)}' vs '{len(self._dtypes)}'")
        components = [convert_to_tensor(value, dtype=dtype) for value, dtype in zip(values, self._dtypes, strict=True)]
        for component, shape in zip(components, self._shapes, strict=True):
            component.get_shape().assert_is_compatible_with(shape)
        return components

    def get(self, name: str | None = None) -> Nest:
        """The first element, which is taken out; waits for one. A list of tensors, or a dict for an area with names."""
        with get_default_graph().colocate_with(self._root):
            return self._element(unstage(**self._attrs(), name=name or f"{self._name}_get"))

    def peek(self, index: TensorLike, name: str | None = None) -> Nest:
        """The element at a position, which stays; waits until there are so many.

        Args:
            index: the position, counted from the element that comes out next.
        """
        with get_default_graph().colocate_with(self._root):
            return self._element(stage_peek(index, **self._attrs(), name=name or f"{self._name}_peek"))

    def size(self, name: str | None = None) -> Tensor:
        """The number of elements in it, a scalar int32."""
        with get_default_graph().colocate_with(self._root):
            return stage_size(**self._attrs(), name=name or f"{self._name}_size")

    def clear(self, name: str | None = None) -> Operation:
        """An operation that drops all elements."""
        with get_default_graph().colocate_with(self._root):
            return stage_clear(**self._attrs(), name=name or f"{self._name}_clear")

    def _attrs(self, with_dtypes: bool = True) -> dict[str, Any]:
        attrs = {"shared_name": self._name, "capacity": self._capacity, "memory_limit": self._memory_limit}
        return {**attrs, "dtypes": self._dtypes} if with_dtypes else attrs

    def _element(self, outputs: Sequence[Tensor]) -> Nest:
        for output, shape in zip(outputs, self._shapes, strict=True):
            output.set_shape(shape)
        return list(outputs) if self._names is None else dict(zip(self._names, outputs, strict=True))
