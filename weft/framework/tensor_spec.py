"""TensorSpec: what is asked of a tensor that is not there yet: a shape, a dtype, perhaps a name."""

from __future__ import annotations

from weft.framework.dims import Dims
from weft.framework.dtypes import DType, as_dtype
from weft.framework.operation import Tensor
from weft.framework.tensor_shape import TensorShape, as_dims


class TensorSpec:
    """A description of tensors. Immutable; equal when the descriptions are.

    Args:
        shape: the shape, perhaps partly known; None for any.
        dtype: the dtype.
        name: a name for the tensor; None for none.
    """

    __slots__ = ("_dims", "_dtype", "_name")

    def __init__(self, shape: object, dtype: object = "float32", name: str | None = None) -> None:
        self._dims: Dims = as_dims(shape)
        self._dtype = as_dtype(dtype)
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
    def shape(self) -> TensorShape:
        """The shape."""
        return TensorShape(self._dims)

    @property
    def dtype(self) -> DType:
        """The dtype."""
        return self._dtype

    @property
    def name(self) -> str | None:
        """The name, or None."""
        return self._name

    def is_compatible_with(self, spec_or_tensor: Tensor | TensorSpec) -> bool:
        """Whether a tensor, or what another spec describes, may be of this dtype and shape.

        Args:
            spec_or_tensor: has a `dtype` and a `shape`; unknown sizes fit any.
        """
        return self._dtype.is_compatible_with(spec_or_tensor.dtype) and self.shape.is_compatible_with(spec_or_tensor.shape)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, TensorSpec):
            return NotImplemented
        return (self._dims, self._dtype, self._name) == (other._dims, other._dtype, other._name)

    def __hash__(self) -> int:
        return hash((self._dims, self._dtype))

    def __repr__(self) -> str:
        return f"TensorSpec(shape={self.shape}, dtype={self._dtype!r}, name={self._name!r})"

    def __reduce__(self) -> tuple[object, ...]:
        return TensorSpec, (self._dims, self._dtype.name, self._name)
