"""StagingArea: values that a step leaves for a later one, so that fetching them and computing with them overlap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from weft.framework import dtypes
from weft.framework.dtypes import DType, as_dtype
from weft.framework.graph import get_default_graph
from weft.framework.op_context import OpContext
from weft.framework.operation import Operation, Tensor
from weft.framework.tensor_conversion import convert_to_tensor
from weft.framework.tensor_shape import TensorShape, as_dims
from weft.ops.declaration import no_outputs, op, scalar_shape, unknown
from weft.ops.queue_state import FifoStore, QueueState


class _Staged:
    """The resource that nodes of one `shared_name` have in common."""

    def __init__(self, name: str, capacity: int) -> None:
        self.store = FifoStore()
        self.state = QueueState(f"StagingArea '{name}'", capacity or -1, self.store)

    def close(self) -> None:
        """Wake all waiters; the area is being dropped."""
        self.state.close()


def _area(ctx: OpContext) -> _Staged:
    name, capacity = str(ctx.attrs["shared_name"] or ctx.node_name), int(ctx.attrs["capacity"])
    return ctx.find_or_create(_Staged, lambda: _Staged(name, capacity))


@op("Stage", "values: [dtypes] ->", infer=no_outputs, gradient=None, stateful=True)
def stage(ctx, values, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "",
          shared_name: str = ""):  # fmt: skip
    """Leave values for `Unstage`; waits while the area is full."""
    _area(ctx).state.enqueue(ctx, [tuple(values)])
    return ()


@op("Unstage", "-> values: [dtypes]", infer=unknown, gradient=None, stateful=True)
def unstage(ctx, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "",
            shared_name: str = ""):  # fmt: skip
    """Take the values that have been there longest; waits for some."""
    return _area(ctx).state.dequeue(ctx, 1)[0]


@op("StagePeek", "index: int32 -> values: [dtypes]", infer=unknown, gradient=None, stateful=True)
def stage_peek(ctx, index, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "",
               shared_name: str = ""):  # fmt: skip
    """The values at a position from the front, which stay."""
    area, place = _area(ctx), int(index)
    taken = area.state.dequeue(ctx, place + 1)
    area.state.give_back(taken)
    return taken[place]


@op("StageSize", "-> size: int32", infer=scalar_shape, gradient=None, stateful=True)
def stage_size(ctx, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "",
               shared_name: str = ""):  # fmt: skip
    """How many sets of values there are."""
    return np.asarray(_area(ctx).state.size, np.int32)


@op("StageClear", "->", infer=no_outputs, gradient=None, stateful=True)
def stage_clear(ctx, *, dtypes: list[DType], capacity: int = 0, memory_limit: int = 0, container: str = "",
                shared_name: str = ""):  # fmt: skip
    """Drop all values."""
    state = _area(ctx).state
    state.dequeue(ctx, state.size)
    return ()


class StagingArea:
    """Values in the order in which they were put, shared by all who use its name on its device.

        area = tf.contrib.staging.StagingArea([tf.float32], [[128, 784]])
        put, images = area.put([next_images]), area.get()[0]
        sess.run(put)                      # the first batch
        sess.run([put, train(images)])     # train on one while the next comes in

    Args:
        dtypes: the types of the values.
        shapes: what is known of their shapes; nothing when None.
        names: their names, for values that are put and got as dicts.
        shared_name: the name by which sessions share it; a name of its own when None.
        capacity: how many sets of values it holds at most; any number when 0.
        memory_limit: accepted; weft counts sets of values, not bytes.
    """

    def __init__(
        self, dtypes: Sequence[Any], shapes: Any = None, names: Sequence[str] | None = None, shared_name: str | None = None,
        capacity: int = 0, memory_limit: int = 0,
    ) -> None:  # fmt: skip
        if shapes is not None and len(shapes) != len(dtypes):
            raise ValueError("StagingArea shapes must be the same length as dtypes")
        if names is not None and len(names) != len(dtypes):
            raise ValueError("StagingArea names must be the same length as dtypes")
        if capacity < 0 or memory_limit < 0:
            raise ValueError("capacity and memory_limit must be >= 0")
        self._dtypes = [as_dtype(each) for each in dtypes]
        self._shapes = [TensorShape(None) for _ in dtypes] if shapes is None else [TensorShape(each) for each in shapes]
        self._names = None if names is None else list(names)
        self._name = get_default_graph().unique_name("StagingArea") if shared_name is None else shared_name
        self._options = {
            "dtypes": self._dtypes, "capacity": capacity, "memory_limit": memory_limit, "shared_name": self._name
        }  # fmt: skip

    @property
    def name(self) -> str:
        """The name by which it is shared."""
        return self._name

    @property
    def dtypes(self) -> list[DType]:
        """The types of the values."""
        return self._dtypes

    @property
    def shapes(self) -> list[TensorShape]:
        """What is known of their shapes."""
        return self._shapes

    @property
    def names(self) -> list[str] | None:
        """Their names, or None."""
        return self._names

    @property
    def capacity(self) -> int:
        """How many sets of values it holds at most, 0 for any number."""
        return int(self._options["capacity"])  # type: ignore[call-overload]

    @property
    def memory_limit(self) -> int:
        """What was given."""
        return int(self._options["memory_limit"])  # type: ignore[call-overload]

    def put(self, values: Any, name: str | None = None) -> Operation:
        """An operation that leaves values, a list of them or a dict by name; it waits while the area is full.

        Raises:
            ValueError: their number, names or shapes do not fit.
        """
        with get_default_graph().name_scope(name or f"{self._name}_put") as scope:
            return stage(self._values(values), name=scope, **self._options)

    def _values(self, values: Any) -> list[Tensor]:
        if isinstance(values, Mapping):
            if not self._names:
                raise ValueError("Staging areas must have names to enqueue a dictionary")
            if set(values) != set(self._names):
                raise ValueError(f"Keys in dictionary to put do not match names of staging area. Dictionary: {sorted(values)}"
                                 f"Queue: {sorted(self._names)}")  # fmt: skip
            values = [values[name] for name in self._names]
        elif self._names:
            raise ValueError("You must enqueue a dictionary in a staging area with names")
        elif not isinstance(values, list | tuple):
            values = [values]
        if len(values) != len(self._dtypes):
            raise ValueError(f"Unexpected number of inputs '{len(values)}' vs '{len(self._dtypes)}'")
        made = [convert_to_tensor(each, dtype) for each, dtype in zip(values, self._dtypes, strict=True)]
        for tensor, shape in zip(made, self._shapes, strict=True):
            if not tensor.shape.is_compatible_with(shape):
                raise ValueError(f"Input of shape {tensor.shape} does not fit the staging area's shape {shape}")
        return made

    def _got(self, tensors: Any) -> Any:
        made = [tensors] if isinstance(tensors, Tensor) else list(tensors)
        for tensor, shape in zip(made, self._shapes, strict=True):
            tensor.set_shape(as_dims(shape))
        return made if self._names is None else dict(zip(self._names, made, strict=True))

    def get(self, name: str | None = None) -> Any:
        """The values that have been there longest, a list or a dict by name; the run waits for some."""
        return self._got(unstage(name=name or f"{self._name}_get", **self._options))

    def peek(self, index: Any, name: str | None = None) -> Any:
        """The values at a position from the front, which stay; the run waits until there are so many."""
        number = convert_to_tensor(index, dtypes.int32)
        return self._got(stage_peek(number, name=name or f"{self._name}_peek", **self._options))

    def size(self, name: str | None = None) -> Tensor:
        """How many sets of values there are, an int32."""
        made: Tensor = stage_size(name=name or f"{self._name}_size", **self._options)
        return made

    def clear(self, name: str | None = None) -> Operation:
        """An operation that drops all values."""
        made: Operation = stage_clear(name=name or f"{self._name}_clear", **self._options)
        return made
