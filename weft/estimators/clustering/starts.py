"""Where the centers of clusters begin: at rows of the input, or where the program says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from weft.framework.building.aliases import Nest, TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.ops.array.gather_scatter import gather
from weft.ops.array.joining import concat
from weft.ops.array.shape_ops import expand_dims, shape
from weft.ops.math.casting import cast
from weft.ops.math.comparison import minimum
from weft.ops.math.reduce_functions import reduce_min, reduce_sum
from weft.ops.math.scans import cumsum
from weft.ops.random.functions import random_uniform

RANDOM_INIT: Final = "random"
KMEANS_PLUS_PLUS_INIT: Final = "kmeans_plus_plus"

# A name of the above, the centers, or a function from the input and the number of clusters to them.
Start: TypeAlias = "str | TensorLike | Callable[[Tensor, int], TensorLike]"
# Of points and centers, how far each point is from each center.
Distances: TypeAlias = Callable[[Tensor, Tensor], Tensor]


def first_centers(inputs: Tensor, count: int, start: Start, distances: Distances, seed: int) -> Tensor:
    """The first centers `[count, size]`.

    Raises:
        ValueError: `start` is another word.
    """
    if isinstance(start, str):
        if start == RANDOM_INIT:
            return _random_rows(inputs, count, seed)
        if start == KMEANS_PLUS_PLUS_INIT:
            return _spread_rows(inputs, count, distances, seed)
        raise ValueError(f"Unsupported initial clusters passed to Kmeans {start!r}: it takes 'random' or 'kmeans_plus_plus'.")
    given: Nest = start(inputs, count) if callable(start) else start
    return convert_to_tensor(given, dtypes.float32)


def _random_rows(inputs: Tensor, count: int, seed: int) -> Tensor:
    return gather(inputs, random_uniform([count], 0, shape(inputs)[0], dtypes.int32, seed=seed))


def _spread_rows(inputs: Tensor, count: int, distances: Distances, seed: int) -> Tensor:
    """Rows of which each is drawn with a probability by its distance from those before (Arthur and Vassilvitskii 2007)."""
    rows = [_random_rows(inputs, 1, seed)]
    nearest = distances(inputs, rows[0])
    for number in range(1, count):
        reach = cumsum(nearest[:, 0])
        point = random_uniform([], seed=seed + number) * reach[-1]
        place = minimum(reduce_sum(cast(reach <= point, dtypes.int32)), shape(inputs)[0] - 1)
        rows.append(expand_dims(gather(inputs, place), 0))
        nearest = expand_dims(reduce_min(concat([nearest, distances(inputs, rows[-1])], 1), 1), 1)
    return concat(rows, 0)
