"""HostValue: an array that looks like an eager tensor, which is what py_function's functions are given."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike

from weft.framework import dtypes
from weft.framework.aliases import Array, Nest
from weft.framework.dtypes import DType
from weft.framework.tensor_shape import TensorShape


class HostValue(np.lib.mixins.NDArrayOperatorsMixin):
    """A value with the parts of an eager tensor that NumPy can serve; arithmetic on it gives further ones.

    Args:
        value: an array, a NumPy scalar, or bytes.
    """

    __hash__ = None  # type: ignore[assignment]

    def __init__(self, value: Array) -> None:
        self._value = value

    def numpy(self) -> Array:
        """The array; for a scalar a NumPy scalar, for a single string bytes."""
        return self._value

    @property
    def dtype(self) -> DType:
        """The element type."""
        array = np.asarray(self._value)
        return dtypes.string if array.dtype.kind in "SUO" else dtypes.as_dtype(array.dtype)

    @property
    def shape(self) -> TensorShape:
        """The shape, known in full."""
        return TensorShape(np.shape(self._value))

    @property
    def ndim(self) -> int:
        """The rank."""
        return np.ndim(self._value)

    def get_shape(self) -> TensorShape:
        """The shape."""
        return self.shape

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> Array:
        return np.array(self._value, dtype=dtype) if copy else np.asarray(self._value, dtype=dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: object, **options: object) -> Nest:
        plain = [each.numpy() if isinstance(each, HostValue) else each for each in inputs]
        result = getattr(ufunc, method)(*plain, **options)
        return HostValue(result) if isinstance(result, np.ndarray | np.generic) else result

    def __getitem__(self, key: Array) -> HostValue:
        return HostValue(np.asarray(self._value)[key])

    def __iter__(self) -> Iterator[HostValue]:
        return (HostValue(each) for each in np.asarray(self._value))

    def __len__(self) -> int:
        return len(np.asarray(self._value))

    def __bool__(self) -> bool:
        return bool(self._value)

    def __int__(self) -> int:
        return int(self._value)

    def __index__(self) -> int:
        return int(np.asarray(self._value).__index__())

    def __float__(self) -> float:
        return float(self._value)

    def __repr__(self) -> str:
        return f"<value: shape={self.shape}, dtype={self.dtype.name}, numpy={self._value!r}>"
