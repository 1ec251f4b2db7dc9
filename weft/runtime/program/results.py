"""Results of kernels as the arrays that their tensors promise."""

from __future__ import annotations

import numpy as np

from weft.framework.building.aliases import Array
from weft.framework.nodes.operation import Tensor
from weft.framework.types.dtypes import string


def results_of(made: Array, count: int) -> list[Array]:
    """The results of a kernel as a list; a kernel without results may return anything."""
    if isinstance(made, tuple | list):
        return list(made)
    return [made] if count else []


def as_result(result: Array, tensor: Tensor) -> Array:
    """A kernel's result as an array of its tensor's type; an array of another library stays what it is."""
    wanted = tensor.dtype.as_numpy_dtype
    if isinstance(result, np.ndarray):
        # A vector of arrays that differ in shape, such as a TensorArray may be, stays one.
        return result if result.dtype == wanted or result.dtype == object else np.asarray(result, wanted)
    if hasattr(result, "devices"):
        return result
    if tensor.dtype.base_dtype is string:
        # NumPy would look into a sequence of bytes.
        boxed = np.empty((), np.object_)
        boxed[()] = result
        return boxed
    return np.asarray(result, wanted)
