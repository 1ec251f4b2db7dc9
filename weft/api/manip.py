"""tf.manip: functions that rearrange tensors."""

from __future__ import annotations

from weft.ops.array.batch_gather import gather_nd as gather_nd
from weft.ops.array.blocks import batch_to_space_nd as batch_to_space_nd
from weft.ops.array.blocks import space_to_batch_nd as space_to_batch_nd
from weft.ops.array.gather_scatter import scatter_nd as scatter_nd
from weft.ops.array.shape_ops import reshape as reshape
from weft.ops.array.tiling import reverse as reverse
from weft.ops.array.tiling import roll as roll
from weft.ops.array.tiling import tile as tile
