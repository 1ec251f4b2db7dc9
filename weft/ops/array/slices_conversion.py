"""IndexedSlices where a tensor is wanted: the dense form, with a warning when that may be large."""

from __future__ import annotations

import math
import warnings
from typing import Final

import numpy as np

from weft.framework.building.aliases import DTypeLike, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor, register_tensor_conversion_function
from weft.framework.graphs.graph import get_default_graph
from weft.framework.graphs.indexed_slices import IndexedSlices
from weft.framework.nodes.constant_value import constant_dims
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dtypes import DType
from weft.ops.array.padding import slice_node
from weft.ops.array.shape_ops import reshape
from weft.ops.math.segment import unsorted_segment_sum

# From this many elements on, a dense gradient deserves a warning.
_LARGE: Final = 100_000_000

# What TensorFlow makes the dense form of: the number of rows, cut out of the shape in any case, and the sum.
NODES_OF_DENSE: Final = 5


def _to_dense(value: IndexedSlices, dtype: DType | None = None, name: str | None = None, as_ref: bool = False) -> Tensor:
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype {value.dtype.name}")
    if value.dense_shape is None:
        raise ValueError(f"Tensor conversion requested for IndexedSlices without dense_shape: {value}")
    dims = constant_dims(value.dense_shape)
    if dims is None or None in dims:
        warnings.warn(
            "Converting sparse IndexedSlices to a dense Tensor of unknown shape. This may consume a large amount of memory.",
            stacklevel=2,
        )
    elif (count := math.prod(dims)) >= _LARGE:  # type: ignore[arg-type]
        warnings.warn(
            f"Converting sparse IndexedSlices to a dense Tensor with {count} elements. This may consume a large "
            "amount of memory.",
            stacklevel=2,
        )
    with get_default_graph().node_count.as_many_as(NODES_OF_DENSE):
        if dims is not None and dims[0] is not None:
            rows: Tensor | np.int32 = np.int32(dims[0])
        else:
            rows = reshape(slice_node(value.dense_shape, [0], [1]), [])
        dense = unsorted_segment_sum(value.values, value.indices, rows, name=name)
    if dims is not None:
        dense.set_shape(dims)
    return dense


register_tensor_conversion_function(IndexedSlices, _to_dense)


def convert_to_tensor_or_indexed_slices(
    value: TensorLike | IndexedSlices, dtype: DTypeLike | None = None, name: str | None = None
) -> Tensor | IndexedSlices:
    """An IndexedSlices as it is (ValueError when it has another dtype), anything else as a Tensor.

    Args:
        value: IndexedSlices, or what `convert_to_tensor` takes.
        dtype: the dtype that it must have, or shall get.
    """
    if not isinstance(value, IndexedSlices):
        return convert_to_tensor(value, dtype, name)
    if dtype is not None and not dtypes.as_dtype(dtype).is_compatible_with(value.dtype):
        raise ValueError(
            f"Tensor conversion requested dtype {dtypes.as_dtype(dtype).name} for Tensor with dtype "
            f"{value.dtype.name}: {str(value)!r}"
        )
    return value
