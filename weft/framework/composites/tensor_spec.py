"""TensorSpec: what is asked of a tensor that is not there yet: a shape, a dtype, perhaps a name."""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import as_dtype
from weft.framework.types.tensor_shape import as_dims
from weft.framework.types.type_spec import ShapedTypeSpec, TypeSpec, register_type_spec_from_value_converter


class TensorSpec(ShapedTypeSpec):
    """A description of tensors. Immutable; equal when the descriptions are.

    Args:
        shape: the shape, perhaps partly known; None for any.
        dtype: the dtype.
        name: a name for the tensor; None for none.
    """

    __slots__ = ("_name",)

    def __init__(self, shape: object, dtype: object = "float32", name: str | None = None) -> None:
        super().__init__(shape, dtype)
        self._name = name

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> TensorSpec:
        """The same spec, perhaps under another name.

        Args:
            spec: the spec whose shape and dtype it has.
        """
        return cls(spec.shape, spec.dtype, name or spec.name)

    @classmethod
    def from_tensor(cls, tensor: Tensor, name: str | None = None) -> TensorSpec:
        """The spec of a tensor, under the name of its op unless another is given.

        Args:
            tensor: the tensor whose shape and dtype it has.

        Raises:
            ValueError: `tensor` is no tensor.
        """
        if not isinstance(tensor, Tensor):
            raise ValueError(f"`tensor` should be a tf.Tensor, got {type(tensor).__name__}")
        return cls(tensor.shape, tensor.dtype, name or tensor.op.name)

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    @property
    def value_type(self) -> type:
        """The class of tensors."""
        return Tensor

    def _serialize(self) -> tuple[object, ...]:
        return self.shape, self._dtype, self._name

    def most_specific_compatible_type(self, other: TypeSpec) -> TensorSpec:
        """The narrowest spec that takes what this and another one describe; its name is theirs, if it is one.

        Args:
            other: a TensorSpec of the same dtype.

        Raises:
            ValueError: it is none, or the dtypes differ.
        """
        if not isinstance(other, TensorSpec) or self._dtype != other.dtype:
            raise ValueError(f"Types are not compatible: {self} vs {other}")
        shape = self.shape.most_specific_compatible_shape(other.shape)
        return TensorSpec(shape, self._dtype, self._name if self._name == other._name else None)

    def is_compatible_with(self, spec_or_tensor: object) -> bool:
        """Whether a tensor, or what another spec describes, may be of this dtype and shape.

        Args:
            spec_or_tensor: has a `dtype` and a `shape`; unknown sizes fit any.
        """
        if not (hasattr(spec_or_tensor, "dtype") and hasattr(spec_or_tensor, "shape")):
            return False
        return self._dtype.is_compatible_with(spec_or_tensor.dtype) and self.shape.is_compatible_with(spec_or_tensor.shape)

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other) or not isinstance(other, TensorSpec):
            return False
        return (self._dims, self._dtype, self._name) == (as_dims(other.shape), other.dtype, other._name)

    def __hash__(self) -> int:
        return hash((self._dims, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return TensorSpec, (self._dims, self._dtype.name, self._name)


_Array: TypeAlias = "np.ndarray[tuple[int, ...], np.dtype[np.generic]]"


class BoundedTensorSpec(TensorSpec):
    """A description of tensors whose elements are within bounds, such as an agent's actions. Immutable.

    Args:
        shape: the shape, perhaps partly known; None for any.
        dtype: the dtype.
        minimum, maximum: the least and the greatest value: numbers, or arrays that broadcast to the shape.
        name: a name for the tensor; None for none.

    Raises:
        ValueError: a bound is None, or does not broadcast to the shape.
    """

    __slots__ = ("_maximum", "_minimum")

    def __init__(self, shape: object, dtype: object, minimum: ArrayLike, maximum: ArrayLike, name: str | None = None) -> None:
        super().__init__(shape, dtype, name)
        if minimum is None or maximum is None:
            raise ValueError(f"minimum and maximum must be provided; but saw '{minimum}' and '{maximum}'")
        self._minimum = self._bound("minimum", minimum)
        self._maximum = self._bound("maximum", maximum)

    def _bound(self, which: str, value: ArrayLike) -> _Array:
        bound = np.array(value, self.dtype.as_numpy_dtype)
        sizes = None if self._dims is None else tuple(size for size in self._dims if size is not None)
        if sizes is not None and len(sizes) == len(self._dims or ()):
            try:
                fits = np.broadcast_shapes(bound.shape, sizes) == sizes
            except ValueError:
                fits = False
            if not fits:
                raise ValueError(
                    f"{which} is not compatible with shape. A bound of shape {bound.shape} does not broadcast to {self.shape}."
                )
        bound.setflags(write=False)
        return bound

    @classmethod
    def from_spec(cls, spec: TensorSpec, name: str | None = None) -> BoundedTensorSpec:
        """The spec with its bounds; those of the dtype where it has none.

        Args:
            spec: any spec of tensors, or one of arrays: what has a shape, a dtype, also NumPy's, and a name.
            name: another name for it.
        """
        dtype = as_dtype(spec.dtype)
        low, high = getattr(spec, "minimum", dtype.min), getattr(spec, "maximum", dtype.max)
        return cls(spec.shape, dtype, low, high, name or spec.name)

    @property
    def minimum(self) -> _Array:
        """The least value, read-only."""
        return self._minimum

    @property
    def maximum(self) -> _Array:
        """The greatest value, read-only."""
        return self._maximum

    def _serialize(self) -> tuple[object, ...]:
        return self.shape, self.dtype, self._minimum, self._maximum, self.name

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BoundedTensorSpec):
            return False
        bounds = ((self._minimum, other._minimum), (self._maximum, other._maximum))
        return super().__eq__(other) and all(np.array_equal(one, another) for one, another in bounds)

    def __hash__(self) -> int:
        return super().__hash__()

    def __repr__(self) -> str:
        return (
            f"BoundedTensorSpec(shape={self.shape}, dtype={self.dtype!r}, name={self.name!r}, minimum={self._minimum!r}, "
            f"maximum={self._maximum!r})"
        )

    def __reduce__(self) -> tuple[object, ...]:
        return BoundedTensorSpec, (self._dims, self.dtype.name, self._minimum, self._maximum, self.name)


register_type_spec_from_value_converter(Tensor, lambda tensor: TensorSpec(tensor.shape, tensor.dtype))
