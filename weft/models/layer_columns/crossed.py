"""CrossedColumn of contrib.layers: ids of combinations of several columns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple, TypeAlias

from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.nodes.operation import Tensor
from weft.models.feature_columns.column import CategoricalColumn, FeatureColumn, is_categorical, sparse
from weft.models.feature_columns.contracts import IdWeightPair, ParseSpec, StateManager, TransformedFeatures
from weft.models.layer_columns.column import LayerColumn, Lookup, printed_as
from weft.models.layer_columns.real_valued import BucketizedColumn
from weft.models.layer_columns.sparse import SparseColumn
from weft.ops.strings.cross import sparse_feature_cross

Crossable: TypeAlias = "SparseColumn | BucketizedColumn | CrossedColumn"


class _CrossedFields(NamedTuple):
    columns: tuple[LayerColumn, ...]
    hash_bucket_size: int
    hash_key: int | None
    combiner: str
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None


@printed_as("_CrossedColumn")
class CrossedColumn(LayerColumn, CategoricalColumn, _CrossedFields):
    """Ids of combinations of several columns; see `crossed_column`."""

    @property
    def name(self) -> str:
        """The columns' names, in order."""
        return "_X_".join(sorted(column.name for column in self.columns))

    @property
    def parse_example_spec(self) -> ParseSpec:
        """All features that are crossed."""
        return {key: value for column in self.columns for key, value in column.parse_example_spec.items()}

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """What is crossed."""
        return list(self.columns)

    @property
    def length(self) -> int:
        """The number of buckets."""
        return self.hash_bucket_size

    @property
    def num_buckets(self) -> int:
        """The number of buckets."""
        return self.hash_bucket_size

    @property
    def checkpoint(self) -> tuple[str, str] | None:
        """The checkpoint and the name in it that a linear model's weights start from."""
        if self.ckpt_to_load_from is None or self.tensor_name_in_ckpt is None:
            return None
        return self.ckpt_to_load_from, self.tensor_name_in_ckpt

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> SparseTensor:
        """The buckets of all combinations of each example's elements; of a column of ids, its feature is crossed as it is."""
        crossed: list[Tensor | SparseTensor] = []
        for column in _leaves(self):
            if isinstance(column, SparseColumn):
                feature = transformation_cache.get(column.name, state_manager)
                assert not isinstance(feature, tuple)
                crossed.append(feature)
            else:
                assert is_categorical(column)
                crossed.append(column.get_sparse_tensors(transformation_cache, state_manager).id_tensor)
        return sparse_feature_cross(crossed, True, self.hash_bucket_size, "cross", self.hash_key)

    def get_sparse_tensors(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> IdWeightPair:
        """The buckets, without weights."""
        return IdWeightPair(sparse(transformation_cache.get(self, state_manager)), None)

    def wide_lookup(self, features: TransformedFeatures, state_manager: StateManager) -> Lookup:
        """The buckets."""
        return Lookup(sparse(features.get(self, state_manager)), None, self.length, self.combiner)


def _leaves(crossed: CrossedColumn) -> Iterator[LayerColumn]:
    for column in crossed.columns:
        if isinstance(column, CrossedColumn):
            yield from _leaves(column)
        else:
            yield column


def crossed_column(
    columns: Iterable[Crossable],
    hash_bucket_size: int,
    combiner: str = "sum",
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    hash_key: int | None = None,
) -> CrossedColumn:
    """A column of the combinations of several columns, hashed.

    Args:
        columns: columns of ids, of buckets, or crosses.
        hash_bucket_size: the number of buckets.
        combiner: how a linear model combines an example's weights.
        ckpt_to_load_from, tensor_name_in_ckpt: the checkpoint and the name in it that a linear model's weights start from.
        hash_key: the number that the hash begins with; an older hash without one.

    Raises:
        TypeError: a column cannot be crossed. ValueError: there are not two columns or two buckets.
    """
    given = tuple(columns)
    for column in given:
        if not isinstance(column, SparseColumn | CrossedColumn | BucketizedColumn):
            raise TypeError(
                "columns must be a set of _SparseColumn, _CrossedColumn, or _BucketizedColumn instances. "
                f"(column {column} is a {type(column).__name__})"
            )
    if len(given) < 2:
        raise ValueError(f"columns must contain at least 2 elements. columns: {columns}")
    if hash_bucket_size < 2:
        raise ValueError(f"hash_bucket_size must be at least 2. hash_bucket_size: {hash_bucket_size}")
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    in_order = tuple(sorted(given, key=lambda column: column.name))
    return CrossedColumn(in_order, hash_bucket_size, hash_key, combiner, ckpt_to_load_from, tensor_name_in_ckpt)
