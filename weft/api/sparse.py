"""tf.sparse: tensors of which only some elements are stored."""

from __future__ import annotations

from weft.framework.composites.sparse_tensor import SparseTensor as SparseTensor
from weft.ops.data_flow.conditional_accumulator import SparseConditionalAccumulator as SparseConditionalAccumulator
from weft.ops.sparse.arithmetic import sparse_add as _sparse_add
from weft.ops.sparse.arithmetic import sparse_maximum as _sparse_maximum
from weft.ops.sparse.arithmetic import sparse_minimum as _sparse_minimum
from weft.ops.sparse.arithmetic import sparse_tensor_dense_matmul as _sparse_tensor_dense_matmul
from weft.ops.sparse.joining import sparse_concat as _sparse_concat
from weft.ops.sparse.joining import sparse_slice as _sparse_slice
from weft.ops.sparse.joining import sparse_split as _sparse_split
from weft.ops.sparse.layout import sparse_fill_empty_rows as _sparse_fill_empty_rows
from weft.ops.sparse.layout import sparse_reorder as _sparse_reorder
from weft.ops.sparse.layout import sparse_reset_shape as _sparse_reset_shape
from weft.ops.sparse.layout import sparse_reshape as _sparse_reshape
from weft.ops.sparse.layout import sparse_retain as _sparse_retain
from weft.ops.sparse.layout import sparse_transpose as _sparse_transpose
from weft.ops.sparse.making import from_dense as from_dense
from weft.ops.sparse.making import sparse_expand_dims as _sparse_expand_dims
from weft.ops.sparse.making import sparse_eye as _sparse_eye
from weft.ops.sparse.reductions import sparse_reduce_max as _sparse_reduce_max
from weft.ops.sparse.reductions import sparse_reduce_max_sparse as _sparse_reduce_max_sparse
from weft.ops.sparse.reductions import sparse_reduce_sum as _sparse_reduce_sum
from weft.ops.sparse.reductions import sparse_reduce_sum_sparse as _sparse_reduce_sum_sparse
from weft.ops.sparse.reductions import sparse_softmax as _sparse_softmax
from weft.ops.sparse.segment import sparse_segment_mean as _sparse_segment_mean
from weft.ops.sparse.segment import sparse_segment_sqrt_n as _sparse_segment_sqrt_n
from weft.ops.sparse.segment import sparse_segment_sum as _sparse_segment_sum
from weft.ops.sparse.tensors import sparse_mask as _sparse_mask
from weft.ops.sparse.tensors import sparse_merge as _sparse_merge
from weft.ops.sparse.tensors import sparse_placeholder as _sparse_placeholder
from weft.ops.sparse.tensors import sparse_tensor_to_dense as _sparse_tensor_to_dense
from weft.ops.sparse.tensors import sparse_to_indicator as _sparse_to_indicator
from weft.ops.strings.cross import sparse_cross as _sparse_cross
from weft.ops.strings.cross import sparse_cross_hashed as _sparse_cross_hashed

# Under a name of its own: type checkers take a renamed import for the module's private business.
add = _sparse_add
maximum = _sparse_maximum
minimum = _sparse_minimum
matmul = _sparse_tensor_dense_matmul
sparse_dense_matmul = _sparse_tensor_dense_matmul
concat = _sparse_concat
slice = _sparse_slice
split = _sparse_split
fill_empty_rows = _sparse_fill_empty_rows
reorder = _sparse_reorder
reset_shape = _sparse_reset_shape
reshape = _sparse_reshape
retain = _sparse_retain
transpose = _sparse_transpose
expand_dims = _sparse_expand_dims
eye = _sparse_eye
reduce_max = _sparse_reduce_max
reduce_max_sparse = _sparse_reduce_max_sparse
reduce_sum = _sparse_reduce_sum
reduce_sum_sparse = _sparse_reduce_sum_sparse
softmax = _sparse_softmax
segment_mean = _sparse_segment_mean
segment_sqrt_n = _sparse_segment_sqrt_n
segment_sum = _sparse_segment_sum
mask = _sparse_mask
merge = _sparse_merge
placeholder = _sparse_placeholder
to_dense = _sparse_tensor_to_dense
to_indicator = _sparse_to_indicator
cross = _sparse_cross
cross_hashed = _sparse_cross_hashed
