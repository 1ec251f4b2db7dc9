"""Staged: what StagingArea and MapStagingArea have in common: their elements' form, their limits and where they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from weft.framework.building.aliases import DTypeLike, Nest, ShapeLike
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import DType, as_dtype
from weft.framework.types.tensor_shape import TensorShape
from weft.ops.array.identity import identity
from weft.ops.control_flow.ordering import no_op


class Staged:
    """The base of staging areas. The arguments and errors are those of `StagingArea`."""

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
            raise ValueError(f"{type(self).__name__}: capacity {capacity} and memory_limit {memory_limit} must not be negative")
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

    def _attrs(self, with_dtypes: bool = True) -> dict[str, Any]:
        attrs = {"shared_name": self._name, "capacity": self._capacity, "memory_limit": self._memory_limit}
        return {**attrs, "dtypes": self._dtypes} if with_dtypes else attrs

    def _element(self, outputs: Sequence[Tensor], indices: Sequence[int]) -> Nest:
        outputs = self._here(outputs)
        for output, index in zip(outputs, indices, strict=True):
            output.set_shape(self._shapes[index])
        if self._names is None:
            return outputs
        return {self._names[index]: output for index, output in zip(indices, outputs, strict=True)}

    def _here(self, outputs: Sequence[Tensor]) -> list[Tensor]:
        """The outputs on the device of the program's block, where the area is on another one."""
        # TensorFlow asks a node for that device, so the graph has one more.
        is_elsewhere = no_op().device != self._root.device
        return [identity(output) if is_elsewhere else output for output in outputs]
