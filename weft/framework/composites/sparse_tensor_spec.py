"""SparseTensorSpec: what is asked of a sparse tensor that is not there yet: a shape and the type of the values."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.type_spec import CompositeTensor, ShapedTypeSpec, register_type_spec_from_value_converter


class SparseTensorSpec(ShapedTypeSpec):
    """A description of sparse tensors. Immutable; equal when the descriptions are.

    Args:
        shape: the shape, perhaps partly known; None for any.
        dtype: the type of the values.
    """

    __slots__ = ()

    def __init__(self, shape: object = None, dtype: object = dtypes.float32) -> None:
        super().__init__(shape, dtype)

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
        # Parts that a program has changed may be those of another shape.
        if made.shape.is_compatible_with(self.shape):
            made.set_shape(self.shape)
        return made


CompositeTensor.register(SparseTensor)
register_type_spec_from_value_converter(SparseTensor, SparseTensorSpec.from_value)
