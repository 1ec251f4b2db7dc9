"""Types of arguments that take many forms: what programs write for a tensor, a type or a shape, and the arrays of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from types import ModuleType
from typing import Any, Protocol, TypeAlias

import numpy as np
from tensorboard.compat.proto import tensor_shape_pb2, types_pb2

from weft.framework.dtypes import DType
from weft.framework.indexed_slices import IndexedSlices
from weft.framework.operation import Tensor
from weft.framework.tensor_shape import Dimension, TensorShape

# An array of NumPy or of JAX, or a traced one: kernels are written once for all three, and these share no type.
Array: TypeAlias = Any
# NumPy or jax.numpy, the `xp` of a kernel.
ArrayModule: TypeAlias = ModuleType
# A kernel's result for one output. The `op` decorator tells by it what the builder of the nodes returns, which a bare Any
# would leave open.
Result: TypeAlias = np.ndarray[Any, Any] | Any
# What a gradient rule gives back: one gradient for each input, None where nothing goes back.
Gradients: TypeAlias = "list[Tensor | IndexedSlices | None]"


class HasValue(Protocol):
    """An object with a tensor as its value, as a variable is."""

    def value(self) -> Tensor:
        """The tensor."""
        ...


Scalar: TypeAlias = bool | int | float | complex | str | bytes | np.generic
# All that `convert_to_tensor` takes of itself; packages that register conversions take more.
TensorLike: TypeAlias = "Tensor | HasValue | np.ndarray[Any, Any] | Scalar | Sequence[TensorLike]"
DTypeLike: TypeAlias = "DType | str | type | np.dtype[Any] | types_pb2.DataType"
ShapeLike: TypeAlias = "TensorShape | tensor_shape_pb2.TensorShapeProto | int | Sequence[int | Dimension | None] | None"
