"""SparseFeatureColumn: features of which each example has few, and how ids become such."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import format_dims
from weft.ops.array.filling import ones_like
from weft.ops.array.selection import boolean_mask
from weft.ops.array.sets import unique
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.math.casting import cast
from weft.ops.math.comparison import greater_equal
from weft.ops.math.reduce_functions import reduce_max
from weft.ops.math.segment import unsorted_segment_sum


class SparseFeatureColumn:
    """One entry for each feature that an example has.

    Args:
        example_indices: `[n]` int64, the example of each entry, in rising order.
        feature_indices: `[n]` int64, the feature; an example has each once at most.
        feature_values: `[n]` float32, the feature's value; 1 for all when None.
    """

    def __init__(
        self, example_indices: TensorLike, feature_indices: TensorLike, feature_values: TensorLike | None = None
    ) -> None:
        with get_default_graph().name_scope("SparseFeatureColumn"):
            self._example_indices = convert_to_tensor(example_indices, dtype=dtypes.int64, name="example_indices")
            self._feature_indices = convert_to_tensor(feature_indices, dtype=dtypes.int64, name="feature_indices")
        self._feature_values: Tensor | None = None
        if feature_values is not None:
            with get_default_graph().name_scope("SparseFeatureColumn"):
                self._feature_values = convert_to_tensor(feature_values, dtype=dtypes.float32, name="feature_values")

    def __repr__(self) -> str:
        kind = "ones" if self._feature_values is None else "values"
        return f"<SparseFeatureColumn of {format_dims(self._feature_indices.dims)} {kind}>"

    @property
    def example_indices(self) -> Tensor:
        """The example of each entry: `[n]` int64."""
        return self._example_indices

    @property
    def feature_indices(self) -> Tensor:
        """The feature of each entry: `[n]` int64."""
        return self._feature_indices

    @property
    def feature_values(self) -> Tensor | None:
        """The value of each entry, `[n]` float32; None where all are 1."""
        return self._feature_values


def entries_of(ids: SparseTensor, weights: SparseTensor | None) -> SparseFeatureColumn:
    """The features of ids: one that an example has several times counts as their sum, one below zero not.

    Args:
        ids: the ids of each example, `[batch, ...]` integers.
        weights: the weight of each, of the same places, float32; 1 for all when None.
    """
    found = reshape(ids.values, [-1])
    values = ones_like(found, dtype=dtypes.float32) if weights is None else reshape(weights.values, [-1])
    known = greater_equal(found, 0)
    owners, found, values = (boolean_mask(each, known) for each in (ids.indices[:, 0], cast(found, dtypes.int64), values))
    reach = reduce_max(found) + 1
    pairs, places = unique(owners * reach + found)
    sums = unsorted_segment_sum(values, places, shape(pairs)[0])
    return SparseFeatureColumn(pairs // reach, pairs % reach, sums)
