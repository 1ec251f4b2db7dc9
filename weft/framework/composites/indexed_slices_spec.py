"""IndexedSlicesSpec: what is asked of slices of a tensor that are not there yet."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.constant_value import constant_value_as_shape
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.framework.types.type_spec import CompositeTensor, TypeSpec, register_type_spec_from_value_converter


class IndexedSlicesSpec(TypeSpec):
    """A description of IndexedSlices. Immutable; equal when the descriptions are.

    Args:
        shape: the shape of the dense tensor, perhaps partly known; None for any.
        dtype: the type of the values.
        indices_dtype: the type of the indices, int32 or int64.
        dense_shape_dtype: the type of `dense_shape`; None where there is none.
        indices_shape: the shape of the indices, which tells how many slices there are; None for any number.
    """

    __slots__ = ("_dense_shape_dtype", "_dims", "_dtype", "_indices_dims", "_indices_dtype")

    def __init__(
        self, shape: object = None, dtype: object = dtypes.float32, indices_dtype: object = dtypes.int64,
        dense_shape_dtype: object = None, indices_shape: object = None,
    ) -> None:  # fmt: skip
        self._dims: Dims = as_dims(shape)
        self._dtype = as_dtype(dtype)
        self._indices_dtype = as_dtype(indices_dtype)
        self._dense_shape_dtype = None if dense_shape_dtype is None else as_dtype(dense_shape_dtype)
        self._indices_dims: Dims = (None,) if indices_shape is None else as_dims(indices_shape)

    @classmethod
    def from_value(cls, value: IndexedSlices) -> IndexedSlicesSpec:
        """The spec of slices.

        Args:
            value: the slices.
        """
        whole = value.dense_shape
        shape = value.shape if whole is None else constant_value_as_shape(whole)
        return cls(shape, value.dtype, value.indices.dtype, None if whole is None else whole.dtype, value.indices.shape)

    @property
    def value_type(self) -> type:
        """The class of slices."""
        return IndexedSlices

    def _serialize(self) -> tuple[object, ...]:
        return (
            TensorShape(self._dims), self._dtype, self._indices_dtype, self._dense_shape_dtype, TensorShape(self._indices_dims)
        )  # fmt: skip

    @property
    def _component_specs(self) -> tuple[TensorSpec, ...]:
        rows = None if self._indices_dims is None else self._indices_dims[0]
        values = TensorSpec(None if self._dims is None else (rows, *self._dims[1:]), self._dtype)
        found = (values, TensorSpec(self._indices_dims, self._indices_dtype))
        if self._dense_shape_dtype is None:
            return found
        return *found, TensorSpec((None if self._dims is None else len(self._dims),), self._dense_shape_dtype)

    def _to_components(self, value: IndexedSlices) -> tuple[Tensor, ...]:
        parts = (value.values, value.indices)
        return parts if value.dense_shape is None else (*parts, value.dense_shape)

    def _from_components(self, tensors: Sequence[Tensor]) -> IndexedSlices:
        return IndexedSlices(*tensors)


CompositeTensor.register(IndexedSlices)
register_type_spec_from_value_converter(IndexedSlices, IndexedSlicesSpec.from_value)
