"""IndexedSlices: some slices of a tensor along its first dimension, as gradients of gathers are."""

from __future__ import annotations

from typing import Any, NamedTuple

from weft.framework.graphs.graph import Graph
from weft.framework.nodes.operation import Operation, Tensor
from weft.framework.types.dtypes import DType
from weft.framework.types.tensor_shape import TensorShape


class IndexedSlicesValue(NamedTuple):
    """A fetched IndexedSlices as arrays.

    Args:
        values: [n, *inner] array.
        indices: [n] array of int32 or int64.
        dense_shape: [rank] array, or None.
    """

    values: Any
    indices: Any
    dense_shape: Any


class IndexedSlices:
    """The tensor `dense` with `dense[indices[i]] = values[i]`; the values of a repeated index are summed.

    Elsewhere `dense` is zero. `dense_shape` is a 1-D tensor, or None when it is not known.

    Args:
        values: [n, *inner] tensor of any dtype: the slices.
        indices: [n] tensor of int32 or int64: their places along the first dimension.
        dense_shape: [rank] tensor of int32 or int64, the shape of the whole.
    """

    def __init__(self, values: Tensor, indices: Tensor, dense_shape: Tensor | None = None) -> None:
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self) -> Tensor:
        """The slices, `[n, ...]`."""
        return self._values

    @property
    def indices(self) -> Tensor:
        """The positions of the slices along the first dimension, `[n]`."""
        return self._indices

    @property
    def dense_shape(self) -> Tensor | None:
        """The shape of the tensor that these are slices of, or None."""
        return self._dense_shape

    @property
    def shape(self) -> TensorShape:
        """The shape of the dense tensor as far as it is known: its rank and the size of a slice."""
        dims = self._values.dims
        return TensorShape(None if dims is None else (None, *dims[1:]))

    def get_shape(self) -> TensorShape:
        """The shape of the dense tensor as far as it is known."""
        return self.shape

    @property
    def name(self) -> str:
        """The name of the values."""
        return self._values.name

    @property
    def device(self) -> str:
        """The device of the values."""
        return self._values.device

    @property
    def op(self) -> Operation:
        """The operation that makes the values."""
        return self._values.op

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self._values.dtype

    @property
    def graph(self) -> Graph:
        """The graph of the values."""
        return self._values.graph

    def consumers(self) -> list[Operation]:
        """The operations that take the values as an input."""
        return self._values.consumers()

    def with_values(self, values: Tensor) -> IndexedSlices:
        """The same positions with other values.

        Args:
            values: one slice for each of `indices`.
        """
        return IndexedSlices(values, self._indices, self._dense_shape)

    def __neg__(self) -> IndexedSlices:
        return self.with_values(-self._values)

    def __str__(self) -> str:
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape}"
        return f"IndexedSlices(indices={self._indices}, values={self._values}{shape})"

    __repr__ = __str__
