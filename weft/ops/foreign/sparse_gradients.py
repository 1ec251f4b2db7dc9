"""The gradients of lookups that are summed by segments, as rows of their own: what TensorFlow 2's clients write for them."""

from __future__ import annotations

from typing import Final

import numpy as np

from weft.errors import InvalidArgumentError
from weft.framework.building.aliases import Array, Result
from weft.framework.building.op_context import OpContext
from weft.framework.nodes.operation import Operation
from weft.framework.types import dtypes
from weft.framework.types.dims import Dims
from weft.ops.declaration import op
from weft.ops.math.elementwise import FLOATS
from weft.ops.size_checks import check_equal

_SIGNATURE: Final = (
    "grad: T, indices: Tidx, segment_ids: Tsegmentids, dense_output_dim0: int32 -> output: T, sorted_unique_indices: Tidx"
)
_INDEX: Final = (dtypes.int32, dtypes.int64)
_TYPES: Final = {"T": FLOATS, "Tidx": _INDEX, "Tsegmentids": _INDEX}
_DEFAULTS: Final = {"Tidx": dtypes.int32, "Tsegmentids": dtypes.int32}
_RANKS: Final = {"indices": 1, "segment_ids": 1, "dense_output_dim0": 0}


def _shapes(node: Operation) -> list[Dims]:
    dims = node.inputs[0].dims
    check_equal(node.inputs[1], 0, node.inputs[2], 0)
    return [None if dims is None else (None, *dims[1:]), (None,)]


def _rows(grad: Array, indices: Array, segment_ids: Array, rows: Array, power: float) -> tuple[Array, Array]:
    """For each row that was looked up its gradient, and which rows these are, in order."""
    if indices.shape != segment_ids.shape:
        raise InvalidArgumentError.of("segment_ids and indices should have same size.")
    for name, values, most in (("Segment id", segment_ids, len(grad)), ("Index", indices, int(rows))):
        if values.size and not (values.min() >= 0 and values.max() < most):
            wrong = values[(values < 0) | (values >= most)][0]
            raise InvalidArgumentError.of(f"{name} {wrong} out of range [0, {most}).")
    found, places = np.unique(indices, return_inverse=True)
    sizes = np.maximum(np.bincount(segment_ids, minlength=len(grad)), 1)
    weights = (sizes.astype(np.float64) ** -power).astype(grad.dtype)
    made = np.zeros((len(found), *grad.shape[1:]), grad.dtype)
    np.add.at(made, places, (grad * weights.reshape(-1, *(1,) * (grad.ndim - 1)))[segment_ids])
    return made, found


@op("SparseSegmentSumGradV2", _SIGNATURE, ranks=_RANKS, infer=_shapes, gradient=None, types=_TYPES, defaults=_DEFAULTS)
def sparse_segment_sum_grad_v2(
    ctx: OpContext, grad: Array, indices: Array, segment_ids: Array, dense_output_dim0: Array
) -> tuple[Result, Result]:
    """The gradient of SparseSegmentSum for the rows that it used, and their numbers.

    `[segments, *inner], [n], [n], scalar int32 -> [m, *inner], [m]`
    """
    return _rows(grad, indices, segment_ids, dense_output_dim0, 0)


@op("SparseSegmentMeanGradV2", _SIGNATURE, ranks=_RANKS, infer=_shapes, gradient=None, types=_TYPES, defaults=_DEFAULTS)
def sparse_segment_mean_grad_v2(
    ctx: OpContext, grad: Array, indices: Array, segment_ids: Array, dense_output_dim0: Array
) -> tuple[Result, Result]:
    """The gradient of SparseSegmentMean for the rows that it used, and their numbers.

    `[segments, *inner], [n], [n], scalar int32 -> [m, *inner], [m]`
    """
    return _rows(grad, indices, segment_ids, dense_output_dim0, 1)


@op("SparseSegmentSqrtNGradV2", _SIGNATURE, ranks=_RANKS, infer=_shapes, gradient=None, types=_TYPES, defaults=_DEFAULTS)
def sparse_segment_sqrt_n_grad_v2(
    ctx: OpContext, grad: Array, indices: Array, segment_ids: Array, dense_output_dim0: Array
) -> tuple[Result, Result]:
    """The gradient of SparseSegmentSqrtN for the rows that it used, and their numbers.

    `[segments, *inner], [n], [n], scalar int32 -> [m, *inner], [m]`
    """
    return _rows(grad, indices, segment_ids, dense_output_dim0, 0.5)
