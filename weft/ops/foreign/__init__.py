"""Ops that graphs from elsewhere have, such as those of TensorFlow's clients, and that no function of weft's adds.

They are imported when a graph names an op that is not declared (`op_registry.load_when_missing`): `import weft` need not pay
for them.
"""

from weft.ops.foreign import (
    arrays as arrays,
)
from weft.ops.foreign import (
    block_cells as block_cells,
)
from weft.ops.foreign import (
    block_lstm as block_lstm,
)
from weft.ops.foreign import (
    counts as counts,
)
from weft.ops.foreign import (
    datasets as datasets,
)
from weft.ops.foreign import (
    glimpses as glimpses,
)
from weft.ops.foreign import (
    grouped_datasets as grouped_datasets,
)
from weft.ops.foreign import (
    images as images,
)
from weft.ops.foreign import (
    matrices as matrices,
)
from weft.ops.foreign import (
    sparse_gradients as sparse_gradients,
)
from weft.ops.foreign import (
    tuned_datasets as tuned_datasets,
)
from weft.ops.foreign import (
    values as values,
)
from weft.ops.ragged import variants as variants
