"""RaggedTensorSpec: what is asked of a ragged tensor that is not there yet."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import DType, as_dtype
from weft.framework.types.type_spec import CompositeTensor, ShapedTypeSpec, register_type_spec_from_value_converter
from weft.ops.ragged.tensor import RaggedTensor


class RaggedTensorSpec(ShapedTypeSpec):
    """A description of ragged tensors. Immutable; equal when the descriptions are.

    Args:
        shape: the shape, None for sizes of rows that differ; None for any.
        dtype: the type of the values.
        ragged_rank: how many dimensions are partitioned into rows; all but the innermost when None.
        row_splits_dtype: the type of the splits, int32 or int64.

    Raises:
        TypeError: `ragged_rank` is no int.
        ValueError: it is not less than the rank, or neither tells.
    """

    __slots__ = ("_ragged_rank", "_row_splits_dtype")

    def __init__(
        self, shape: object = None, dtype: object = dtypes.float32, ragged_rank: int | None = None,
        row_splits_dtype: object = dtypes.int64,
    ) -> None:  # fmt: skip
        super().__init__(shape, dtype)
        self._row_splits_dtype = as_dtype(row_splits_dtype)
        rank = None if self._dims is None else len(self._dims)
        if ragged_rank is None:
            if rank is None:
                raise ValueError("Must specify ragged_rank or a shape with a known rank.")
            ragged_rank = rank - 1
        if not isinstance(ragged_rank, int):
            raise TypeError(f"ragged_rank must be an int, got {ragged_rank!r}")
        if rank is not None and ragged_rank >= rank:
            raise ValueError(f"ragged_rank must be less than rank. ragged_rank is {ragged_rank}, the shape {self.shape}.")
        self._ragged_rank = ragged_rank

    @classmethod
    def from_value(cls, value: RaggedTensor) -> RaggedTensorSpec:
        """The spec of a ragged tensor.

        Args:
            value: the ragged tensor.
        """
        return cls(value.shape, value.values.dtype, value.ragged_rank, value.row_splits.dtype)

    @property
    def value_type(self) -> type:
        """The class of ragged tensors; of tensors where no dimension is partitioned, as rows of ragged tensors are."""
        return RaggedTensor if self._ragged_rank > 0 else Tensor

    @property
    def ragged_rank(self) -> int:
        """How many dimensions are partitioned into rows."""
        return self._ragged_rank

    @property
    def row_splits_dtype(self) -> DType:
        """The type of the splits."""
        return self._row_splits_dtype

    def _serialize(self) -> tuple[object, ...]:
        return self.shape, self._dtype, self._ragged_rank, self._row_splits_dtype

    @property
    def _component_specs(self) -> list[TensorSpec]:
        if self._ragged_rank == 0:
            return [TensorSpec(self._dims, self._dtype)]
        rows = None if not self._dims or self._dims[0] is None else self._dims[0] + 1
        values: Dims = None if self._dims is None else (None, *self._dims[self._ragged_rank + 1 :])
        splits = [rows, *[None] * (self._ragged_rank - 1)]
        return [TensorSpec(values, self._dtype), *(TensorSpec((size,), self._row_splits_dtype) for size in splits)]

    def _to_components(self, value: RaggedTensor | Tensor) -> list[Tensor]:
        return [value.flat_values, *value.nested_row_splits] if isinstance(value, RaggedTensor) else [value]

    def _from_components(self, tensors: Sequence[Tensor]) -> RaggedTensor | Tensor:
        if self._ragged_rank == 0:
            return tensors[0]
        return RaggedTensor.from_nested_row_splits(tensors[0], list(tensors[1:]), validate=False)


CompositeTensor.register(RaggedTensor)
register_type_spec_from_value_converter(RaggedTensor, RaggedTensorSpec.from_value)
