"""tf.ragged: tensors whose rows have different lengths."""

from __future__ import annotations

from weft.ops.ragged.elementwise import map_flat_values as map_flat_values
from weft.ops.ragged.factory import constant as constant
from weft.ops.ragged.factory import placeholder as placeholder
from weft.ops.ragged.factory import ragged_range as _ragged_range
from weft.ops.ragged.joining import stack as stack
from weft.ops.ragged.partitions import row_splits_to_segment_ids as row_splits_to_segment_ids
from weft.ops.ragged.partitions import segment_ids_to_row_splits as segment_ids_to_row_splits
from weft.ops.ragged.selecting import boolean_mask as boolean_mask
from weft.ops.ragged.selecting import stack_dynamic_partitions as stack_dynamic_partitions
from weft.ops.ragged.value import RaggedTensorValue as RaggedTensorValue
from weft.ops.ragged.value import constant_value as constant_value

# Under a name of its own: type checkers take a renamed import for the module's private business.
range = _ragged_range
