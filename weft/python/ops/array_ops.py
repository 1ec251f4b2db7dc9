"""tensorflow.python.ops.array_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.array.batch_gather import gather_nd as gather_nd
from weft.ops.array.filling import fill as fill
from weft.ops.array.filling import one_hot as one_hot
from weft.ops.array.filling import ones as ones
from weft.ops.array.filling import ones_like as ones_like
from weft.ops.array.filling import zeros as zeros
from weft.ops.array.filling import zeros_like as zeros_like
from weft.ops.array.gather_scatter import gather as gather
from weft.ops.array.identity import identity as identity
from weft.ops.array.identity import stop_gradient as stop_gradient
from weft.ops.array.joining import concat as concat
from weft.ops.array.joining import split as split
from weft.ops.array.joining import stack as stack
from weft.ops.array.joining import unstack as unstack
from weft.ops.array.padding import pad as pad
from weft.ops.array.padding import slice_of as slice
from weft.ops.array.placeholder import placeholder as placeholder
from weft.ops.array.placeholder import placeholder_with_default as placeholder_with_default
from weft.ops.array.selection import boolean_mask as boolean_mask
from weft.ops.array.selection import where as where
from weft.ops.array.sequences import reverse_sequence as reverse_sequence
from weft.ops.array.sequences import sequence_mask as sequence_mask
from weft.ops.array.sets import unique as unique
from weft.ops.array.shape_ops import expand_dims as expand_dims
from weft.ops.array.shape_ops import rank as rank
from weft.ops.array.shape_ops import reshape as reshape
from weft.ops.array.shape_ops import shape as shape
from weft.ops.array.shape_ops import size as size
from weft.ops.array.shape_ops import squeeze as squeeze
from weft.ops.array.shape_ops import transpose as transpose
from weft.ops.array.slicing import strided_slice as strided_slice
from weft.ops.array.tiling import reverse as reverse
from weft.ops.array.tiling import tile as tile
