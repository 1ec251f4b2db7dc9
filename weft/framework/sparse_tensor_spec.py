"""SparseTensorSpec: what is asked of a sparse tensor that is not there yet: a shape and the type of the values."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework import dtypes
from weft.framework.dims import Dims
from weft.framework.dtypes import DType, as_dtype
from weft.framework.operation import Tensor
from weft.framework.sparse_tensor import SparseTensor
from weft.framework.tensor_shape import TensorShape, as_dims
from weft.framework.tensor_spec import TensorSpec
from weft.framework.type_spec import BatchableTypeSpec, register_type_spec_from_value_converter


class SparseTensorSpec(BatchableTypeSpec):
    """A description of sparse tensors. Immutable; equal when the descriptions are.

    Args:
        shape: the shape, perhaps partly known; None for any.
        dtype: the type of the values.
    """

    __slots__ = ("_dims", "_dtype")

    def __init__(self, shape: object = None, dtype: object = dtypes.float32) -> None:
        self._dims: Dims = as_dims(shape)
        self._dtype = as_dtype(dtype)

    @classmethod
    def from_value(cls, value: SparseTensor) -> SparseTensorSpec:
        """The spec of a sparse tensor.

        Args:
            value: the sparse tensor.
        """
        return cls(value.shape, value.dtype)

    @property
    def value_type(self) -> type:
        """The class of sparse tensors."""
        return SparseTensor

    @property
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape(self._dims)

    @property
    def dtype(self) -> DType:
        """The type of the values."""
        return self._dtype

    def _serialize(self) -> tuple[object, ...]:
        return self.shape, self._dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        rank = None if self._dims is None else len(self._dims)
        return [
            TensorSpec((None, rank), dtypes.int64), TensorSpec((None,), self._dtype), TensorSpec((rank,), dtypes.int64)
        ]  # fmt: skip

    def _to_components(self, value: SparseTensor) -> list[Tensor]:
        return [value.indices, value.values, value.dense_shape]

    def _from_components(self, tensors: Sequence[Tensor]) -> SparseTensor:
        made = SparseTensor(*tensors)
        made.set_shape(self.shape)
        return made


register_type_spec_from_value_converter(SparseTensor, SparseTensorSpec.from_value)
