"""tensorflow.python.ops.array_ops, for programs that import by this path. This module only re-exports."""

from __future__ import annotations

from weft.ops.batch_gather import gather_nd as gather_nd
from weft.ops.filling import fill as fill
from weft.ops.filling import one_hot as one_hot
from weft.ops.filling import ones as ones
from weft.ops.filling import ones_like as ones_like
from weft.ops.filling import zeros as zeros
from weft.ops.filling import zeros_like as zeros_like
from weft.ops.gather_scatter import gather as gather
from weft.ops.identity import identity as identity
from weft.ops.identity import stop_gradient as stop_gradient
from weft.ops.joining import concat as concat
from weft.ops.joining import split as split
from weft.ops.joining import stack as stack
from weft.ops.joining import unstack as unstack
from weft.ops.padding import pad as pad
from weft.ops.padding import slice_of as slice
from weft.ops.placeholder import placeholder as placeholder
from weft.ops.placeholder import placeholder_with_default as placeholder_with_default
from weft.ops.selection import boolean_mask as boolean_mask
from weft.ops.selection import where as where
from weft.ops.sequences import reverse_sequence as reverse_sequence
from weft.ops.sequences import sequence_mask as sequence_mask
from weft.ops.sets import unique as unique
from weft.ops.shape_ops import expand_dims as expand_dims
from weft.ops.shape_ops import rank as rank
from weft.ops.shape_ops import reshape as reshape
from weft.ops.shape_ops import shape as shape
from weft.ops.shape_ops import size as size
from weft.ops.shape_ops import squeeze as squeeze
from weft.ops.shape_ops import transpose as transpose
from weft.ops.slicing import strided_slice as strided_slice
from weft.ops.tiling import reverse as reverse
from weft.ops.tiling import tile as tile
