"""tf.sparse: tensors of which only some elements are stored."""

from __future__ import annotations

from weft.framework.sparse_tensor import SparseTensor as SparseTensor
from weft.ops.data_flow.conditional_accumulator import SparseConditionalAccumulator as SparseConditionalAccumulator
from weft.ops.sparse.arithmetic import sparse_add as add
from weft.ops.sparse.arithmetic import sparse_maximum as maximum
from weft.ops.sparse.arithmetic import sparse_minimum as minimum
from weft.ops.sparse.arithmetic import sparse_tensor_dense_matmul as matmul
from weft.ops.sparse.arithmetic import sparse_tensor_dense_matmul as sparse_dense_matmul
from weft.ops.sparse.joining import sparse_concat as concat
from weft.ops.sparse.joining import sparse_slice as slice
from weft.ops.sparse.joining import sparse_split as split
from weft.ops.sparse.layout import sparse_fill_empty_rows as fill_empty_rows
from weft.ops.sparse.layout import sparse_reorder as reorder
from weft.ops.sparse.layout import sparse_reset_shape as reset_shape
from weft.ops.sparse.layout import sparse_reshape as reshape
from weft.ops.sparse.layout import sparse_retain as retain
from weft.ops.sparse.layout import sparse_transpose as transpose
from weft.ops.sparse.making import from_dense as from_dense
from weft.ops.sparse.making import sparse_expand_dims as expand_dims
from weft.ops.sparse.making import sparse_eye as eye
from weft.ops.sparse.reductions import sparse_reduce_max as reduce_max
from weft.ops.sparse.reductions import sparse_reduce_max_sparse as reduce_max_sparse
from weft.ops.sparse.reductions import sparse_reduce_sum as reduce_sum
from weft.ops.sparse.reductions import sparse_reduce_sum_sparse as reduce_sum_sparse
from weft.ops.sparse.reductions import sparse_softmax as softmax
from weft.ops.sparse.segment import sparse_segment_mean as segment_mean
from weft.ops.sparse.segment import sparse_segment_sqrt_n as segment_sqrt_n
from weft.ops.sparse.segment import sparse_segment_sum as segment_sum
from weft.ops.sparse.tensors import sparse_mask as mask
from weft.ops.sparse.tensors import sparse_merge as merge
from weft.ops.sparse.tensors import sparse_placeholder as placeholder
from weft.ops.sparse.tensors import sparse_tensor_to_dense as to_dense
from weft.ops.sparse.tensors import sparse_to_indicator as to_indicator
from weft.ops.strings.cross import sparse_cross as cross
from weft.ops.strings.cross import sparse_cross_hashed as cross_hashed
