"""Ids made dense, as contrib.layers' columns: one-hot vectors, and rows of tables of their own, shared or scattered."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from weft.framework.building.aliases import Initializer, VariableLike
from weft.framework.composites.sparse_tensor import SparseTensor
from weft.framework.graphs.graph import get_default_graph
from weft.framework.nodes.operation import Tensor
from weft.framework.types import dtypes
from weft.framework.types.tensor_shape import TensorShape
from weft.models.feature_columns.column import DenseColumn, FeatureColumn, dense, sparse
from weft.models.feature_columns.contracts import FeatureTensor, ParseSpec, StateManager, TransformedFeatures
from weft.models.layer_columns.column import LayerColumn, printed_as, without
from weft.models.layer_columns.crossed import CrossedColumn
from weft.models.layer_columns.scattered import scattered_embedding_lookup_sparse
from weft.models.layer_columns.sparse import SparseColumn, WeightedSparseColumn
from weft.ops.array.filling import one_hot
from weft.ops.array.shape_ops import reshape, shape
from weft.ops.io.checkpoint_initializer import init_from_checkpoint
from weft.ops.io.example_features import VarLenFeature
from weft.ops.math.reduce_functions import reduce_sum
from weft.ops.nn.embedding import safe_embedding_lookup_sparse
from weft.ops.sparse.joining import sparse_slice
from weft.ops.sparse.tensors import sparse_merge, sparse_tensor_to_dense
from weft.ops.variables.matrix_initializers import truncated_normal_initializer
from weft.platform.logs import tf_logging

IdColumn = SparseColumn | WeightedSparseColumn | CrossedColumn


class _OneHotFields(NamedTuple):
    sparse_id_column: SparseColumn | WeightedSparseColumn


@printed_as("_OneHotColumn")
class OneHotColumn(LayerColumn, DenseColumn, _OneHotFields):
    """Ids as vectors that count them; see `one_hot_column`."""

    @property
    def name(self) -> str:
        """The name of the ids' column, marked."""
        return f"{self.sparse_id_column.name}_one_hot"

    @property
    def parse_example_spec(self) -> ParseSpec:
        """That of the ids."""
        return self.sparse_id_column.parse_example_spec

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The column of the ids."""
        return [self.sparse_id_column]

    @property
    def length(self) -> int:
        """The number of ids."""
        return self.sparse_id_column.length

    @property
    def variable_shape(self) -> TensorShape:
        """A vector over the ids."""
        return TensorShape([self.length])

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """How often each id is among an example's, or the sum of its weights."""
        ids, weights = self.sparse_id_column.get_sparse_tensors(transformation_cache, state_manager)
        if weights is not None:
            merged = sparse_merge(ids, weights, self.length)
            merged = sparse_slice(merged, [0, 0], merged.dense_shape)
            counted = sparse_tensor_to_dense(merged)
            return reshape(counted, [shape(counted)[0], self.length])
        rows = sparse_tensor_to_dense(ids, default_value=-1)
        return reduce_sum(one_hot(rows, depth=self.length, on_value=1.0, off_value=0.0), axis=[1])

    def get_dense_tensor(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The vectors, one for each example."""
        return dense(transformation_cache.get(self, state_manager))


def one_hot_column(sparse_id_column: SparseColumn | WeightedSparseColumn) -> OneHotColumn:
    """A dense column that counts the ids of another column.

    Args:
        sparse_id_column: a column of ids; of a weighted one the weights are summed up in place of the counts.
    """
    return OneHotColumn(sparse_id_column)


class _EmbeddingFields(NamedTuple):
    sparse_id_column: IdColumn
    dimension: int
    combiner: str
    initializer: Initializer
    ckpt_to_load_from: str | None
    tensor_name_in_ckpt: str | None
    shared_embedding_name: str | None
    shared_vocab_size: int | None
    max_norm: float | None
    trainable: bool


@printed_as("_EmbeddingColumn")
class EmbeddingColumn(LayerColumn, DenseColumn, _EmbeddingFields):
    """Ids as rows of a table; see `embedding_column` and `shared_embedding_columns`."""

    @property
    def name(self) -> str:
        """The name of the ids' column, marked."""
        mark = "embedding" if self.shared_embedding_name is None else "shared_embedding"
        return f"{self.sparse_id_column.name}_{mark}"

    @property
    def key(self) -> str:
        """The fields without the function."""
        return without(self, self._fields, "initializer")

    @property
    def parse_example_spec(self) -> ParseSpec:
        """That of the ids."""
        return self.sparse_id_column.parse_example_spec

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The column of the ids."""
        return [self.sparse_id_column]

    @property
    def length(self) -> int:
        """The number of the table's rows."""
        return self.sparse_id_column.length if self.shared_vocab_size is None else self.shared_vocab_size

    @property
    def variable_shape(self) -> TensorShape:
        """One row of the table."""
        return TensorShape([self.dimension])

    @property
    def collection(self) -> str | None:
        """The collection of the graph that has a shared table."""
        return (
            None if self.shared_embedding_name is None else f"SHARED_EMBEDDING_COLLECTION_{self.shared_embedding_name.upper()}"
        )

    def create_state(self, state_manager: StateManager) -> None:
        """Make the table, unless it is there."""
        dims, graph, collection = (self.length, self.dimension), get_default_graph(), self.collection
        there = graph.get_collection(collection) if collection else []
        if there:
            if there[0].get_shape() != dims:
                raise ValueError(
                    f"The embedding variable with name {self.shared_embedding_name} already exists, but its shape does not "
                    "match required embedding shape here. Please make sure to use different shared_embedding_name for "
                    "different shared embeddings."
                )
            return
        made = state_manager.create_variable(
            self, self._table_name, dims, dtypes.float32, self.trainable, initializer=self.initializer
        )
        if collection:
            graph.add_to_collection(collection, made)

    @property
    def _table_name(self) -> str:
        return self.shared_embedding_name or "weights"

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> FeatureTensor:
        """The ids."""
        return transformation_cache.get(self.sparse_id_column, state_manager)

    def get_dense_tensor(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The rows of each example's ids, combined."""
        ids, weights = self.sparse_id_column.get_sparse_tensors(transformation_cache, state_manager)
        table = self._table(state_manager)
        if self.ckpt_to_load_from is not None and self.tensor_name_in_ckpt is not None:
            init_from_checkpoint(self.ckpt_to_load_from, {self.tensor_name_in_ckpt: table})
        name = f"{self.name}weights"
        return safe_embedding_lookup_sparse(table, ids, weights, combiner=self.combiner, name=name, max_norm=self.max_norm)

    def _table(self, state_manager: StateManager) -> VariableLike:
        if self.collection is None:
            return state_manager.get_variable(self, self._table_name)
        self.create_state(state_manager)
        return get_default_graph().get_collection(self.collection)[0]


def _embedding(
    ids: IdColumn, dimension: int, combiner: str, initializer: Initializer | None, checkpoint: str | None,
    tensor_name: str | None, shared_name: str | None, shared_size: int | None, max_norm: float | None, trainable: bool,
) -> EmbeddingColumn:  # fmt: skip
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. Embedding of column_name: {ids.name}")
    if (checkpoint is None) != (tensor_name is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is None:
        tf_logging.warn(
            'The default stddev value of initializer was changed from "1/sqrt(vocab_size)" to "1/sqrt(dimension)" in core '
            "implementation (tf.feature_column.embedding_column)."
        )
        initializer = truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(ids.length))
    return EmbeddingColumn(
        ids, dimension, combiner, initializer, checkpoint, tensor_name, shared_name, shared_size, max_norm, trainable
    )


def embedding_column(
    sparse_id_column: IdColumn,
    dimension: int,
    combiner: str = "mean",
    initializer: Initializer | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> EmbeddingColumn:
    """A dense column of the rows of a table at the ids of another column.

    Args:
        sparse_id_column: a column of ids, weighted or not.
        dimension: the size of a row, a positive int.
        combiner: how the rows of an example's ids become one: "mean", "sqrtn" or "sum".
        initializer: makes the table's first value; truncated normal numbers of deviation `1 / sqrt(number of ids)` when None.
        ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint and the name in it of what the table begins with; both or none.
        max_norm: the norm to which longer rows are cut when they are used; none are when None.
        trainable: whether the table is trained.

    Raises:
        ValueError: only one of the checkpoint and the name is given, or the initializer is no function.
    """
    return _embedding(
        sparse_id_column,
        dimension,
        combiner,
        initializer,
        ckpt_to_load_from,
        tensor_name_in_ckpt,
        None,
        None,
        max_norm,
        trainable,
    )


def shared_embedding_columns(
    sparse_id_columns: Sequence[SparseColumn | WeightedSparseColumn],
    dimension: int,
    combiner: str = "mean",
    shared_embedding_name: str | None = None,
    initializer: Initializer | None = None,
    ckpt_to_load_from: str | None = None,
    tensor_name_in_ckpt: str | None = None,
    max_norm: float | None = None,
    trainable: bool = True,
) -> list[EmbeddingColumn] | tuple[EmbeddingColumn, ...]:
    """Dense columns of the rows of one table, for several columns with the same ids.

    Args:
        sparse_id_columns: a list or tuple of columns of one type and one number of ids.
        dimension: the size of a row, a positive int.
        combiner: how the rows of an example's ids become one: "mean", "sqrtn" or "sum".
        shared_embedding_name: the name of the table; made of the columns' names when None.
        initializer: makes the table's first value; truncated normal numbers of deviation `1 / sqrt(number of ids)` when None.
        ckpt_to_load_from, tensor_name_in_ckpt: a checkpoint and the name in it of what the table begins with; both or none.
        max_norm: the norm to which longer rows are cut when they are used; none are when None.
        trainable: whether the table is trained.

    Returns:
        One column for each that was given: a tuple, but a list for a single one, as in TensorFlow.

    Raises:
        TypeError: something is no column of ids.
        ValueError: there is none, or they do not fit together.
    """
    if not isinstance(sparse_id_columns, Sequence) or isinstance(sparse_id_columns, str):
        raise TypeError(
            f"sparse_id_columns must be a non-string sequence (ex: list or tuple) instead of type {type(sparse_id_columns)}."
        )
    if len(sparse_id_columns) < 1:
        raise ValueError("The input sparse_id_columns should have at least one element.")
    for ids in sparse_id_columns:
        if not isinstance(ids, SparseColumn | WeightedSparseColumn):
            raise TypeError(f"Elements of sparse_id_columns must be _SparseColumn or _WeightedSparseColumn, but {ids} is not.")
    first, *others = sparse_id_columns
    rest = (initializer, ckpt_to_load_from, tensor_name_in_ckpt)
    if not others:
        return [_embedding(first, dimension, combiner, *rest, shared_embedding_name, None, max_norm, trainable)]
    if not all(_alike(first, other) for other in others):
        raise ValueError("The input sparse id columns are not compatible.")
    shared = shared_embedding_name or _shared_name(sparse_id_columns)
    return tuple(
        _embedding(ids, dimension, combiner, *rest, shared, first.length, max_norm, trainable) for ids in sparse_id_columns
    )


def _alike(first: SparseColumn | WeightedSparseColumn, other: SparseColumn | WeightedSparseColumn) -> bool:
    if isinstance(first, WeightedSparseColumn):
        return first.is_compatible(other)
    return other.is_compatible(first)


def _shared_name(columns: Sequence[SparseColumn | WeightedSparseColumn]) -> str:
    plain = sorted(column for column in columns if isinstance(column, SparseColumn))
    weighted = sorted(column.name for column in columns if isinstance(column, WeightedSparseColumn))
    names = [*(column.name for column in plain), *weighted]
    more = f"_plus_{len(names) - 3}_others" if len(names) > 3 else ""
    return "_".join(names[:3]) + more + "_shared_embedding"


class _ScatteredFields(NamedTuple):
    column_name: str
    size: int
    dimension: int
    hash_key: int | None
    combiner: str
    initializer: Initializer


@printed_as("_ScatteredEmbeddingColumn")
class ScatteredEmbeddingColumn(LayerColumn, DenseColumn, _ScatteredFields):
    """Strings as rows whose elements are scattered over one vector; see `scattered_embedding_column`."""

    @property
    def name(self) -> str:
        """The feature's name, marked."""
        return f"{self.column_name}_scattered_embedding"

    @property
    def key(self) -> str:
        """The fields without the function."""
        return without(self, self._fields, "initializer")

    @property
    def parse_example_spec(self) -> ParseSpec:
        """A string feature of any length."""
        return {self.column_name: VarLenFeature(dtypes.string)}

    @property
    def parents(self) -> list[FeatureColumn | str]:
        """The feature."""
        return [self.column_name]

    @property
    def variable_shape(self) -> TensorShape:
        """One row."""
        return TensorShape([self.dimension])

    def create_state(self, state_manager: StateManager) -> None:
        """Make the vector."""
        state_manager.create_variable(self, "weights", (self.size,), dtypes.float32, initializer=self.initializer)

    def transform_feature(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> SparseTensor:
        """The feature."""
        return sparse(transformation_cache.get(self.column_name, state_manager))

    def get_dense_tensor(self, transformation_cache: TransformedFeatures, state_manager: StateManager) -> Tensor:
        """The rows of each example's strings, combined."""
        texts = sparse(transformation_cache.get(self, state_manager))
        vector = state_manager.get_variable(self, "weights")
        return scattered_embedding_lookup_sparse(vector, texts, self.dimension, self.combiner, self.hash_key)


def scattered_embedding_column(
    column_name: str, size: int, dimension: int, hash_key: int | None, combiner: str = "mean",
    initializer: Initializer | None = None,
) -> ScatteredEmbeddingColumn:  # fmt: skip
    """A dense column of rows whose elements are found by hash in a vector of `size` numbers, which all strings share.

    Args:
        column_name: the feature's name.
        size: the length of the vector.
        dimension: the length of a row.
        hash_key: the number that the hash begins with.
        combiner: "mean", "sqrtn" or "sum".
        initializer: the vector's; truncated normal numbers of deviation 0.1 when None.

    Raises:
        ValueError: a size is not positive, or the combiner is none of the three.
    """
    if dimension < 1 or size < 1:
        raise ValueError(
            f"Dimension and size must be greater than 0. dimension: {dimension}, size: {size}, column_name: {column_name}"
        )
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError(f"Combiner must be one of 'mean', 'sqrtn' or 'sum'. combiner: {combiner}, column_name: {column_name}")
    if initializer is not None and not callable(initializer):
        raise ValueError(f"initializer must be callable if specified. column_name: {column_name}")
    start = initializer or truncated_normal_initializer(mean=0.0, stddev=0.1)
    return ScatteredEmbeddingColumn(column_name, size, dimension, hash_key, combiner, start)
