"""SparseFeatureColumn: features of which each example has few."""

from __future__ import annotations

from weft.framework.building.aliases import TensorLike
from weft.framework.building.tensor_conversion import convert_to_tensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.dims import format_dims


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
