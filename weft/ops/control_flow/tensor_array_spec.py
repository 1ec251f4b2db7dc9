"""TensorArraySpec: what is asked of an array of tensors that is not there yet."""

from __future__ import annotations

from collections.abc import Sequence

from weft.framework.composites.tensor_spec import TensorSpec
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.tensor_shape import TensorShape, as_dims
from weft.framework.types.type_spec import TypeSpec, register_type_spec_from_value_converter
from weft.ops.control_flow.tensor_array import TensorArray


class TensorArraySpec(TypeSpec):
    """A description of TensorArrays. Immutable; equal when the descriptions are.

    Args:
        element_shape: the elements' shape, perhaps partly known; None for any.
        dtype: their type.
        dynamic_size: whether the array grows.
        infer_shape: whether all elements have one shape.
    """

    __slots__ = ("_dtype", "_dynamic_size", "_element_dims", "_infer_shape")

    def __init__(
        self, element_shape: object = None, dtype: object = dtypes.float32, dynamic_size: bool = False, infer_shape: bool = True
    ) -> None:
        self._element_dims: Dims = as_dims(element_shape)
        self._dtype = as_dtype(dtype)
        self._dynamic_size = dynamic_size
        self._infer_shape = infer_shape

    @classmethod
    def from_value(cls, value: TensorArray) -> TensorArraySpec:
        """The spec of an array.

        Args:
            value: the array.
        """
        return cls(value.element_shape, value.dtype, value.dynamic_size, value.infer_shape)

    @property
    def value_type(self) -> type:
        """The class of arrays."""
        return TensorArray

    def _serialize(self) -> tuple[object, ...]:
        return TensorShape(self._element_dims), self._dtype, self._dynamic_size, self._infer_shape

    @property
    def _component_specs(self) -> list[TensorSpec]:
        return [TensorSpec((), dtypes.variant)]

    def _to_components(self, value: TensorArray) -> list[Tensor]:
        return [value.flow]

    def _from_components(self, tensors: Sequence[Tensor]) -> TensorArray:
        return TensorArray(
            self._dtype, flow=tensors[0], dynamic_size=self._dynamic_size, infer_shape=self._infer_shape,
            element_shape=TensorShape(self._element_dims),
        )  # fmt: skip


register_type_spec_from_value_converter(TensorArray, TensorArraySpec.from_value)
